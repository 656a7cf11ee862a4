//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// fuse-mark-params: marks function arguments as frozen parameters.
//
//===----------------------------------------------------------------------===//

#include "fuse/Plan/Boundary.h"
#include "fuse/Plan/Passes.h"
#include "mlir/IR/BuiltinOps.h"

namespace fuse {
#define GEN_PASS_DEF_MARKPARAMS
#include "fuse/Plan/Passes.h.inc"
} // namespace fuse

using namespace mlir;

namespace {

/// Arguments first..last, both included; no last is open.
struct ArgumentRange {
  unsigned first;
  std::optional<unsigned> last;
};

struct MarkParamsPass : fuse::impl::MarkParamsBase<MarkParamsPass> {
  using MarkParamsBase::MarkParamsBase;

  static std::optional<ArgumentRange> parseRange(StringRef text) {
    auto [first, last] = text.split('-');
    ArgumentRange range;
    if (first.getAsInteger(10, range.first))
      return std::nullopt;
    if (!text.contains('-'))
      range.last = range.first;
    else if (!last.empty()) {
      unsigned end;
      if (last.getAsInteger(10, end) || end < range.first)
        return std::nullopt;
      range.last = end;
    }
    return range;
  }

  LogicalResult mark(FunctionOpInterface function,
                     ArrayRef<ArgumentRange> ranges) {
    unsigned count = function.getNumArguments();
    for (const ArgumentRange &range : ranges) {
      // `1-` of a function without parameters marks nothing.
      if (range.first > count)
        return emitError(function.getLoc())
               << "fuse-mark-params: argument " << range.first
               << " does not exist, '" << function.getName() << "' has "
               << count << " arguments";
      if (range.last && *range.last >= count)
        return emitError(function.getLoc())
               << "fuse-mark-params: argument " << *range.last
               << " does not exist, '" << function.getName() << "' has "
               << count << " arguments";
      for (unsigned i = range.first; i < (range.last ? *range.last + 1 : count);
           ++i)
        function.setArgAttr(i, fuse::names::kParam,
                            UnitAttr::get(&getContext()));
    }
    return success();
  }

  void runOnOperation() override {
    SmallVector<ArgumentRange> ranges;
    if (args.empty()) {
      emitError(getOperation().getLoc())
          << "fuse-mark-params: no arguments given, expected args= with "
             "numbers and ranges such as 3, 1- or 2-5";
      return signalPassFailure();
    }
    for (const std::string &text : args) {
      std::optional<ArgumentRange> range = parseRange(text);
      if (!range) {
        emitError(getOperation().getLoc())
            << "fuse-mark-params: cannot read '" << text
            << "', expected a number or a range such as 3, 1- or 2-5";
        return signalPassFailure();
      }
      ranges.push_back(*range);
    }
    bool found = false;
    for (FunctionOpInterface function : fuse::functionsOf(getOperation())) {
      if (functionName.empty() ? !function.isPublic()
                               : function.getName() != functionName)
        continue;
      found = true;
      if (failed(mark(function, ranges)))
        return signalPassFailure();
    }
    if (!found && !functionName.empty()) {
      emitError(getOperation().getLoc())
          << "fuse-mark-params: there is no function '" << functionName
          << "' with a body";
      signalPassFailure();
    }
  }
};

} // namespace
