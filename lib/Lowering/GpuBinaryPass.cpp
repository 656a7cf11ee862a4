//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// fuse-gpu-binary: kernels to PTX, bitcode or a cubin.
//
//   gpu.module @kernels { llvm.func @k ... }   ==>   gpu.binary @kernels [...]
//
// Refuses functions that no kernel has: a call of libdevice (`__nv_expf`) would
// be found out only when the module is loaded. Looks for no CUDA toolkit but
// for format 'bin', so that PTX is the same with and without one.
//
//===----------------------------------------------------------------------===//

#include "Ptxas.h"
#include "fuse/Device/Chip.h"
#include "fuse/Lowering/Passes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Target/LLVM/ModuleToObject.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "llvm/Support/TargetSelect.h"

namespace fuse {
#define GEN_PASS_DEF_GPUBINARY
#include "fuse/Lowering/Passes.h.inc"
} // namespace fuse

using namespace mlir;

constexpr StringLiteral kTriple = "nvptx64-nvidia-cuda";
constexpr int kOptLevel = 2;

namespace {
/// Translates a module to LLVM IR, optimises it and writes PTX, or bitcode.
struct Serializer : LLVM::ModuleToObject {
  Serializer(Operation &module, StringRef chip, StringRef features, bool isPtx)
      : ModuleToObject(module, kTriple, chip, features, kOptLevel),
        isPtx(isPtx) {}

  FailureOr<SmallVector<char, 0>>
  moduleToObject(llvm::Module &translated) override {
    if (!isPtx)
      return ModuleToObject::moduleToObject(translated);
    FailureOr<llvm::TargetMachine *> machine = getOrCreateTargetMachine();
    if (failed(machine))
      return failure();
    FailureOr<SmallString<0>> text = translateModuleToISA(
        translated, **machine, [&] { return getOperation().emitError(); });
    if (failed(text))
      return failure();
    text->push_back(0); // what loads it takes a C string
    return SmallVector<char, 0>(text->begin(), text->end());
  }

private:
  bool isPtx;
};

struct GpuBinaryPass : fuse::impl::GpuBinaryBase<GpuBinaryPass> {
  using GpuBinaryBase::GpuBinaryBase;
  void getDependentDialects(DialectRegistry &registry) const override {
    GpuBinaryBase::getDependentDialects(registry);
    registerBuiltinDialectTranslation(registry);
    registerGPUDialectTranslation(registry);
    registerLLVMDialectTranslation(registry);
    registerNVVMDialectTranslation(registry);
  }
  void runOnOperation() override;

private:
  FailureOr<gpu::ObjectAttr> serialize(gpu::GPUModuleOp module);
};
} // namespace

/// Reports each call of a function that has no body and is no intrinsic.
static LogicalResult checkCalls(gpu::GPUModuleOp module) {
  bool known = true;
  module.walk([&](LLVM::CallOp call) {
    auto callee = call.getCallee();
    auto function =
        callee ? module.lookupSymbol<LLVM::LLVMFuncOp>(*callee) : nullptr;
    if (!callee ||
        (function && (!function.isExternal() || callee->starts_with("llvm."))))
      return;
    auto caller = call->getParentOfType<LLVM::LLVMFuncOp>();
    call.emitError() << "kernel '" << caller.getName() << "' calls '" << *callee
                     << "', which no GPU module has; expected arithmetic";
    known = false;
  });
  return success(known);
}

/// Shared memory without a size gets one at the launch: in PTX that is a
/// variable of elsewhere, where the conversion makes it one of the module.
static void declareDynamicShared(gpu::GPUModuleOp module) {
  for (auto global : module.getOps<LLVM::GlobalOp>()) {
    auto type = dyn_cast<LLVM::LLVMArrayType>(global.getType());
    if (type && type.getNumElements() == 0 &&
        global.getAddrSpace() == unsigned(NVVM::NVVMMemorySpace::Shared))
      global.setLinkage(LLVM::Linkage::External);
  }
}

FailureOr<gpu::ObjectAttr> GpuBinaryPass::serialize(gpu::GPUModuleOp module) {
  llvm::Expected<StringRef> features = fuse::ptxVersionOf(chip);
  if (!features)
    return module.emitError(llvm::toString(features.takeError()));
  Serializer serializer(*module, chip, *features, format != "llvm");
  std::optional<SmallVector<char, 0>> object = serializer.run();
  if (!object)
    return module.emitError("the kernels cannot be compiled for ") << chip;
  StringRef data(object->data(), object->size());
  std::string binary;
  auto kind = format == "llvm" ? gpu::CompilationTarget::Offload
                               : gpu::CompilationTarget::Assembly;
  if (format == "bin") {
    std::optional<std::string> ptxas = fuse::findPtxas();
    if (!ptxas)
      return module.emitError("ptxas is not found");
    auto assembled = fuse::runPtxas(*ptxas, data.drop_back(), chip);
    if (!assembled)
      return module.emitError(llvm::toString(assembled.takeError()));
    binary = std::move(assembled->binary);
    data = binary;
    kind = gpu::CompilationTarget::Binary;
  }
  MLIRContext *context = &getContext();
  auto target =
      NVVM::NVVMTargetAttr::get(context, kOptLevel, kTriple, chip, *features);
  return gpu::ObjectAttr::get(target, kind, StringAttr::get(context, data));
}

void GpuBinaryPass::runOnOperation() {
  LLVMInitializeNVPTXTargetInfo();
  LLVMInitializeNVPTXTarget();
  LLVMInitializeNVPTXTargetMC();
  LLVMInitializeNVPTXAsmPrinter();
  SmallVector<gpu::GPUModuleOp> modules(
      getOperation().getOps<gpu::GPUModuleOp>());
  for (gpu::GPUModuleOp module : modules) {
    if (failed(checkCalls(module)))
      return signalPassFailure();
    declareDynamicShared(module);
    FailureOr<gpu::ObjectAttr> object = serialize(module);
    if (failed(object))
      return signalPassFailure();
    OpBuilder builder(module);
    gpu::BinaryOp::create(builder, module.getLoc(), module.getName(), nullptr,
                          ArrayRef<Attribute>{*object});
    module.erase();
  }
}
