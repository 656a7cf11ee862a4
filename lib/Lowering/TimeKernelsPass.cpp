//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// fuse-time-kernels: a second form of a function, with hooks around kernels.
//
//   @main { call @kernel_0 }
//     ==>   @main.timed { hook begin 0; call @kernel_0; hook end 0 }, and @main
//
// Changes no value, and nothing in the functions themselves.
//
//===----------------------------------------------------------------------===//

#include "fuse/Lowering/Passes.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/SymbolTable.h"

namespace fuse {
#define GEN_PASS_DEF_TIMEKERNELS
#include "fuse/Lowering/Passes.h.inc"
} // namespace fuse

using namespace mlir;

constexpr StringLiteral kTimedSuffix = ".timed";

static func::FuncOp declareHook(ModuleOp module, StringRef name) {
  if (auto known = module.lookupSymbol<func::FuncOp>(name))
    return known;
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  auto hook =
      func::FuncOp::create(builder, module.getLoc(), name,
                           builder.getFunctionType(builder.getI64Type(), {}));
  hook.setPrivate();
  return hook;
}

namespace {
struct TimeKernelsPass : fuse::impl::TimeKernelsBase<TimeKernelsPass> {
  using TimeKernelsBase::TimeKernelsBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (auto function = module.lookupSymbol<func::FuncOp>(functionName);
        function && !function.isExternal())
      makeTimed(function);
    module->setAttr(fuse::kKernelCallsAttr,
                    ArrayAttr::get(&getContext(), callees));
  }

  void makeTimed(func::FuncOp function) {
    std::string name = (function.getName() + kTimedSuffix).str();
    if (getOperation().lookupSymbol(name))
      return;
    OpBuilder builder(function);
    builder.setInsertionPointAfter(function);
    auto timed = cast<func::FuncOp>(builder.clone(*function));
    timed.setName(name);
    timed->walk([&](func::CallOp call) { addHooks(call); });
  }

  void addHooks(func::CallOp call) {
    ModuleOp module = getOperation();
    auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee());
    if (!callee || callee.isExternal())
      return;
    if (!callee->hasAttr(fuse::kKernelClassAttr)) {
      makeTimed(callee);
      call.setCallee((call.getCallee() + kTimedSuffix).str());
      return;
    }
    OpBuilder builder(call);
    Value number = arith::ConstantIntOp::create(builder, call.getLoc(),
                                                int64_t(callees.size()), 64);
    func::CallOp::create(builder, call.getLoc(),
                         declareHook(module, "fuse_kernel_begin"), number);
    builder.setInsertionPointAfter(call);
    func::CallOp::create(builder, call.getLoc(),
                         declareHook(module, "fuse_kernel_end"), number);
    callees.push_back(FlatSymbolRefAttr::get(callee.getNameAttr()));
  }

  SmallVector<Attribute> callees; ///< by number
};
} // namespace
