//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// fuse-cpu-functions: how kernels are called.
//
//   func @kernel(memref, memref)   ==>   plain pointers that do not overlap
//
// Only where every argument is a buffer of static shape without a layout.
//
//===----------------------------------------------------------------------===//

#include "fuse/Lowering/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace fuse {
#define GEN_PASS_DEF_CPUFUNCTIONS
#include "fuse/Lowering/Passes.h.inc"
} // namespace fuse

using namespace mlir;

static bool isPlainPointer(Type type) {
  auto memref = dyn_cast<MemRefType>(type);
  return memref && memref.hasStaticShape() && memref.getLayout().isIdentity();
}

/// True if no call passes one buffer twice.
static bool argumentsDiffer(func::CallOp call) {
  llvm::SmallDenseSet<Value> seen;
  return llvm::all_of(call.getOperands(), [&](Value value) {
    return !isa<BaseMemRefType>(value.getType()) || seen.insert(value).second;
  });
}

/// True, with an error, where a reshape cannot be lowered: of two dynamic
/// extents of one group neither follows from the source.
static bool hasUnknownReshape(ModuleOp module) {
  bool found = false;
  module->walk([&](memref::ExpandShapeOp expand) {
    for (const ReassociationIndices &group : expand.getReassociationIndices()) {
      auto dynamic = llvm::count_if(group, [&](int64_t dim) {
        return expand.getResultType().isDynamicDim(dim);
      });
      if (dynamic < 2)
        continue;
      expand.emitError() << "expands one dimension into " << dynamic
                         << " dynamic extents, expected at most one";
      found = true;
      return;
    }
  });
  return found;
}

/// True for a function without loops and branches: a list of calls.
static bool isList(func::FuncOp function) {
  return function.getBody().hasOneBlock() &&
         llvm::all_of(function.getBody().front(),
                      [](Operation &op) { return op.getNumRegions() == 0; });
}

namespace {
struct CpuFunctionsPass : fuse::impl::CpuFunctionsBase<CpuFunctionsPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (hasUnknownReshape(module))
      return signalPassFailure();
    llvm::DenseSet<StringRef> overlapping;
    module->walk([&](func::CallOp call) {
      if (!argumentsDiffer(call))
        overlapping.insert(call.getCallee());
    });
    for (auto function : module.getOps<func::FuncOp>()) {
      if (function.isExternal())
        continue;
      // Nothing reads these any more, and LLVM IR does not know them.
      for (unsigned i = 0; i < function.getNumArguments(); ++i)
        function.removeArgAttr(i, fuse::names::kParam);
      if (!function->hasAttr(fuse::kKernelClassAttr)) {
        if (function.isPublic())
          function->setAttr(LLVM::LLVMDialect::getEmitCWrapperAttrName(),
                            UnitAttr::get(&getContext()));
        // LLVM takes quadratic time for the long block of a large model, and
        // there is nothing to gain.
        if (isList(function))
          function->setAttr(
              "passthrough",
              Builder(&getContext()).getStrArrayAttr({"noinline", "optnone"}));
        continue;
      }
      function->setAttr("no_inline", UnitAttr::get(&getContext()));
      if (function.getNumResults() ||
          !llvm::all_of(function.getArgumentTypes(), isPlainPointer))
        continue;
      function->setAttr("llvm.bareptr", UnitAttr::get(&getContext()));
      if (overlapping.contains(function.getName()))
        continue;
      for (unsigned i = 0; i < function.getNumArguments(); ++i)
        function.setArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName(),
                            UnitAttr::get(&getContext()));
    }
  }
};
} // namespace
