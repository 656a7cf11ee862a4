//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// fuse-outline: kernels to functions.
//
//   y = fuse.kernel "row" (x) { ... }
//     ==>   y = call @kernel_0_row(x, tensor.empty)
//
// A result of dynamic shape gets no destination: the function makes it. With
// `launch` the caller computes its extents:
//
//   y = fuse.kernel "row" (x) { ... }
//     ==>   y = fuse.launch @kernel_0_row ins(x) outs(alloc_tensor(dim x, 0))
//
//===----------------------------------------------------------------------===//

#include "GpuMerge.h"
#include "KernelExtents.h"
#include "fuse/Analysis/Footprint.h"
#include "fuse/Analysis/Operators.h"
#include "fuse/Lowering/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/xxhash.h"

namespace fuse {
#define GEN_PASS_DEF_OUTLINEKERNELS
#include "fuse/Lowering/Passes.h.inc"
} // namespace fuse

using namespace mlir;

/// Makes an input of each constant that holds data.
static void hoistData(fuse::KernelOp kernel) {
  SmallVector<Operation *> constants;
  kernel->walk([&](Operation *op) {
    if (op->hasTrait<OpTrait::ConstantLike>() && fuse::holdsData(op))
      constants.push_back(op);
  });
  OpBuilder builder(kernel);
  for (Operation *constant : constants) {
    Value value = builder.clone(*constant)->getResult(0);
    kernel.getInputsMutable().append(value);
    Value input = kernel.getBody().front().addArgument(value.getType(),
                                                       constant->getLoc());
    constant->replaceAllUsesWith(ValueRange{input});
    constant->erase();
  }
}

/// Attributes about cost and origin do not make kernels differ.
static void dropAnnotations(Operation *kernel) {
  kernel->walk([](Operation *op) {
    for (StringRef name :
         {fuse::names::kCost, fuse::names::kFolded, fuse::names::kId,
          fuse::names::kDep, fuse::names::kBoundary, fuse::names::kGroup,
          fuse::names::kTile, fuse::names::kRecompute})
      op->removeDiscardableAttr(name);
  });
}

/// The kernel as text: equal for kernels that compute the same.
static std::string textOf(fuse::KernelOp kernel) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << kernel.getKernelClass();
  for (Type type : kernel.getInputs().getTypes())
    stream << ',' << type;
  OpPrintingFlags flags;
  flags.useLocalScope().printGenericOpForm().elideLargeElementsAttrs(1 << 20);
  for (Operation &op : kernel.getBody().front()) {
    op.print(stream, flags);
    stream << '\n';
  }
  return text;
}

/// Bytes of the tensors that go in and come out; none where dynamic.
static std::optional<int64_t> trafficOf(fuse::KernelOp kernel) {
  int64_t bytes = 0;
  for (Type type : llvm::concat<const Type>(kernel->getOperandTypes(),
                                            kernel->getResultTypes())) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor)
      continue;
    std::optional<int64_t> element =
        fuse::elementBytes(tensor.getElementType());
    if (!tensor.hasStaticShape() || !element)
      return std::nullopt;
    bytes += tensor.getNumElements() * *element;
  }
  return bytes;
}

/// FLOPs of the operators; none where dynamic.
static std::optional<int64_t> flopsOf(fuse::KernelOp kernel) {
  fuse::Count flops;
  fuse::ExtentNamer namer;
  kernel->walk([&](linalg::LinalgOp op) {
    flops += fuse::footprintOf(op, namer).flops;
  });
  return flops.value();
}

static void attachCounts(Operation *function, fuse::KernelOp kernel) {
  Builder builder(function->getContext());
  if (std::optional<int64_t> flops = flopsOf(kernel))
    function->setAttr(fuse::kKernelFlopsAttr,
                      builder.getI64IntegerAttr(*flops));
  if (std::optional<int64_t> bytes = trafficOf(kernel))
    function->setAttr(fuse::kKernelBytesAttr,
                      builder.getI64IntegerAttr(*bytes));
}

namespace {
struct OutlineKernelsPass : fuse::impl::OutlineKernelsBase<OutlineKernelsPass> {
  using OutlineKernelsBase::OutlineKernelsBase;
  void runOnOperation() override;

private:
  bool hasDestination(Type type) const;
  func::FuncOp functionOf(fuse::KernelOp kernel);
  func::FuncOp createFunction(fuse::KernelOp kernel);
  LogicalResult replace(fuse::KernelOp kernel);
  LogicalResult checkTypes(fuse::KernelOp kernel) const;

  llvm::StringMap<func::FuncOp> known; ///< by the kernel's text
};
} // namespace

/// True if the caller makes the tensor that this result is computed into.
bool OutlineKernelsPass::hasDestination(Type type) const {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && (launch || tensor.hasStaticShape()) && !tensor.getEncoding();
}

/// A launch takes tensors, and has no result that is computed into nothing.
LogicalResult OutlineKernelsPass::checkTypes(fuse::KernelOp kernel) const {
  for (Type type : kernel.getInputs().getTypes())
    if (launch && isa<BaseMemRefType>(type))
      return kernel.emitError() << "the kernel reads or writes memory of type "
                                << type << ", expected work on tensors";
  for (auto [number, type] : llvm::enumerate(kernel.getOutputs().getTypes()))
    if (launch && !hasDestination(type))
      return kernel.emitError()
             << "result " << number << " of the kernel is " << type
             << ", expected a ranked tensor without an encoding";
  return success();
}

func::FuncOp OutlineKernelsPass::createFunction(fuse::KernelOp kernel) {
  SmallVector<Type> arguments(kernel.getInputs().getTypes());
  for (Type type : kernel.getOutputs().getTypes())
    if (hasDestination(type))
      arguments.push_back(type);
  ModuleOp module = getOperation();
  OpBuilder builder(&getContext());
  builder.setInsertionPointToEnd(module.getBody());
  std::string name =
      ("kernel_" + Twine(known.size()) + "_" + kernel.getKernelClass()).str();
  auto function = func::FuncOp::create(
      builder, kernel.getLoc(), name,
      builder.getFunctionType(arguments, kernel.getOutputs().getTypes()));
  function.setPrivate();
  function->setAttr(fuse::kKernelClassAttr, kernel.getKernelClassAttr());
  if (kernel.getTile())
    function->setAttr(fuse::names::kTile, *kernel.getTile());
  if (Attribute why = kernel->getAttr(fuse::kSplitAttr))
    function->setAttr(fuse::kSplitAttr, why);
  attachCounts(function, kernel);
  function.getBody().takeBody(kernel.getBody());
  Block &block = function.getBody().front();
  auto yield = cast<fuse::YieldOp>(block.getTerminator());
  builder.setInsertionPoint(yield);
  SmallVector<Value> results;
  for (Value value : yield.getValues()) {
    if (hasDestination(value.getType())) {
      Value into = block.addArgument(value.getType(), value.getLoc());
      value = bufferization::MaterializeInDestinationOp::create(
                  builder, kernel.getLoc(), value.getType(), value, into)
                  ->getResult(0);
    }
    results.push_back(value);
  }
  func::ReturnOp::create(builder, kernel.getLoc(), results);
  yield.erase();
  return function;
}

func::FuncOp OutlineKernelsPass::functionOf(fuse::KernelOp kernel) {
  dropAnnotations(kernel);
  std::string text = textOf(kernel);
  auto found = known.find(text);
  if (found != known.end())
    return found->second;
  func::FuncOp function = createFunction(kernel);
  function->setAttr(
      fuse::kKernelKeyAttr,
      StringAttr::get(&getContext(), llvm::utohexstr(llvm::xxh3_64bits(text),
                                                     /*LowerCase=*/true)));
  SymbolTable(getOperation()).insert(function);
  known[text] = function;
  return function;
}

LogicalResult OutlineKernelsPass::replace(fuse::KernelOp kernel) {
  // Of an operator that nothing reads.
  if (launch && kernel.getNumResults() == 0) {
    kernel.erase();
    return success();
  }
  if (failed(checkTypes(kernel)))
    return failure();
  if (launch)
    hoistData(kernel);
  FailureOr<SmallVector<SmallVector<Value>>> extents =
      SmallVector<SmallVector<Value>>(kernel.getNumResults());
  if (launch)
    extents = fuse::extentsOutside(kernel);
  if (failed(extents))
    return failure();
  OpBuilder builder(kernel);
  SmallVector<Value> destinations;
  for (auto [number, type] : llvm::enumerate(kernel.getOutputs().getTypes()))
    if (hasDestination(type))
      // Not tensor.empty, of which common ones become one buffer.
      destinations.push_back(bufferization::AllocTensorOp::create(
          builder, kernel.getLoc(), cast<RankedTensorType>(type),
          (*extents)[number]));
  SmallVector<Value> inputs(kernel.getInputs());
  func::FuncOp function = functionOf(kernel);
  Operation *call;
  if (launch)
    call = fuse::LaunchOp::create(
        builder, kernel.getLoc(), kernel->getResultTypes(),
        FlatSymbolRefAttr::get(function), inputs, destinations);
  else
    call = func::CallOp::create(
        builder, kernel.getLoc(), function,
        llvm::to_vector(llvm::concat<Value>(inputs, destinations)));
  if (auto together = kernel->getAttr(fuse::kTogetherAttr); together && launch)
    call->setAttr(fuse::kTogetherAttr, together);
  kernel->replaceAllUsesWith(call->getResults());
  kernel.erase();
  return success();
}

void OutlineKernelsPass::runOnOperation() {
  for (auto function : getOperation().getOps<func::FuncOp>())
    if (!function.isExternal() && !function->hasAttr(fuse::kKernelClassAttr))
      for (BlockArgument argument : function.getArguments())
        if (isa<TensorType>(argument.getType()))
          function.setArgAttr(argument.getArgNumber(), "bufferization.writable",
                              BoolAttr::get(&getContext(), false));
  SmallVector<fuse::KernelOp> kernels;
  getOperation()->walk(
      [&](fuse::KernelOp kernel) { kernels.push_back(kernel); });
  for (fuse::KernelOp kernel : kernels)
    if (failed(replace(kernel)))
      return signalPassFailure();
}
