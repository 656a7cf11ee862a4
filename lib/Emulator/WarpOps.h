//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The operations that the lanes of a warp do together.
//
// Each lane brings an array of 32-bit words with its operands; the lane that
// comes last does the operation for all, and the results replace the words.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_EMULATOR_WARPOPS_H
#define FUSE_EMULATOR_WARPOPS_H

#include "llvm/ADT/StringRef.h"
#include <array>
#include <cstdint>
#include <optional>

namespace fuse::emulator {

constexpr unsigned warpSize = 32;

enum WarpOp : uint32_t {
  ShuffleIdx,
  ShuffleUp,
  ShuffleDown,
  ShuffleBfly,
  VoteAll,
  VoteAny,
  VoteUni,
  VoteBallot,
  MatchAny32,
  MatchAny64,
  MatchAll32,
  MatchAll64,
  ReduxAdd,
  ReduxMin,
  ReduxMax,
  ReduxUmin,
  ReduxUmax,
  ReduxAnd,
  ReduxOr,
  ReduxXor,
  Elect,
  WarpBarrier,
  ActiveMask,
  LoadMatrix, ///< + 2 * log2(matrices) + transposed
  Mma = LoadMatrix + 6,
};

/// Operands of the lanes; null for a lane that is not in the mask.
using Lanes = std::array<uint32_t *, warpSize>;

/// The operation behind an intrinsic's name (without `llvm.nvvm.`).
std::optional<uint32_t> warpOpOf(llvm::StringRef name);
/// How diagnostics call an operation.
std::string nameOf(uint32_t op);
/// 32-bit words that a lane's operands or results take at most.
constexpr unsigned maxWords = 16;

/// Does `op` for the lanes of `mask`.
void runWarpOp(uint32_t op, uint32_t mask, const Lanes &lanes);

// Matrix.cpp
std::optional<uint32_t> matrixOpOf(llvm::StringRef name);
std::string matrixName(uint32_t op);
void runMatrixOp(uint32_t op, const Lanes &lanes);
/// Row addresses that a `LoadMatrix` reads: those of the first lanes.
unsigned matrixRows(uint32_t op);

} // namespace fuse::emulator

#endif // FUSE_EMULATOR_WARPOPS_H
