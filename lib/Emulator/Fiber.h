//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Fiber: a stack of its own that runs until it yields.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_EMULATOR_FIBER_H
#define FUSE_EMULATOR_FIBER_H

#include <cstddef>

namespace fuse::emulator {

/// Runs `body(argument)`, which must never return. Lives until the process
/// ends: unwinding a suspended one would have to pass through kernel code.
class Fiber {
public:
  Fiber(size_t stackBytes, void (*body)(void *), void *argument);
  void resume();
  void yield();
  /// Whether the address is on this fiber's stack.
  bool owns(const void *address) const;
  /// The lowest address of the stack, which grows down to it.
  const void *stackEnd() const;

private:
  struct Impl;
  Impl *impl;
};

} // namespace fuse::emulator

#endif // FUSE_EMULATOR_FIBER_H
