//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The textbook gates. docs/Formulas.md says where the cost policy departs from
// them and why.
//
//===----------------------------------------------------------------------===//

#include "fuse/Plan/StrictPolicy.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cmath>

using namespace fuse;

std::optional<Decision> fuse::strictProfileGate(double ia, double ib,
                                                const StrictLimits &limits) {
  double mismatch = std::fabs(ia - ib) / std::max({ia, ib, 1.0});
  if (mismatch <= limits.tolerance)
    return std::nullopt;
  return Decision::keep(
             Reason::IntensityMismatch,
             "tolerance=" + formatNumber(std::ceil(mismatch * 100) / 100) +
                 ", or policy=cost")
      .number("producer_intensity", ia)
      .number("consumer_intensity", ib)
      .number("mismatch", mismatch)
      .number("tolerance", limits.tolerance);
}

std::optional<Decision> fuse::strictResourceGate(double bytesA, double bytesB,
                                                 double ia, double ib,
                                                 double registers,
                                                 const StrictLimits &limits) {
  if (bytesA + bytesB > limits.deviceMemory)
    return Decision::keep(Reason::Memory, "device-mem of at least " +
                                              formatNumber(bytesA + bytesB))
        .number("bytes", bytesA + bytesB)
        .number("device_memory", limits.deviceMemory);
  double highest = std::max(ia, ib), half = limits.ridge() * 0.5;
  if (highest < half)
    return Decision::keep(
               Reason::MemoryBound,
               "policy=cost: memory-bound pairs gain most from fusion")
        .number("intensity", highest)
        .number("half_ridge", half);
  if (registers > limits.registerLimit)
    return Decision::keep(Reason::Registers, "register-limit of at least " +
                                                 formatNumber(registers))
        .number("registers", registers)
        .number("limit", limits.registerLimit);
  return std::nullopt;
}

/// True if the two lists name common data.
static bool overlap(const std::vector<std::string> &a,
                    const std::vector<std::string> &b) {
  return llvm::any_of(
      a, [&](const std::string &name) { return llvm::is_contained(b, name); });
}

Decision fuse::decide(const OperatorDescription &a,
                      const OperatorDescription &b,
                      const StrictLimits &limits) {
  if (a.sideEffect || b.sideEffect)
    return Decision::keep(Reason::SideEffect,
                          "an operator without side effects");
  if (overlap(a.reads, b.writes) || overlap(a.writes, b.writes))
    return Decision::keep(Reason::AntiOutput,
                          "another destination for the second operator");
  if (a.consumers > 1)
    return Decision::conditional(Reason::MultiConsumer,
                                 "all consumers join the kernel", "one reader")
        .number("consumers", a.consumers);
  if (auto refusal = strictProfileGate(a.intensity(), b.intensity(), limits))
    return *refusal;
  if (auto refusal =
          strictResourceGate(a.bytes, b.bytes, a.intensity(), b.intensity(),
                             a.registers + b.registers, limits))
    return *refusal;
  return Decision()
      .number("registers", a.registers + b.registers)
      .number("limit", limits.registerLimit);
}
