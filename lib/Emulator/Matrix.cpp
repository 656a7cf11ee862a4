//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// ldmatrix and mma.sync, with the fragment layouts of the PTX ISA ("Matrix
// Fragments for mma.m16n8k16 ..."): with group = lane / 4 and member = lane % 4
//
//   A (16 x K)  rows group and group + 8, columns by member
//   B (K x 8)   rows by member, column group
//   C (16 x 8)  rows group and group + 8, columns 2 * member and + 1
//
// Sums are f32 in the order of K, after the accumulator; the order on hardware
// is not documented. An f16 accumulator is rounded once, at the end.
//
//===----------------------------------------------------------------------===//

#include "HalfFloat.h"
#include "WarpOps.h"
#include "llvm/ADT/STLExtras.h"
#include <cstring>

using namespace fuse::emulator;
using llvm::StringRef;

namespace {
enum class Element { F16, BF16, TF32 };

struct MmaShape {
  const char *name;
  Element element;
  unsigned k;
  bool f16Sums = false;
};
} // namespace

static const MmaShape shapes[] = {
    {"mma.m16n8k16.row.col.f32.f32", Element::F16, 16},
    {"mma.m16n8k16.row.col.f16.f16", Element::F16, 16, true},
    {"mma.m16n8k8.row.col.f32.f32", Element::F16, 8},
    {"mma.m16n8k8.row.col.f16.f16", Element::F16, 8, true},
    {"mma.m16n8k16.row.col.bf16", Element::BF16, 16},
    {"mma.m16n8k8.row.col.bf16", Element::BF16, 8},
    {"mma.m16n8k4.row.col.tf32", Element::TF32, 4},
    {"mma.m16n8k8.row.col.tf32", Element::TF32, 8},
};

static const char *const matrixNames[] = {
    "ldmatrix.sync.aligned.m8n8.x1.b16",
    "ldmatrix.sync.aligned.m8n8.x1.trans.b16",
    "ldmatrix.sync.aligned.m8n8.x2.b16",
    "ldmatrix.sync.aligned.m8n8.x2.trans.b16",
    "ldmatrix.sync.aligned.m8n8.x4.b16",
    "ldmatrix.sync.aligned.m8n8.x4.trans.b16",
};

std::optional<uint32_t> fuse::emulator::matrixOpOf(StringRef name) {
  if (name.starts_with("ldmatrix.")) // a pointer's type may follow
    name = name.substr(0, name.rfind(".p"));
  for (auto [index, known] : llvm::enumerate(matrixNames))
    if (name == known)
      return LoadMatrix + index;
  for (auto [index, shape] : llvm::enumerate(shapes))
    if (name == shape.name)
      return Mma + index;
  return std::nullopt;
}

std::string fuse::emulator::matrixName(uint32_t op) {
  return op < Mma ? matrixNames[op - LoadMatrix] : shapes[op - Mma].name;
}

unsigned fuse::emulator::matrixRows(uint32_t op) {
  return 8u << ((op - LoadMatrix) / 2);
}

/// Element `index` of a fragment of 16-bit or 32-bit elements.
static float element(Element type, const uint32_t *words, unsigned index) {
  if (type == Element::TF32) // the hardware reads no more than these bits
    return llvm::bit_cast<float>(words[index] & 0xffffe000);
  uint32_t bits = (words[index / 2] >> (index % 2 * 16)) & 0xffff;
  return type == Element::BF16 ? llvm::bit_cast<float>(bits << 16)
                               : fromHalf(bits);
}

namespace {
struct Tiles {
  float a[16][16], b[16][8], c[16][8];
};
} // namespace

/// K index of element `pair` of step `step` (8 columns, or 4 of tf32).
static unsigned depth(Element type, unsigned member, unsigned step,
                      unsigned pair) {
  return type == Element::TF32 ? member + 4 * step
                               : 2 * member + pair + 8 * step;
}

static void gatherAB(const MmaShape &shape, const Lanes &lanes, Tiles &tiles) {
  unsigned pairs = shape.element == Element::TF32 ? 1 : 2;
  unsigned steps = shape.k / (4 * pairs);
  unsigned aWords = 2 * steps;
  for (unsigned lane = 0; lane < warpSize; ++lane) {
    unsigned group = lane / 4, member = lane % 4;
    for (unsigned step = 0; step < steps; ++step)
      for (unsigned pair = 0; pair < pairs; ++pair) {
        unsigned k = depth(shape.element, member, step, pair);
        for (unsigned half = 0; half < 2; ++half)
          tiles.a[group + 8 * half][k] = element(
              shape.element, lanes[lane], (2 * step + half) * pairs + pair);
        tiles.b[k][group] =
            element(shape.element, lanes[lane] + aWords, step * pairs + pair);
      }
  }
}

static void gatherC(const MmaShape &shape, const Lanes &lanes, Tiles &tiles) {
  unsigned pairs = shape.element == Element::TF32 ? 1 : 2;
  unsigned first = 3 * (shape.k / (4 * pairs));
  for (unsigned lane = 0; lane < warpSize; ++lane)
    for (unsigned index = 0; index < 4; ++index) {
      const uint32_t *words = lanes[lane] + first;
      tiles.c[lane / 4 + 8 * (index / 2)][lane % 4 * 2 + index % 2] =
          shape.f16Sums ? element(Element::F16, words, index)
                        : llvm::bit_cast<float>(words[index]);
    }
}

static void multiply(unsigned depth, Tiles &tiles) {
  for (unsigned row = 0; row < 16; ++row) {
    float sums[8];
    std::memcpy(sums, tiles.c[row], sizeof(sums));
    for (unsigned k = 0; k < depth; ++k)
      for (unsigned column = 0; column < 8; ++column)
        sums[column] += tiles.a[row][k] * tiles.b[k][column];
    std::memcpy(tiles.c[row], sums, sizeof(sums));
  }
}

static void scatter(const MmaShape &shape, const Lanes &lanes,
                    const Tiles &tiles) {
  for (unsigned lane = 0; lane < warpSize; ++lane)
    for (unsigned half = 0; half < 2; ++half) {
      const float *pair = &tiles.c[lane / 4 + 8 * half][lane % 4 * 2];
      if (shape.f16Sums) {
        lanes[lane][half] = toHalf(pair[0]) | toHalf(pair[1]) << 16;
        continue;
      }
      lanes[lane][2 * half] = llvm::bit_cast<uint32_t>(pair[0]);
      lanes[lane][2 * half + 1] = llvm::bit_cast<uint32_t>(pair[1]);
    }
}

/// Words: row address (two words); then one per matrix.
static void loadMatrix(uint32_t op, const Lanes &lanes) {
  unsigned matrices = matrixRows(op) / 8;
  bool isTransposed = (op - LoadMatrix) % 2;
  uint16_t values[4][8][8];
  for (unsigned row = 0; row < matrices * 8; ++row) {
    uint64_t address = lanes[row][0] | uint64_t(lanes[row][1]) << 32;
    std::memcpy(values[row / 8][row % 8], reinterpret_cast<void *>(address),
                16);
  }
  for (unsigned lane = 0; lane < warpSize; ++lane)
    for (unsigned matrix = 0; matrix < matrices; ++matrix) {
      unsigned row = lane / 4, column = lane % 4 * 2;
      auto &m = values[matrix];
      uint32_t low = isTransposed ? m[column][row] : m[row][column];
      uint32_t high = isTransposed ? m[column + 1][row] : m[row][column + 1];
      lanes[lane][matrix] = low | high << 16;
    }
}

void fuse::emulator::runMatrixOp(uint32_t op, const Lanes &lanes) {
  if (op < Mma)
    return loadMatrix(op, lanes);
  const MmaShape &shape = shapes[op - Mma];
  Tiles tiles;
  gatherAB(shape, lanes, tiles);
  gatherC(shape, lanes, tiles);
  multiply(shape.k, tiles);
  scatter(shape, lanes, tiles);
}
