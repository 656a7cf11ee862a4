//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Fibers by Boost.Context. The one file that is compiled with exceptions, which
// Boost needs to unwind a stack; here none is unwound.
//
//===----------------------------------------------------------------------===//

#include "Fiber.h"
#include <boost/context/fiber.hpp>
#include <boost/context/protected_fixedsize_stack.hpp>
#include <cstdint>
#include <memory>

using namespace fuse::emulator;
namespace context = boost::context;

struct Fiber::Impl {
  context::fiber self, caller;
  uintptr_t top = 0;
  size_t bytes = 0;
};

Fiber::Fiber(size_t stackBytes, void (*body)(void *), void *argument)
    : impl(new Impl) {
  context::protected_fixedsize_stack stacks(stackBytes);
  context::stack_context stack = stacks.allocate();
  impl->top = reinterpret_cast<uintptr_t>(stack.sp);
  impl->bytes = stack.size;
  Impl *state = impl;
  impl->self = context::fiber(
      std::allocator_arg, context::preallocated(stack.sp, stack.size, stack),
      stacks, [state, body, argument](context::fiber &&caller) {
        state->caller = std::move(caller);
        body(argument);
        return std::move(state->caller);
      });
}

void Fiber::resume() { impl->self = std::move(impl->self).resume(); }

void Fiber::yield() { impl->caller = std::move(impl->caller).resume(); }

bool Fiber::owns(const void *address) const {
  return impl->top - reinterpret_cast<uintptr_t>(address) <= impl->bytes;
}

const void *Fiber::stackEnd() const {
  return reinterpret_cast<const void *>(impl->top - impl->bytes);
}
