//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 16-bit floating point numbers as bits, and the functions that LLVM calls for
// them where the host has no instructions.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_EMULATOR_HALFFLOAT_H
#define FUSE_EMULATOR_HALFFLOAT_H

#include "Calls.h"
#include "llvm/ADT/bit.h"
#include <cstdint>

namespace fuse::emulator {

/// f16 bits to f32. Exact: the exponent is moved by a multiplication, which
/// also makes subnormal numbers right.
inline float fromHalf(uint32_t bits) {
  uint32_t sign = (bits & 0x8000) << 16, rest = (bits & 0x7fff) << 13;
  float scaled = llvm::bit_cast<float>(rest) * 0x1p112f;
  uint32_t special = rest >= 0x0f800000 ? 0x7f800000 : 0;
  return llvm::bit_cast<float>(llvm::bit_cast<uint32_t>(scaled) | special |
                               sign);
}

/// f32 to f16 bits, to nearest, ties to even.
inline uint32_t toHalf(float value) {
  uint32_t bits = llvm::bit_cast<uint32_t>(value);
  uint32_t sign = (bits >> 16) & 0x8000;
  bits &= 0x7fffffff;
  if (bits > 0x7f800000)
    return sign | 0x7fff;
  if (bits >= 0x477ff000) // rounds to more than 65504
    return sign | 0x7c00;
  if (bits < 0x38800000) { // subnormal: the sum rounds at its last bit
    float sum = llvm::bit_cast<float>(bits) + 0.5f;
    return sign | (llvm::bit_cast<uint32_t>(sum) - 0x3f000000);
  }
  return sign | ((bits - 0x38000000 + 0xfff + ((bits >> 13) & 1)) >> 13);
}

/// f32 to bf16 bits, to nearest, ties to even.
inline uint32_t toBfloat(float value) {
  uint32_t bits = llvm::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffff) > 0x7f800000)
    return bits >> 16 | 0x40;
  return (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
}

/// `__truncsfhf2` and its like, which the C library may lack.
llvm::ArrayRef<Call> halfFloatCalls();

} // namespace fuse::emulator

#endif // FUSE_EMULATOR_HALFFLOAT_H
