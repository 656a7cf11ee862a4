//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Element types and storage.
//
//===----------------------------------------------------------------------===//

#include "fuse/Runtime/HostTensor.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include <cstdlib>
#include <cstring>

using namespace llvm;
using namespace fuse;

namespace {
struct ElementInfo {
  StringLiteral name;
  unsigned bytes;
};
} // namespace

static const ElementInfo &infoOf(ElementType type) {
  static const ElementInfo infos[] = {{"f64", 8},  {"f32", 4}, {"f16", 2},
                                      {"bf16", 2}, {"i1", 1},  {"i8", 1},
                                      {"i16", 2},  {"i32", 4}, {"i64", 8}};
  return infos[static_cast<unsigned>(type)];
}

StringRef fuse::stringifyElementType(ElementType type) {
  return infoOf(type).name;
}

unsigned fuse::bytesOf(ElementType type) { return infoOf(type).bytes; }

bool fuse::isFloat(ElementType type) { return type <= ElementType::BF16; }

Expected<ElementType> fuse::elementTypeOf(mlir::Type type) {
  if (type.isF64())
    return ElementType::F64;
  if (type.isF32())
    return ElementType::F32;
  if (type.isF16())
    return ElementType::F16;
  if (type.isBF16())
    return ElementType::BF16;
  if (type.isIndex())
    return ElementType::I64;
  if (type.isInteger(1))
    return ElementType::I1;
  if (type.isInteger(8))
    return ElementType::I8;
  if (type.isInteger(16))
    return ElementType::I16;
  if (type.isInteger(32))
    return ElementType::I32;
  if (type.isInteger(64))
    return ElementType::I64;
  std::string text;
  raw_string_ostream(text) << type;
  return createStringError("unsupported element type '" + text +
                           "', supported are f64, f32, f16, bf16, i1, i8, "
                           "i16, i32, i64, index");
}

void HostTensor::Free::operator()(void *pointer) const { std::free(pointer); }

HostTensor::HostTensor(ElementType type, ArrayRef<int64_t> shape)
    : elementType(type), extents(shape) {
  constexpr size_t alignment = 64;
  size_t size = alignTo(std::max<size_t>(bytes(), 1), alignment);
  memory.reset(std::aligned_alloc(alignment, size));
  if (!memory)
    report_bad_alloc_error("out of memory for a tensor");
  std::memset(memory.get(), 0, size);
}

int64_t HostTensor::elements() const {
  int64_t count = 1;
  for (int64_t extent : extents)
    count *= extent;
  return count;
}

template <typename T> static T load(const void *data, int64_t i) {
  T value;
  std::memcpy(&value, static_cast<const char *>(data) + i * sizeof(T),
              sizeof(T));
  return value;
}

static double widen(const fltSemantics &semantics, uint16_t bits) {
  return APFloat(semantics, APInt(16, bits)).convertToDouble();
}

double HostTensor::at(int64_t i) const {
  switch (elementType) {
  case ElementType::F64:
    return load<double>(data(), i);
  case ElementType::F32:
    return load<float>(data(), i);
  case ElementType::F16:
    return widen(APFloat::IEEEhalf(), load<uint16_t>(data(), i));
  case ElementType::BF16:
    return widen(APFloat::BFloat(), load<uint16_t>(data(), i));
  default:
    return double(integerAt(i));
  }
}

int64_t HostTensor::integerAt(int64_t i) const {
  switch (bytesOf(elementType)) {
  case 1:
    return load<int8_t>(data(), i);
  case 2:
    return load<int16_t>(data(), i);
  case 4:
    return load<int32_t>(data(), i);
  default:
    return load<int64_t>(data(), i);
  }
}

std::string HostTensor::typeString() const {
  std::string text;
  for (int64_t extent : extents)
    text += std::to_string(extent) + "x";
  return text + stringifyElementType(elementType).str();
}
