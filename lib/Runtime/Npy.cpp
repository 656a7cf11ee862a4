//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// .npy files, after "NEP 1: A Simple File Format for NumPy Arrays".
//
//===----------------------------------------------------------------------===//

#include "fuse/Runtime/HostTensor.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <cstring>

using namespace llvm;
using namespace fuse;

constexpr StringLiteral kMagic("\x93NUMPY");

static StringRef descrOf(ElementType type) {
  static constexpr StringLiteral names[] = {"<f8", "<f4", "<f2", "<u2", "|b1",
                                            "|i1", "<i2", "<i4", "<i8"};
  return names[static_cast<unsigned>(type)];
}

static std::optional<ElementType> typeOf(StringRef descr) {
  for (unsigned i = 0; i <= unsigned(ElementType::I64); ++i)
    if (descr == descrOf(ElementType(i)))
      return ElementType(i);
  return StringSwitch<std::optional<ElementType>>(descr)
      .Case("|u1", ElementType::I8)
      .Case("<u4", ElementType::I32)
      .Case("<u8", ElementType::I64)
      .Default(std::nullopt);
}

/// The text behind `'key':` in the header's dictionary.
static StringRef valueOf(StringRef header, StringRef key) {
  std::string quoted = ("'" + key + "':").str();
  size_t at = header.find(quoted);
  return at == StringRef::npos ? StringRef()
                               : header.substr(at + quoted.size()).ltrim();
}

static Expected<SmallVector<int64_t>> shapeOf(StringRef header) {
  StringRef text = valueOf(header, "shape");
  if (!text.consume_front("("))
    return createStringError("its header has no shape");
  SmallVector<int64_t> shape;
  SmallVector<StringRef> parts;
  text.take_until([](char c) { return c == ')'; }).split(parts, ',', -1, false);
  for (StringRef part : parts) {
    int64_t extent;
    if (part.trim().empty())
      continue;
    if (part.trim().getAsInteger(10, extent) || extent < 0)
      return createStringError("its header has the extent '" + part.trim() +
                               "'");
    shape.push_back(extent);
  }
  return shape;
}

/// Reads the file's content; errors do not name the file.
static Expected<HostTensor> parse(StringRef content) {
  if (!content.consume_front(kMagic) || content.size() < 6)
    return createStringError("not a .npy file");
  bool isLong = content[0] >= 2;
  size_t length = isLong ? support::endian::read32le(content.data() + 2)
                         : support::endian::read16le(content.data() + 2);
  content = content.drop_front(isLong ? 6 : 4);
  if (content.size() < length)
    return createStringError("its header is cut off");
  StringRef header = content.take_front(length);
  StringRef data = content.drop_front(length);
  StringRef descr = valueOf(header, "descr");
  descr = descr.drop_front().take_until([](char c) { return c == '\''; });
  std::optional<ElementType> type = typeOf(descr);
  if (!type)
    return createStringError("unsupported dtype '" + descr +
                             "', supported are <f8, <f4, <f2, <u2 (bf16), "
                             "|b1, |i1, <i2, <i4, <i8");
  if (!valueOf(header, "fortran_order").starts_with("False"))
    return createStringError("in Fortran order, expected C order");
  Expected<SmallVector<int64_t>> shape = shapeOf(header);
  if (!shape)
    return shape.takeError();
  // Compare with the file before anything of that size is allocated.
  uint64_t wanted = bytesOf(*type);
  for (int64_t extent : *shape)
    wanted = SaturatingMultiply<uint64_t>(wanted, uint64_t(extent));
  if (data.size() < wanted)
    return createStringError("has " + Twine(data.size()) +
                             " bytes of data, expected " + Twine(wanted));
  HostTensor tensor(*type, *shape);
  std::memcpy(tensor.data(), data.data(), tensor.bytes());
  return std::move(tensor);
}

Expected<HostTensor> fuse::readNpy(StringRef path) {
  auto buffer = MemoryBuffer::getFile(path, /*IsText=*/false,
                                      /*RequiresNullTerminator=*/false);
  if (!buffer)
    return createStringError("cannot read " + path + ": " +
                             buffer.getError().message());
  Expected<HostTensor> tensor = parse((*buffer)->getBuffer());
  if (!tensor)
    return createStringError(path + ": " + toString(tensor.takeError()));
  return tensor;
}

Error fuse::writeNpy(StringRef path, const HostTensor &tensor) {
  std::string dict = "{'descr': '" + descrOf(tensor.type()).str() +
                     "', 'fortran_order': False, 'shape': (";
  for (int64_t extent : tensor.shape())
    dict += std::to_string(extent) + ",";
  dict += "), }";
  size_t preamble = kMagic.size() + 4;
  dict.append((64 - (preamble + dict.size() + 1) % 64) % 64, ' ');
  dict += '\n';
  return writeToOutput(path, [&](raw_ostream &out) -> Error {
    out << kMagic << '\1' << '\0' << char(dict.size() & 0xff)
        << char(dict.size() >> 8) << dict;
    out.write(static_cast<const char *>(tensor.data()), tensor.bytes());
    return Error::success();
  });
}
