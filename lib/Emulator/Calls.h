//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The functions that compiled kernels call.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_EMULATOR_CALLS_H
#define FUSE_EMULATOR_CALLS_H

#include "llvm/ADT/ArrayRef.h"

namespace fuse::emulator {

struct Call {
  const char *name;
  void *address;
};

/// Each takes the ThreadState first. Their types are in Calls.cpp; translated
/// code declares them from the operands it passes.
llvm::ArrayRef<Call> runtimeCalls();

/// Bits of the last operand of `fuse_barrier`.
enum BarrierFlags : uint32_t { BarrierAligned = 1, BarrierWaits = 2 };

/// What an access does, for its report.
enum class Access : uint32_t { Read, Write, Atomic };

} // namespace fuse::emulator

#endif // FUSE_EMULATOR_CALLS_H
