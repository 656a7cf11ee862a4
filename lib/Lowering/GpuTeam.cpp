//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reductions by several threads: butterflies of a warp, partial results in
// shared memory.
//
//===----------------------------------------------------------------------===//

#include "GpuTeam.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace fuse;

constexpr int64_t kWarp = 32; // threads, on every NVIDIA GPU

GpuTeam GpuTeam::create(GpuFrame &frame, Kind kind, int64_t threads) {
  GpuTeam team;
  team.kind = kind;
  team.threads = threads;
  team.members = kind == Warp    ? kWarp
                 : kind == Block ? threads
                                 : threads / kWarp;
  team.teams = threads / team.members;
  IndexMath &math = frame.elements.math;
  LaneIndex thread{frame.threadId(), 0, 1};
  Extent warp{kWarp, nullptr};
  LaneIndex inWarp = *math.rem(thread, warp), ofWarp = *math.div(thread, warp);
  if (kind == Block) {
    team.member = thread.base;
    team.team = math.constant(0).base;
  } else {
    team.member = (kind == Warp ? inWarp : ofWarp).base;
    team.team = (kind == Warp ? ofWarp : inWarp).base;
  }
  return team;
}

Value fuse::combineValues(OpBuilder &builder, Operation *combiner, Value a,
                          Value b) {
  Operation *copy = builder.clone(*combiner);
  copy->setOperands({a, b});
  copy->getResult(0).setType(a.getType());
  return copy->getResult(0);
}

/// As 32-bit words, as many as the value has.
Value fuse::shuffle(OpBuilder &builder, Location loc, Value value,
                    int64_t distance) {
  Type type = value.getType(), word = builder.getI32Type();
  if (type.isIndex()) {
    Value wide =
        arith::IndexCastOp::create(builder, loc, builder.getI64Type(), value);
    wide = shuffle(builder, loc, wide, distance);
    return arith::IndexCastOp::create(builder, loc, type, wide);
  }
  unsigned bits = type.getIntOrFloatBitWidth();
  auto own = builder.getIntegerType(bits);
  Value raw = isa<FloatType>(type)
                  ? arith::BitcastOp::create(builder, loc, own, value)
                  : value;
  auto exchange = [&](Value one) -> Value {
    return gpu::ShuffleOp::create(builder, loc, one, distance, kWarp,
                                  gpu::ShuffleMode::XOR)
        .getShuffleResult();
  };
  if (bits < 32) {
    raw = arith::ExtUIOp::create(builder, loc, word, raw);
    raw = arith::TruncIOp::create(builder, loc, own, exchange(raw));
  } else if (bits == 32) {
    raw = exchange(raw);
  } else {
    Value half = arith::ConstantIntOp::create(builder, loc, own, 32);
    Value low = arith::TruncIOp::create(builder, loc, word, raw);
    Value high = arith::TruncIOp::create(
        builder, loc, word, arith::ShRUIOp::create(builder, loc, raw, half));
    low = arith::ExtUIOp::create(builder, loc, own, exchange(low));
    high = arith::ExtUIOp::create(builder, loc, own, exchange(high));
    high = arith::ShLIOp::create(builder, loc, high, half);
    raw = arith::OrIOp::create(builder, loc, low, high);
  }
  return isa<FloatType>(type)
             ? arith::BitcastOp::create(builder, loc, type, raw)
             : raw;
}

/// Shared memory of its own for one use, so that no thread can be too early.
static Value sharedBuffer(GpuFrame &frame, int64_t elements, Type element) {
  auto space = gpu::AddressSpaceAttr::get(frame.builder.getContext(),
                                          gpu::AddressSpace::Workgroup);
  auto type = MemRefType::get({elements}, memoryType(element),
                              MemRefLayoutAttrInterface(), space);
  return frame.kernel.addWorkgroupAttribution(type, frame.loc);
}

/// Combines what `count` threads wrote, `stride` elements apart from `first`.
static Value combineShared(GpuFrame &frame, Value buffer, LaneIndex first,
                           int64_t count, int64_t stride, Type type,
                           Operation *combiner) {
  OpBuilder &builder = frame.builder;
  IndexMath &math = frame.elements.math;
  Value result;
  for (int64_t i = 0; i < count; ++i) {
    Value place = math.add(first, math.constant(i * stride)).base;
    Value value = memref::LoadOp::create(builder, frame.loc, buffer, place);
    if (type.isIndex())
      value = arith::IndexCastOp::create(builder, frame.loc, type, value);
    else if (type.isInteger(1))
      value = arith::TruncIOp::create(builder, frame.loc, type, value);
    result = result ? combineValues(builder, combiner, result, value) : value;
  }
  return result;
}

Value GpuTeam::combine(GpuFrame &frame, Value value,
                       Operation *combiner) const {
  OpBuilder &builder = frame.builder;
  Location loc = frame.loc;
  Type type = value.getType();
  if (kind != Column)
    for (int64_t distance = kWarp / 2; distance; distance /= 2)
      value = combineValues(builder, combiner, value,
                            shuffle(builder, loc, value, distance));
  if (kind == Warp || (kind == Block && threads == kWarp))
    return value;
  IndexMath &math = frame.elements.math;
  LaneIndex thread{frame.threadId(), 0, 1};
  // All lanes of a warp write the same value to its place.
  Value buffer =
      sharedBuffer(frame, kind == Block ? threads / kWarp : threads, type);
  Value place =
      kind == Block ? math.div(thread, {kWarp, nullptr})->base : thread.base;
  Value raw = value;
  if (type.isIndex())
    raw = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), raw);
  else if (type.isInteger(1))
    raw = arith::ExtUIOp::create(builder, loc, builder.getI8Type(), raw);
  memref::StoreOp::create(builder, loc, raw, buffer, place);
  gpu::BarrierOp::create(builder, loc);
  if (kind == Block)
    return combineShared(frame, buffer, math.constant(0), threads / kWarp, 1,
                         type, combiner);
  return combineShared(frame, buffer, {team, 0, 1}, members, kWarp, type,
                       combiner);
}
