//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The functions that LLVM calls for f16 and bf16 where the host has no
// instructions for them. Their argument or result is in a vector register.
//
//===----------------------------------------------------------------------===//

#include "HalfFloat.h"

using namespace fuse::emulator;

static float extendHalf(_Float16 value) {
  return fromHalf(llvm::bit_cast<uint16_t>(value));
}

static _Float16 truncateToHalf(float value) {
  return llvm::bit_cast<_Float16>(uint16_t(toHalf(value)));
}

static __bf16 truncateToBfloat(float value) {
  return llvm::bit_cast<__bf16>(uint16_t(toBfloat(value)));
}

/// f64 to f32 so that a second rounding gives what one would have: towards
/// zero, with the last bit set if anything was lost.
static float roundToOdd(double value) {
  float nearest = float(value);
  if (double(nearest) == value || value != value)
    return nearest;
  uint32_t bits = llvm::bit_cast<uint32_t>(nearest);
  double magnitude = value < 0 ? -value : value;
  double rounded = nearest < 0 ? -double(nearest) : double(nearest);
  if (rounded > magnitude)
    --bits;
  return llvm::bit_cast<float>(bits | 1);
}

static _Float16 truncateDoubleToHalf(double value) {
  return truncateToHalf(roundToOdd(value));
}

static __bf16 truncateDoubleToBfloat(double value) {
  return truncateToBfloat(roundToOdd(value));
}

llvm::ArrayRef<Call> fuse::emulator::halfFloatCalls() {
  static const Call calls[] = {
      {"__extendhfsf2", reinterpret_cast<void *>(extendHalf)},
      {"__truncsfhf2", reinterpret_cast<void *>(truncateToHalf)},
      {"__truncdfhf2", reinterpret_cast<void *>(truncateDoubleToHalf)},
      {"__truncsfbf2", reinterpret_cast<void *>(truncateToBfloat)},
      {"__truncdfbf2", reinterpret_cast<void *>(truncateDoubleToBfloat)},
  };
  return calls;
}
