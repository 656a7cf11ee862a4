//===- SeededRuntime.cpp - Seeded inputs and saved results for tests ------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A library that mlir-runner loads (--shared-libs=libfuse_test_runtime.so). It
// fills memrefs with seeded test inputs and saves memrefs as .npy files, so
// that two versions of a program can be compared on identical inputs.
//
// For each element type T in F32 F64 F16 BF16 I1 I8 I16 I32 I64 Index:
//
//   func.func private @fuseFillT(memref<*xt>, i64 {seed})
//       attributes {llvm.emit_c_interface}
//   func.func private @fuseUnitT(memref<*xt>, i64 {seed})
//       attributes {llvm.emit_c_interface}
//   func.func private @fuseSaveT(memref<*xt>, i64 {file number}, i64 {kind})
//       attributes {llvm.emit_c_interface}
//
// Fill: element number i (row-major) is a function of (seed, i, the type and
// the rank) alone, so it depends neither on the layout nor on the order of
// calls. Rank >= 2 floats are normal / sqrt(fan-in), where fan-in is the
// product of all extents but the first; rank 0 and 1 floats are uniform in
// [0.5, 1.5]; i1 is 0 or 1; i8, i16 and i32 are in [-4, 4]; i64 and index,
// which programs use as positions, are in [0, 3]. Unit (floats only) is the
// same but standard normal at any rank.
//
// Save: writes result<N>.npy (kind 0) or argument<N>.npy (kind 1) into the
// directory $FUSE_SAVE_DIR, under a temporary name first. f16 is '<f2'; bf16,
// which .npy does not know, is its bits as '<u2' (no other type maps there).
// Any failure ends the process with status 74 and a message on stderr.
//
//===----------------------------------------------------------------------===//

#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

/// The C layout of an unranked memref argument and, behind `descriptor`, of a
/// ranked one: {allocated, aligned, offset, sizes[rank], strides[rank]}.
struct UnrankedMemRef {
  int64_t rank;
  void *descriptor;
};
struct DescriptorHead {
  void *allocated;
  void *aligned;
  int64_t offset; // in elements; sizes and strides follow
};

struct Half {
  uint16_t bits;
};
struct BFloat {
  uint16_t bits;
};

struct Shape {
  std::vector<int64_t> sizes, strides;
  int64_t elements = 1; // product of the sizes
  int64_t fanIn = 1;    // product of all sizes but the first
};

[[noreturn]] void fail(const std::string &message) {
  std::fprintf(stderr, "error: %s\n", message.c_str());
  std::fflush(nullptr);
  std::_Exit(74); // EX_IOERR; no destructors: the caller is JIT-compiled code
}

template <typename T> T *open(const UnrankedMemRef &memref, Shape &shape) {
  const auto *head = static_cast<const DescriptorHead *>(memref.descriptor);
  const auto *sizes = reinterpret_cast<const int64_t *>(head + 1);
  shape.sizes.assign(sizes, sizes + memref.rank);
  shape.strides.assign(sizes + memref.rank, sizes + 2 * memref.rank);
  for (int64_t dim = 0; dim < memref.rank; ++dim) {
    shape.elements *= sizes[dim];
    if (dim > 0)
      shape.fanIn *= sizes[dim];
  }
  return static_cast<T *>(head->aligned) + head->offset;
}

/// Calls `visit(element number, T &)` for each element in row-major order.
template <typename T, typename Visit>
void forEach(T *data, const Shape &shape, Visit visit) {
  size_t rank = shape.sizes.size();
  std::vector<int64_t> index(rank, 0);
  int64_t position = 0; // of the element, in units of T
  for (int64_t number = 0; number < shape.elements; ++number) {
    visit(number, data[position]);
    for (size_t dim = rank; dim-- > 0;) {
      position += shape.strides[dim];
      if (++index[dim] < shape.sizes[dim])
        break;
      position -= shape.strides[dim] * shape.sizes[dim];
      index[dim] = 0;
    }
  }
}

//===----------------------------------------------------------------------===//
// Random numbers: a hash of (seed, counter), after splitmix64
//===----------------------------------------------------------------------===//

uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

uint64_t bitsAt(int64_t seed, int64_t counter) {
  return mix(mix(static_cast<uint64_t>(seed)) +
             static_cast<uint64_t>(counter) * 0x9e3779b97f4a7c15ull);
}

/// Uniform in the open interval (0, 1).
double uniformAt(int64_t seed, int64_t counter) {
  return (static_cast<double>(bitsAt(seed, counter) >> 11) + 0.5) * 0x1p-53;
}

/// Standard normal by Box and Muller; elements 2k and 2k+1 share two uniforms.
double normalAt(int64_t seed, int64_t counter) {
  constexpr double twoPi = 6.283185307179586;
  int64_t even = counter & ~int64_t(1);
  double radius = std::sqrt(-2.0 * std::log(uniformAt(seed, even)));
  double angle = twoPi * uniformAt(seed, even + 1);
  return radius * ((counter & 1) ? std::sin(angle) : std::cos(angle));
}

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

uint32_t floatBits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

/// Round to nearest even; `value` is finite.
BFloat toBFloat(float value) {
  uint32_t bits = floatBits(value);
  return {static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1)) >> 16)};
}

/// Round to nearest even; `value` is finite and below the largest half.
Half toHalf(float value) {
  uint32_t bits = floatBits(value);
  uint16_t sign = static_cast<uint16_t>((bits >> 16) & 0x8000u);
  float magnitude = std::fabs(value);
  if (magnitude < 0x1p-14f) // subnormal: a whole number of units of 2^-24
    return {static_cast<uint16_t>(
        sign + static_cast<uint16_t>(std::nearbyint(magnitude * 0x1p24f)))};
  uint32_t rest =
      (bits & 0x7fffffffu) - (112u << 23); // exponent bias 127 to 15
  return {static_cast<uint16_t>(sign +
                                ((rest + 0xfffu + ((rest >> 13) & 1)) >> 13))};
}

void assign(float &to, double value) { to = static_cast<float>(value); }
void assign(double &to, double value) { to = value; }
void assign(Half &to, double value) { to = toHalf(static_cast<float>(value)); }
void assign(BFloat &to, double value) {
  to = toBFloat(static_cast<float>(value));
}

enum class Scale { FanIn, Unit };

template <typename T>
void fillFloat(const UnrankedMemRef &memref, int64_t seed, Scale scaling) {
  Shape shape;
  T *data = open<T>(memref, shape);
  if (memref.rank < 2 && scaling == Scale::FanIn) {
    forEach(data, shape, [&](int64_t number, T &element) {
      assign(element, 0.5 + uniformAt(seed, number));
    });
    return;
  }
  bool divide = scaling == Scale::FanIn && shape.fanIn > 0;
  double scale = divide ? 1.0 / std::sqrt(double(shape.fanIn)) : 1.0;
  forEach(data, shape, [&](int64_t number, T &element) {
    assign(element, normalAt(seed, number) * scale);
  });
}

/// Whole numbers in [low, high].
template <typename T>
void fillInteger(const UnrankedMemRef &memref, int64_t seed, int64_t low,
                 int64_t high) {
  Shape shape;
  T *data = open<T>(memref, shape);
  uint64_t count = static_cast<uint64_t>(high - low + 1);
  forEach(data, shape, [&](int64_t number, T &element) {
    uint64_t draw = (bitsAt(seed, number) >> 32) % count;
    element = static_cast<T>(low + static_cast<int64_t>(draw));
  });
}

//===----------------------------------------------------------------------===//
// Saving
//===----------------------------------------------------------------------===//

/// The preamble of a version 1.0 .npy file, padded to a multiple of 64 bytes.
std::string npyHeader(const char *descr, const Shape &shape) {
  std::string dict = std::string("{'descr': '") + descr +
                     "', 'fortran_order': False, 'shape': (";
  for (int64_t size : shape.sizes)
    dict += std::to_string(size) + ",";
  dict += "), }";
  size_t unpadded = 10 + dict.size() + 1; // magic, version, length, newline
  dict.append((64 - unpadded % 64) % 64, ' ');
  dict += '\n';
  std::string header("\x93NUMPY\x01\x00", 8);
  header += static_cast<char>(dict.size() & 0xff);
  header += static_cast<char>(dict.size() >> 8);
  return header + dict;
}

void writeFile(const std::string &path, const std::string &header,
               const void *data, size_t bytes) {
  std::string temporary = path + ".tmp";
  std::FILE *file = std::fopen(temporary.c_str(), "wb");
  if (!file)
    fail("cannot write " + temporary + ": " + std::strerror(errno));
  bool written =
      std::fwrite(header.data(), 1, header.size(), file) == header.size() &&
      std::fwrite(data, 1, bytes, file) == bytes;
  if (std::fclose(file) != 0 || !written)
    fail("cannot write " + temporary + ": " + std::strerror(errno));
  if (std::rename(temporary.c_str(), path.c_str()) != 0)
    fail("cannot rename " + temporary + ": " + std::strerror(errno));
}

template <typename T>
void save(const UnrankedMemRef &memref, int64_t number, int64_t kind,
          const char *descr) {
  const char *directory = std::getenv("FUSE_SAVE_DIR");
  if (!directory || !*directory)
    fail("FUSE_SAVE_DIR is not set: nowhere to save results");
  Shape shape;
  T *data = open<T>(memref, shape);
  std::vector<T> packed(static_cast<size_t>(shape.elements));
  forEach(data, shape, [&](int64_t element, T &value) {
    packed[static_cast<size_t>(element)] = value;
  });
  std::string path = std::string(directory) +
                     (kind == 0 ? "/result" : "/argument") +
                     std::to_string(number) + ".npy";
  writeFile(path, npyHeader(descr, shape), packed.data(),
            packed.size() * sizeof(T));
}

} // namespace

//===----------------------------------------------------------------------===//
// C interface
//===----------------------------------------------------------------------===//

// Exported whatever the build's default visibility.
#define FUSE_EXPORT extern "C" __attribute__((visibility("default"))) void

#define FUSE_SAVE(NAME, TYPE, DESCR)                                           \
  FUSE_EXPORT _mlir_ciface_fuseSave##NAME(UnrankedMemRef *memref,              \
                                          int64_t number, int64_t kind) {      \
    save<TYPE>(*memref, number, kind, DESCR);                                  \
  }
#define FUSE_FLOAT(NAME, TYPE, DESCR)                                          \
  FUSE_EXPORT _mlir_ciface_fuseFill##NAME(UnrankedMemRef *memref,              \
                                          int64_t seed) {                      \
    fillFloat<TYPE>(*memref, seed, Scale::FanIn);                              \
  }                                                                            \
  FUSE_EXPORT _mlir_ciface_fuseUnit##NAME(UnrankedMemRef *memref,              \
                                          int64_t seed) {                      \
    fillFloat<TYPE>(*memref, seed, Scale::Unit);                               \
  }                                                                            \
  FUSE_SAVE(NAME, TYPE, DESCR)
#define FUSE_INTEGER(NAME, TYPE, DESCR, LOW, HIGH)                             \
  FUSE_EXPORT _mlir_ciface_fuseFill##NAME(UnrankedMemRef *memref,              \
                                          int64_t seed) {                      \
    fillInteger<TYPE>(*memref, seed, LOW, HIGH);                               \
  }                                                                            \
  FUSE_SAVE(NAME, TYPE, DESCR)

FUSE_FLOAT(F32, float, "<f4")
FUSE_FLOAT(F64, double, "<f8")
FUSE_FLOAT(F16, Half, "<f2")
FUSE_FLOAT(BF16, BFloat, "<u2")
FUSE_INTEGER(I1, uint8_t, "|b1", 0, 1)
FUSE_INTEGER(I8, int8_t, "|i1", -4, 4)
FUSE_INTEGER(I16, int16_t, "<i2", -4, 4)
FUSE_INTEGER(I32, int32_t, "<i4", -4, 4)
FUSE_INTEGER(I64, int64_t, "<i8", 0, 3)
FUSE_INTEGER(Index, int64_t, "<i8", 0, 3)
