//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// fuse-boundary: facts, then one verdict per edge, as attributes and remarks.
//
//===----------------------------------------------------------------------===//

#include "fuse/Plan/Boundary.h"
#include "fuse/Plan/Overrides.h"
#include "fuse/Plan/Passes.h"
#include "mlir/IR/BuiltinOps.h"

namespace fuse {
#define GEN_PASS_DEF_BOUNDARY
#include "fuse/Plan/Passes.h.inc"
} // namespace fuse

using namespace mlir;

namespace {
struct BoundaryPass : fuse::impl::BoundaryBase<BoundaryPass> {
  using BoundaryBase::BoundaryBase;

  /// The options as given, checked; the error names what was found and what is
  /// known.
  llvm::Expected<fuse::VerdictOptions> readOptions() {
    fuse::VerdictOptions options;
    auto fail = [](const Twine &message) {
      return llvm::createStringError(message);
    };
    if (policy != "cost" && policy != "strict")
      return fail("unknown policy '" + policy +
                  "', known policies are cost, strict");
    options.policy =
        policy == "strict" ? fuse::Policy::Strict : fuse::Policy::Cost;
    if (mode != "full" && mode != "fold-only" && mode != "off")
      return fail("unknown mode '" + mode +
                  "', known modes are full, fold-only, off");
    options.mode = mode == "off"         ? fuse::Mode::Off
                   : mode == "fold-only" ? fuse::Mode::FoldOnly
                                         : fuse::Mode::Full;
    llvm::Expected<fuse::Device> device =
        fuse::loadTarget(getOperation(), target);
    if (!device)
      return device.takeError();
    options.device = *device;
    if (!(boundary > 0 && boundary <= 1))
      return fail("boundary is " + fuse::formatNumber(boundary) +
                  ", expected a share in (0, 1]");
    if (!(tolerance >= 0) || !(deviceMem >= 0) || !(registerLimit >= 0))
      return fail(
          "tolerance, device-mem and register-limit must be at least 0");
    options.boundary = boundary;
    options.tolerance = tolerance;
    options.deviceMemory = deviceMem;
    options.registerLimit = registerLimit;
    for (const std::string &what : emit)
      if (what != "attrs" && what != "remarks")
        return fail("unknown emit '" + what + "', known are attrs, remarks");
    options.emitAttributes = emit.empty() || llvm::is_contained(emit, "attrs");
    options.emitRemarks = emit.empty() || llvm::is_contained(emit, "remarks");
    return options;
  }

  void runOnOperation() override {
    llvm::Expected<fuse::VerdictOptions> options = readOptions();
    if (!options) {
      emitError(getOperation().getLoc())
          << "fuse-boundary: " << llvm::toString(options.takeError());
      return signalPassFailure();
    }
    fuse::resolveLists(getOperation(), blocklist, allowlist);
    fuse::EdgeKeys keys;
    for (FunctionOpInterface function : fuse::functionsOf(getOperation())) {
      fuse::FunctionFacts facts(function);
      fuse::diagnoseInput(facts);
      std::vector<fuse::Decision> decisions =
          fuse::decideEdges(facts, *options);
      fuse::diagnoseOverrides(facts, decisions);
      if (options->emitAttributes) {
        fuse::writeFacts(facts);
        fuse::writeVerdicts(facts, decisions);
      }
      if (options->emitRemarks)
        fuse::emitEdgeRemarks(facts, decisions, "fuse-boundary", keys);
    }
    getOperation()->setDiscardableAttr(
        fuse::names::kOptions, fuse::optionsToAttr(&getContext(), *options));
  }
};
} // namespace
