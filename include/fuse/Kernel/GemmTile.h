//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shared memory of matrix products, and how much there is: what the plan counts and the code uses.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_KERNEL_GEMMTILE_H
#define FUSE_KERNEL_GEMMTILE_H

#include <cstdint>

namespace fuse {

/// Bytes of shared memory that a kernel may have without asking for more when
/// it is launched ("CUDA C++ Programming Guide", Shared Memory).
constexpr int64_t kStaticShared = 48 * 1024;

/// Tiles of each input that a tensor core kernel has in flight and in use.
constexpr int64_t kTensorCoreStages = 3;

/// Elements of a tile of `rows` by `k` of a SIMT kernel. A line of k is 16
/// bytes longer than it holds, so that neighbouring rows are in different
/// banks.
constexpr int64_t gemmTileElements(int64_t rows, int64_t k,
                                   int64_t elementBytes) {
  return rows * (k + 16 / elementBytes);
}

} // namespace fuse

#endif // FUSE_KERNEL_GEMMTILE_H
