//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Verifiers of the dialect's operations and of the plan's attributes: form
// only.
//
//===----------------------------------------------------------------------===//

#include "fuse/Dialect/FuseDialect.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;

namespace fuse {

LogicalResult KernelOp::verify() {
  Block &block = getBody().front();
  if (block.getArgumentTypes() != getInputs().getTypes())
    return emitOpError() << "has " << block.getNumArguments()
                         << " block arguments for " << getInputs().size()
                         << " inputs, or their types differ";
  auto yield =
      dyn_cast_or_null<YieldOp>(block.empty() ? nullptr : &block.back());
  if (!yield)
    return emitOpError() << "must end with 'fuse.yield'";
  if (yield.getValues().getTypes() != getOutputs().getTypes())
    return yield.emitOpError()
           << "yields " << yield.getValues().size() << " values for "
           << getOutputs().size() << " results, or their types differ";
  if (getKernelClass().empty())
    return emitOpError() << "has no kernel class";
  return success();
}

LogicalResult LaunchOp::verify() {
  bool onTensors = getNumResults() != 0;
  auto belongs = [&](Type type) {
    return onTensors ? !isa<BaseMemRefType>(type) : !isa<TensorType>(type);
  };
  for (Type type : getOperandTypes())
    if (!belongs(type))
      return emitOpError() << (onTensors ? "with results" : "without results")
                           << " has an operand of type " << type
                           << ", expected "
                           << (onTensors ? "tensors" : "memrefs")
                           << " and scalars";
  return success();
}

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  Operation *kernel = symbols.lookupNearestSymbolFrom(*this, getKernelAttr());
  if (!kernel)
    return emitOpError() << "launches " << getKernel()
                         << ", which does not exist";
  if (auto lowered = dyn_cast<gpu::GPUFuncOp>(kernel)) {
    if (lowered.isKernel())
      return success();
    return emitOpError() << "launches " << getKernel()
                         << ", which is not marked as a kernel";
  }
  auto function = dyn_cast<FunctionOpInterface>(kernel);
  if (!function)
    return emitOpError() << "launches " << getKernel()
                         << ", expected a function, found '"
                         << kernel->getName() << "'";
  if (!llvm::equal(function.getArgumentTypes(), getOperandTypes()) ||
      !llvm::equal(function.getResultTypes(), getResultTypes()))
    return emitOpError() << "has the types " << getOperandTypes() << " -> "
                         << getResultTypes() << ", " << getKernel() << " has "
                         << function.getArgumentTypes() << " -> "
                         << function.getResultTypes();
  return success();
}

void LaunchOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  for (OpOperand &input : getInputsMutable())
    if (isa<BaseMemRefType>(input.get().getType()))
      effects.emplace_back(MemoryEffects::Read::get(), &input);
  for (OpOperand &output : getOutputsMutable())
    if (isa<BaseMemRefType>(output.get().getType()))
      effects.emplace_back(MemoryEffects::Write::get(), &output);
}

LogicalResult TileAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               ArrayRef<int64_t> sizes, int64_t threads) {
  if (sizes.empty() || threads < 1)
    return emitError() << "a tile needs sizes and at least 1 thread, found "
                       << sizes.size() << " sizes and " << threads
                       << " threads";
  for (int64_t size : sizes)
    if (size < 0)
      return emitError() << "a tile's size is " << size
                         << ", expected at least 0";
  return success();
}

LogicalResult GroupAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                int64_t id, StringAttr kernel, bool) {
  if (id < 0)
    return emitError() << "'id' is " << id << ", expected at least 0";
  if (!kernel || kernel.getValue().empty())
    return emitError() << "'kernel' names no kernel class";
  return success();
}

// `<id = 3, kernel = "row", root>`
Attribute GroupAttr::parse(AsmParser &parser, Type) {
  int64_t id;
  std::string kernel;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseKeyword("id") || parser.parseEqual() ||
      parser.parseInteger(id) || parser.parseComma() ||
      parser.parseKeyword("kernel") || parser.parseEqual() ||
      parser.parseString(&kernel))
    return {};
  bool root = false;
  if (succeeded(parser.parseOptionalComma())) {
    if (parser.parseKeyword("root"))
      return {};
    root = true;
  }
  if (parser.parseGreater())
    return {};
  return GroupAttr::getChecked([&] { return parser.emitError(loc); },
                               parser.getContext(), id,
                               parser.getBuilder().getStringAttr(kernel), root);
}

void GroupAttr::print(AsmPrinter &printer) const {
  printer << "<id = " << getId() << ", kernel = " << getKernel();
  if (getRoot())
    printer << ", root";
  printer << '>';
}

} // namespace fuse
