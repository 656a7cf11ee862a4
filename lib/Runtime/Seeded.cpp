//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Seeded values: a hash of (seed, element number), after splitmix64; normal
// ones by Box and Muller.
//
//===----------------------------------------------------------------------===//

#include "fuse/Runtime/HostTensor.h"
#include "llvm/ADT/APFloat.h"
#include <cmath>
#include <cstring>

using namespace llvm;
using namespace fuse;

static uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

static uint64_t bitsAt(int64_t seed, int64_t i) {
  return mix(mix(uint64_t(seed)) + uint64_t(i) * 0x9e3779b97f4a7c15ull);
}

/// Uniform in the open interval (0, 1).
static double uniformAt(int64_t seed, int64_t i) {
  return (double(bitsAt(seed, i) >> 11) + 0.5) * 0x1p-53;
}

/// Standard normal; elements 2k and 2k+1 share two uniforms.
static double normalAt(int64_t seed, int64_t i) {
  constexpr double twoPi = 6.283185307179586;
  int64_t even = i & ~int64_t(1);
  double radius = std::sqrt(-2.0 * std::log(uniformAt(seed, even)));
  double angle = twoPi * uniformAt(seed, even + 1);
  return radius * ((i & 1) ? std::sin(angle) : std::cos(angle));
}

template <typename T> static void store(void *data, int64_t i, T value) {
  std::memcpy(static_cast<char *>(data) + i * sizeof(T), &value, sizeof(T));
}

static uint16_t narrow(const fltSemantics &semantics, double value) {
  APFloat number(value);
  bool inexact;
  number.convert(semantics, APFloat::rmNearestTiesToEven, &inexact);
  return uint16_t(number.bitcastToAPInt().getZExtValue());
}

static void storeFloat(HostTensor &tensor, int64_t i, double value) {
  switch (tensor.type()) {
  case ElementType::F64:
    return store(tensor.data(), i, value);
  case ElementType::F32:
    return store(tensor.data(), i, float(value));
  case ElementType::F16:
    return store(tensor.data(), i, narrow(APFloat::IEEEhalf(), value));
  default:
    return store(tensor.data(), i, narrow(APFloat::BFloat(), value));
  }
}

static void fillFloats(HostTensor &tensor, int64_t seed) {
  int64_t fanIn = 1;
  for (int64_t extent : tensor.shape().drop_front(!tensor.shape().empty()))
    fanIn *= extent;
  bool isVector = tensor.shape().size() < 2;
  double scale = 1.0 / std::sqrt(double(std::max<int64_t>(fanIn, 1)));
  for (int64_t i = 0, count = tensor.elements(); i < count; ++i)
    storeFloat(tensor, i,
               isVector ? 0.5 + uniformAt(seed, i) : normalAt(seed, i) * scale);
}

void fuse::fillSeeded(HostTensor &tensor, int64_t seed) {
  if (isFloat(tensor.type()))
    return fillFloats(tensor, seed);
  // Programs use i64 for positions: never negative, within short dimensions.
  bool isPosition = tensor.type() == ElementType::I64;
  bool isBit = tensor.type() == ElementType::I1;
  int64_t low = isPosition || isBit ? 0 : -4;
  uint64_t count = isBit ? 2 : isPosition ? 4 : 9;
  for (int64_t i = 0, end = tensor.elements(); i < end; ++i) {
    int64_t value = low + int64_t((bitsAt(seed, i) >> 32) % count);
    switch (bytesOf(tensor.type())) {
    case 1:
      store(tensor.data(), i, int8_t(value));
      break;
    case 2:
      store(tensor.data(), i, int16_t(value));
      break;
    case 4:
      store(tensor.data(), i, int32_t(value));
      break;
    default:
      store(tensor.data(), i, value);
    }
  }
}
