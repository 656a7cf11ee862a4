//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// fuse-cpu-vectorize: structured operations on buffers to loops over vectors.
//
//   c[m, n] += a[m, k] * b[k, n]
//     ==>   for n by 64, m by 6 { acc = c; for k { acc += a * b }; c = acc }
//
// The order of each sum stays, but where the vectors lie along it. What cannot
// be vectorised stays as it is.
//
//===----------------------------------------------------------------------===//

#include "NestEmitter.h"
#include "fuse/Lowering/Passes.h"

namespace fuse {
#define GEN_PASS_DEF_CPUVECTORIZE
#include "fuse/Lowering/Passes.h.inc"
} // namespace fuse

using namespace mlir;
using namespace fuse;

namespace {
struct CpuVectorizePass : fuse::impl::CpuVectorizeBase<CpuVectorizePass> {
  using CpuVectorizeBase::CpuVectorizeBase;

  void runOnOperation() override {
    SmallVector<linalg::LinalgOp> work;
    getOperation()->walk([&](linalg::LinalgOp op) { work.push_back(op); });
    VectorUnit unit{vectorBytes, vectorRegisters};
    for (linalg::LinalgOp op : work) {
      std::optional<LoopNest> nest = LoopNest::of(op);
      if (!nest)
        continue;
      std::optional<RegisterTile> tile = RegisterTile::choose(*nest, unit);
      if (!tile)
        continue;
      OpBuilder builder(op);
      NestEmitter(builder, *nest, *tile).emit();
      op->erase();
    }
  }
};
} // namespace
