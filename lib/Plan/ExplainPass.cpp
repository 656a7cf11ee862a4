//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// fuse-explain: writes the report of a module to stderr or to a file.
//
//===----------------------------------------------------------------------===//

#include "fuse/Plan/Explain.h"
#include "fuse/Plan/Passes.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/JSON.h"

namespace fuse {
#define GEN_PASS_DEF_EXPLAIN
#include "fuse/Plan/Passes.h.inc"
} // namespace fuse

using namespace mlir;

namespace {
struct ExplainPass : fuse::impl::ExplainBase<ExplainPass> {
  using ExplainBase::ExplainBase;

  void runOnOperation() override {
    fuse::ModuleReport report =
        fuse::reportOn(getOperation(), fuse::optionsOrDefault(getOperation()));
    auto print = [&](llvm::raw_ostream &os) -> llvm::Error {
      if (json)
        os << llvm::formatv("{0:2}", fuse::toJson(report)) << '\n';
      else
        fuse::printTable(report, os);
      return llvm::Error::success();
    };
    markAllAnalysesPreserved();
    if (file.empty()) {
      llvm::cantFail(print(llvm::errs()));
      return;
    }
    // Writes to a temporary name, then renames.
    if (llvm::Error error = llvm::writeToOutput(file, print)) {
      emitError(getOperation().getLoc())
          << "fuse-explain: cannot write '" << file
          << "': " << llvm::toString(std::move(error));
      signalPassFailure();
    }
  }
};
} // namespace
