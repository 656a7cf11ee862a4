//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shuffles, votes, matches and reductions over the lanes of a warp, after the
// PTX ISA's definitions (shfl.sync, vote.sync, match.sync, redux.sync,
// elect.sync, bar.warp.sync).
//
//===----------------------------------------------------------------------===//

#include "WarpOps.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"

using namespace fuse::emulator;
using llvm::StringRef;

namespace {
struct Named {
  const char *name;
  uint32_t op;
};
} // namespace

static const Named names[] = {
    {"shfl.sync.idx", ShuffleIdx},
    {"shfl.sync.up", ShuffleUp},
    {"shfl.sync.down", ShuffleDown},
    {"shfl.sync.bfly", ShuffleBfly},
    {"vote.all.sync", VoteAll},
    {"vote.any.sync", VoteAny},
    {"vote.uni.sync", VoteUni},
    {"vote.ballot.sync", VoteBallot},
    {"match.any.sync.i32", MatchAny32},
    {"match.any.sync.i64", MatchAny64},
    {"match.all.sync.i32p", MatchAll32},
    {"match.all.sync.i64p", MatchAll64},
    {"redux.sync.add", ReduxAdd},
    {"redux.sync.min", ReduxMin},
    {"redux.sync.max", ReduxMax},
    {"redux.sync.umin", ReduxUmin},
    {"redux.sync.umax", ReduxUmax},
    {"redux.sync.and", ReduxAnd},
    {"redux.sync.or", ReduxOr},
    {"redux.sync.xor", ReduxXor},
    {"elect.sync", Elect},
    {"bar.warp.sync", WarpBarrier},
    {"activemask", ActiveMask},
};

std::optional<uint32_t> fuse::emulator::warpOpOf(StringRef name) {
  for (StringRef type : {".i32", ".f32", ".i32p", ".f32p"})
    if (name.starts_with("shfl.sync.") && name.consume_back(type))
      break;
  for (const Named &named : names)
    if (name == named.name)
      return named.op;
  return matrixOpOf(name);
}

std::string fuse::emulator::nameOf(uint32_t op) {
  for (const Named &named : names)
    if (op == named.op)
      return named.name;
  return matrixName(op);
}

/// What a shuffle gives where the source lane is not in the mask, which the
/// ISA leaves undefined: not a number, so that a sum shows it.
constexpr uint32_t undefinedValue = 0x7fffdead;

/// The source lane of `lane` and whether it is in its segment. `control` is
/// the last operand: clamp in bits 0-4, segment mask in bits 8-12.
static std::pair<uint32_t, bool>
shuffleSource(uint32_t op, uint32_t lane, uint32_t distance, uint32_t control) {
  uint32_t clamp = control & 31, segment = (control >> 8) & 31;
  uint32_t last = (lane & segment) | (clamp & ~segment);
  uint32_t first = lane & segment;
  distance &= 31;
  switch (op) {
  case ShuffleUp: {
    int32_t from = int32_t(lane) - int32_t(distance);
    bool inside = from >= int32_t(last);
    return {inside ? uint32_t(from) : lane, inside};
  }
  case ShuffleDown:
    return {lane + distance <= last ? lane + distance : lane,
            lane + distance <= last};
  case ShuffleBfly:
    return {(lane ^ distance) <= last ? lane ^ distance : lane,
            (lane ^ distance) <= last};
  default: {
    uint32_t from = first | (distance & ~segment & 31);
    return {from <= last ? from : lane, from <= last};
  }
  }
}

/// Words: value, distance, control; then value, predicate.
static void shuffle(uint32_t op, const Lanes &lanes) {
  std::array<uint32_t, warpSize> values{};
  for (unsigned lane = 0; lane < warpSize; ++lane)
    values[lane] = lanes[lane] ? lanes[lane][0] : undefinedValue;
  for (unsigned lane = 0; lane < warpSize; ++lane) {
    if (!lanes[lane])
      continue;
    auto [from, inside] =
        shuffleSource(op, lane, lanes[lane][1], lanes[lane][2]);
    lanes[lane][0] = values[from];
    lanes[lane][1] = inside;
  }
}

/// Words: predicate; then the result.
static void vote(uint32_t op, uint32_t mask, const Lanes &lanes) {
  uint32_t ballot = 0;
  for (unsigned lane = 0; lane < warpSize; ++lane)
    if (lanes[lane] && lanes[lane][0])
      ballot |= 1u << lane;
  bool all = ballot == mask, any = ballot != 0;
  uint32_t result = op == VoteAll   ? all
                    : op == VoteAny ? any
                    : op == VoteUni ? all || !any
                                    : ballot;
  for (uint32_t *words : lanes)
    if (words)
      words[0] = result;
}

/// Words: value (one or two); then the mask, and whether all are the same.
static void match(uint32_t op, uint32_t mask, const Lanes &lanes) {
  bool isWide = op == MatchAny64 || op == MatchAll64;
  std::array<uint64_t, warpSize> values{};
  for (unsigned lane = 0; lane < warpSize; ++lane)
    if (lanes[lane])
      values[lane] =
          lanes[lane][0] | (isWide ? uint64_t(lanes[lane][1]) << 32 : 0);
  for (unsigned lane = 0; lane < warpSize; ++lane) {
    if (!lanes[lane])
      continue;
    uint32_t same = 0;
    for (unsigned other = 0; other < warpSize; ++other)
      if (lanes[other] && values[other] == values[lane])
        same |= 1u << other;
    bool isAll = op == MatchAll32 || op == MatchAll64;
    lanes[lane][0] = isAll && same != mask ? 0 : same;
    lanes[lane][1] = same == mask;
  }
}

static uint32_t combine(uint32_t op, uint32_t a, uint32_t b) {
  switch (op) {
  case ReduxMin:
    return std::min(int32_t(a), int32_t(b));
  case ReduxMax:
    return std::max(int32_t(a), int32_t(b));
  case ReduxUmin:
    return std::min(a, b);
  case ReduxUmax:
    return std::max(a, b);
  case ReduxAnd:
    return a & b;
  case ReduxOr:
    return a | b;
  case ReduxXor:
    return a ^ b;
  default:
    return a + b;
  }
}

/// Words: value; then the result.
static void redux(uint32_t op, const Lanes &lanes) {
  std::optional<uint32_t> result;
  for (uint32_t *words : lanes)
    if (words)
      result = result ? combine(op, *result, words[0]) : words[0];
  for (uint32_t *words : lanes)
    if (words)
      words[0] = *result;
}

/// Words then: the lane that is elected, and whether it is this one.
static void elect(uint32_t mask, const Lanes &lanes) {
  uint32_t leader = llvm::countr_zero(mask);
  for (unsigned lane = 0; lane < warpSize; ++lane)
    if (lanes[lane]) {
      lanes[lane][0] = leader;
      lanes[lane][1] = lane == leader;
    }
}

static void giveMask(uint32_t mask, const Lanes &lanes) {
  for (uint32_t *words : lanes)
    if (words)
      words[0] = mask;
}

void fuse::emulator::runWarpOp(uint32_t op, uint32_t mask, const Lanes &lanes) {
  if (op <= ShuffleBfly)
    return shuffle(op, lanes);
  if (op <= VoteBallot)
    return vote(op, mask, lanes);
  if (op <= MatchAll64)
    return match(op, mask, lanes);
  if (op <= ReduxXor)
    return redux(op, lanes);
  if (op == Elect)
    return elect(mask, lanes);
  if (op == ActiveMask)
    return giveMask(mask, lanes);
  if (op != WarpBarrier)
    runMatrixOp(op, lanes);
}
