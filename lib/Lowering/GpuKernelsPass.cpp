//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// fuse-gpu-kernels: outlined kernels to GPU functions.
//
//   func @kernel_0 on tensors   ==>   gpu.func @kernels::@kernel_0 on pointers
//
// An argument that is a tensor becomes a pointer to row-major elements and an
// i64 for each dynamic extent. Blocks are `fuse.grid` of those extents.
//
//===----------------------------------------------------------------------===//

#include "GpuAttention.h"
#include "GpuChain.h"
#include "LoopNest.h"
#include "fuse/Analysis/Operators.h"
#include "fuse/Device/Chip.h"
#include "fuse/Kernel/KernelClass.h"
#include "fuse/Lowering/Passes.h"
#include "fuse/Lowering/Resources.h"
#include "mlir/Dialect/DLTI/DLTI.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/ScopeExit.h"

namespace fuse {
#define GEN_PASS_DEF_GPUKERNELS
#include "fuse/Lowering/Passes.h.inc"
} // namespace fuse

using namespace mlir;
using namespace fuse;

AffineExpr GpuFrame::hostProduct(ArrayRef<Extent> extents) const {
  AffineExpr result = getAffineConstantExpr(1, builder.getContext());
  for (const Extent &extent : extents) {
    if (extent.isStatic()) {
      result = result * extent.size;
      continue;
    }
    AffineExpr symbol = symbols.lookup(extent.value);
    if (!symbol) {
      elements.failedOp = source;
      elements.failure = "an extent that is none of a result or an operand";
      return result;
    }
    result = result * symbol;
  }
  return result;
}

Value GpuFrame::threadId(gpu::Dimension dim) {
  return gpu::ThreadIdOp::create(builder, loc, dim);
}

Value GpuFrame::blockId(gpu::Dimension dim) {
  return gpu::BlockIdOp::create(builder, loc, dim);
}

void GpuFrame::launch(AffineExpr blocks, int64_t threads) {
  MLIRContext *context = builder.getContext();
  AffineExpr one = getAffineConstantExpr(1, context);
  kernel->setAttr(kGridAttr, AffineMapAttr::get(AffineMap::get(
                                 0, numSymbols, {blocks, one, one}, context)));
  kernel.setKnownBlockSizeAttr(
      DenseI32ArrayAttr::get(context, {int32_t(threads), 1, 1}));
}

GpuTile GpuTile::of(func::FuncOp source) {
  GpuTile tile;
  if (auto attr = source->getAttrOfType<TileAttr>(names::kTile)) {
    llvm::append_range(tile.sizes, attr.getSizes());
    tile.threads = attr.getThreads();
  }
  return tile;
}

Extent fuse::innermostOf(ArrayRef<Extent> extents) {
  for (const Extent &extent : llvm::reverse(extents))
    if (!(extent.isStatic() && extent.size == 1))
      return extent;
  return {1, nullptr};
}

unsigned fuse::lanesOf(func::FuncOp source, const Extent &innermost) {
  constexpr unsigned accessBytes = 16;
  unsigned widest = 1;
  for (Type type : source.getArgumentTypes())
    widest =
        std::max(widest, memoryBytes(getElementTypeOrSelf(type)).value_or(1));
  unsigned lanes = std::min(accessBytes / widest, 8u);
  while (lanes > 1 && (!innermost.isStatic() || innermost.size % lanes))
    lanes /= 2;
  return lanes;
}

/// Nothing if code can be made of every type in `source`.
static LogicalResult checkTypes(func::FuncOp source) {
  auto check = [](Operation *op, Type type) -> LogicalResult {
    Type element = getElementTypeOrSelf(type);
    if (memoryBytes(element))
      return success();
    return op->emitError() << "no GPU code for elements of type " << element
                           << ", expected f16, bf16, f32, f64, i1, i8, i16, "
                              "i32, i64 or index";
  };
  for (Type type : source.getArgumentTypes())
    if (failed(check(source, type)))
      return failure();
  WalkResult result = source.walk([&](Operation *op) {
    for (Type type : op->getResultTypes())
      if (failed(check(op, type)))
        return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// Nothing if the pointers and extents of `source` fit into the parameters of a
/// kernel.
static LogicalResult checkParameters(func::FuncOp source) {
  int64_t bytes = 0;
  for (Type type : source.getArgumentTypes()) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    bytes += 8 * (1 + (tensor ? tensor.getNumDynamicDims() : 0));
  }
  if (bytes <= kMostParameters)
    return success();
  return source.emitError()
         << "kernel '" << source.getName() << "' takes " << bytes
         << " bytes of parameters, expected at most "
         << int64_t(kMostParameters);
}

/// The results that are stored: reshapes of a whole do not move elements.
static Value stripReshapes(Value value) {
  while (isa_and_nonnull<tensor::ExpandShapeOp, tensor::CollapseShapeOp,
                         tensor::CastOp>(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value;
}

namespace {
/// Makes one kernel. Deleted before it is done if a schedule does not hold it.
class KernelMaker {
public:
  KernelMaker(func::FuncOp source, gpu::GPUModuleOp module,
              GpuFeatures features)
      : source(source), builder(source.getContext()),
        elements(builder, source.getLoc()), features(features) {
    builder.setInsertionPointToEnd(module.getBody());
    create();
  }

  bool pointwise() { return emitPointwise(frame(), GpuTile::of(source)); }
  bool rows(std::string &why) {
    return emitRows(frame(), GpuTile::of(source), why);
  }
  bool window(std::string &why) {
    return emitWindow(frame(), GpuTile::of(source), why);
  }
  bool transposed(std::string &) {
    return emitTransposed(frame(), GpuTile::of(source));
  }
  bool gemm(std::string &why) {
    return emitGemm(frame(), GpuTile::of(source), why);
  }
  /// Why not is no news: the next schedule holds all that this one does.
  bool tensorCoreGemm(std::string &) {
    std::string why;
    return emitTensorCoreGemm(frame(), GpuTile::of(source), why);
  }
  bool attention(std::string &why) {
    return emitAttention(frame(), GpuTile::of(source), why);
  }
  bool tensorCoreAttention(std::string &) {
    std::string why;
    return emitTensorCoreAttention(frame(), GpuTile::of(source), why);
  }
  bool chain(std::string &why) {
    return emitChain(frame(), features.shared, why);
  }
  void finish() {
    gpu::ReturnOp::create(builder, source.getLoc());
    for (NamedAttribute attr : source->getDiscardableAttrs())
      kernel->setDiscardableAttr(attr.getName(), attr.getValue());
  }

  func::FuncOp source;
  gpu::GPUFuncOp kernel;
  OpBuilder builder;
  Elements elements;

private:
  void create();
  void bind();
  void bindExtents(Value value, Value dest);
  GpuFrame &frame() { return *made; }
  GpuFeatures features;
  std::optional<GpuFrame> made;
};
using Schedule = bool (KernelMaker::*)(std::string &);
} // namespace

void KernelMaker::create() {
  SmallVector<Type> types;
  for (Type type : source.getArgumentTypes()) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor) {
      types.push_back(type.isIndex() ? Type(builder.getI64Type()) : type);
      continue;
    }
    types.push_back(LLVM::LLVMPointerType::get(source.getContext()));
    types.append(tensor.getNumDynamicDims(), builder.getI64Type());
  }
  kernel = gpu::GPUFuncOp::create(builder, source.getLoc(), source.getName(),
                                  builder.getFunctionType(types, {}));
  kernel->setAttr(gpu::GPUDialect::getKernelFuncAttrName(),
                  builder.getUnitAttr());
  builder.setInsertionPointToStart(&kernel.getBody().front());
  made.emplace(source, kernel, builder, elements, features);
  bind();
}

/// Ties the tensors of `source` to the pointers of the kernel.
void KernelMaker::bind() {
  constexpr unsigned alignment = 16; // of the widest access
  Location loc = source.getLoc();
  auto global = LLVM::LLVMPointerType::get(
      source.getContext(), unsigned(NVVM::NVVMMemorySpace::Global));
  llvm::DenseMap<Value, Value> pointers;
  unsigned next = 0;
  for (BlockArgument argument : source.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    Value own = kernel.getArgument(next++);
    if (!type) {
      if (argument.getType().isIndex())
        own = arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                         own);
      elements.bindScalar(argument, own);
      continue;
    }
    kernel.setArgAttr(next - 1, LLVM::LLVMDialect::getNoAliasAttrName(),
                      builder.getUnitAttr());
    kernel.setArgAttr(next - 1, LLVM::LLVMDialect::getAlignAttrName(),
                      builder.getI64IntegerAttr(alignment));
    SmallVector<Extent> extents;
    for (int64_t size : type.getShape()) {
      if (!ShapedType::isDynamic(size)) {
        extents.push_back({size, nullptr});
        continue;
      }
      Value value = arith::IndexCastOp::create(
          builder, loc, builder.getIndexType(), kernel.getArgument(next++));
      made->symbols.insert(
          {value, builder.getAffineSymbolExpr(made->numSymbols++)});
      extents.push_back({size, value});
    }
    pointers[argument] =
        LLVM::AddrSpaceCastOp::create(builder, loc, global, own);
    elements.bindTensor(argument, pointers[argument], extents);
  }
  source.walk([&](bufferization::MaterializeInDestinationOp end) {
    made->outputs.push_back({stripReshapes(end.getSource()),
                             pointers.lookup(end.getDest()),
                             getElementTypeOrSelf(end.getSource().getType())});
    bindExtents(made->outputs.back().value, end.getDest());
  });
}

/// What is computed for `value` is known to who launches as that of `dest`.
void KernelMaker::bindExtents(Value value, Value dest) {
  SmallVector<Extent> own = elements.extents(value),
                      known = elements.extents(dest);
  if (own.size() != known.size())
    return;
  for (auto [computed, argument] : llvm::zip_equal(own, known))
    if (!computed.isStatic() && !argument.isStatic())
      made->symbols.insert(
          {computed.value, made->symbols.lookup(argument.value)});
}

/// Named operators that have no body of their own become those that have, and
/// results that nothing reads go.
static LogicalResult simplify(func::FuncOp source) {
  IRRewriter rewriter(source.getContext());
  SmallVector<linalg::SoftmaxOp> work;
  source.walk([&](linalg::SoftmaxOp op) { work.push_back(op); });
  for (linalg::SoftmaxOp op : work) {
    rewriter.setInsertionPoint(op);
    FailureOr<SmallVector<Value>> parts = op.decomposeOperation(rewriter);
    if (failed(parts))
      return op.emitError("no GPU code for this softmax");
    rewriter.replaceOp(op, *parts);
  }
  RewritePatternSet patterns(source.getContext());
  linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
  return applyPatternsGreedily(source, std::move(patterns));
}

static SmallVector<Schedule> rowsOnly() { return {&KernelMaker::rows}; }

/// The schedules for what `source` computes, the best first.
static SmallVector<Schedule> schedulesOf(func::FuncOp source,
                                         GpuFeatures features) {
  auto kernelClass = source->getAttrOfType<StringAttr>(kKernelClassAttr);
  if (kernelClass && kernelClass.getValue() == chainClassName())
    return {&KernelMaker::chain};
  bool tensorCores = features.ampere;
  bool reduces = false, slides = false;
  unsigned products = 0;
  source.walk([&](linalg::LinalgOp op) {
    Role role = roleOf(op);
    reduces |= role == Role::Reduction;
    slides |= role == Role::Window || role == Role::Depthwise;
    products += isHeavy(role);
  });
  if (products > 1)
    return tensorCores
               ? SmallVector<Schedule>{&KernelMaker::tensorCoreAttention,
                                       &KernelMaker::attention}
               : SmallVector<Schedule>{&KernelMaker::attention};
  if (products && tensorCores)
    return {&KernelMaker::tensorCoreGemm, &KernelMaker::gemm,
            &KernelMaker::rows};
  if (products)
    return {&KernelMaker::gemm, &KernelMaker::rows};
  // A thread reads few elements of a window: a team would have nothing to do.
  if (slides)
    return {&KernelMaker::window};
  if (reduces)
    return rowsOnly();
  return {&KernelMaker::transposed};
}

/// Deletes a kernel that was not finished, with its shared memory.
static void discard(KernelMaker &maker, gpu::GPUModuleOp module) {
  maker.kernel.erase();
  for (auto global :
       llvm::make_early_inc_range(module.getOps<LLVM::GlobalOp>()))
    if (SymbolTable::symbolKnownUseEmpty(global, module))
      global.erase();
}

/// The kernel by the first schedule that holds it; else nothing, and why the
/// first one does not.
static gpu::GPUFuncOp makeScheduled(func::FuncOp source,
                                    gpu::GPUModuleOp module,
                                    GpuFeatures features, std::string &why) {
  for (Schedule schedule : schedulesOf(source, features)) {
    KernelMaker maker(source, module, features);
    std::string reason;
    if ((maker.*schedule)(reason)) {
      maker.finish();
      return maker.kernel;
    }
    discard(maker, module);
    why = why.empty() ? reason : why;
  }
  return nullptr;
}

/// Tells ptxas not to look for more blocks on an SM than one where a
/// contraction has so many registers that it fills less than half of an SM by
/// plan: it would spill a few of them to have one block more.
static void stateOccupancy(gpu::GPUFuncOp kernel, func::FuncOp source,
                           const Device &device) {
  constexpr double enough = 0.5;
  auto kernelClass = source->getAttrOfType<StringAttr>(kKernelClassAttr);
  auto size = kernel.getKnownBlockSize();
  if (kernelClass.getValue() != "contraction" || !size)
    return;
  std::optional<Prediction> predicted = predictResources(source, device);
  if (!predicted)
    return;
  double threads = size->front(),
         resident = threads * blocksPerSm(device, threads, predicted->registers,
                                          predicted->shared);
  if (resident < enough * device.maxThreadsPerSm)
    kernel->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                    Builder(kernel.getContext()).getI32IntegerAttr(1));
}

static gpu::GPUFuncOp makeKernel(func::FuncOp source, gpu::GPUModuleOp module,
                                 GpuFeatures features, const Device &device) {
  source.walk(allowReordering);
  std::string why;
  if (gpu::GPUFuncOp kernel = makeScheduled(source, module, features, why)) {
    stateOccupancy(kernel, source, device);
    return kernel;
  }
  KernelMaker maker(source, module, features);
  if (maker.pointwise() && !maker.elements.failedOp) {
    maker.finish();
    if (!why.empty())
      maker.kernel->setAttr(kPlainAttr, maker.builder.getStringAttr(why));
    return maker.kernel;
  }
  InFlightDiagnostic error = maker.elements.failedOp->emitError()
                             << "no GPU code for " << maker.elements.failure;
  maker.kernel.erase();
  return nullptr;
}

namespace {
struct GpuKernelsPass : fuse::impl::GpuKernelsBase<GpuKernelsPass> {
  using GpuKernelsBase::GpuKernelsBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    GpuKernelsBase::getDependentDialects(registry);
    registry.insert<NVVM::NVVMDialect>(); // its header is only needed here
  }

  gpu::GPUModuleOp kernelModule() {
    OpBuilder builder(&getContext());
    builder.setInsertionPointToStart(getOperation().getBody());
    auto module =
        gpu::GPUModuleOp::create(builder, getOperation().getLoc(), "kernels");
    SymbolTable(getOperation()).insert(module);
    return module;
  }

  /// 32 bits where every element's number fits: registers and integer
  /// instructions of a GPU have as many.
  void chooseIndexWidth(ArrayRef<func::FuncOp> sources,
                        gpu::GPUModuleOp module) {
    auto fits = [](Type type) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      return !tensor ||
             (tensor.hasStaticShape() &&
              tensor.getNumElements() < std::numeric_limits<int32_t>::max());
    };
    for (func::FuncOp source : sources)
      if (!llvm::all_of(source.getArgumentTypes(), fits))
        return;
    Builder builder(&getContext());
    auto entry = DataLayoutEntryAttr::get(builder.getIndexType(),
                                          builder.getI32IntegerAttr(32));
    module->setAttr(DLTIDialect::kDataLayoutAttrName,
                    DataLayoutSpecAttr::get(&getContext(), {entry}));
  }

  /// A row kernel of `source` with its f64 islands in f32, where the sums of a
  /// thread are short: they need no compensation. Nothing if there is none.
  gpu::GPUFuncOp makeRelaxed(func::FuncOp source, gpu::GPUModuleOp module) {
    if (numerics != "relaxed" || schedulesOf(source, {}) != rowsOnly())
      return nullptr;
    func::FuncOp copy = source.clone();
    getOperation().push_back(copy);
    llvm::scope_exit drop([&] { copy.erase(); });
    OpPassManager pm(func::FuncOp::getOperationName());
    CpuNumericsOptions options;
    options.numerics = numerics;
    pm.addPass(createCpuNumerics(options));
    if (failed(runPipeline(pm, copy)))
      return nullptr;
    copy.walk(allowReordering);
    std::string why;
    return makeScheduled(copy, module, {}, why);
  }

  /// What no plan has chosen: that of a contraction or window alone, or of a
  /// part. Other schedules have a default.
  void chooseTile(func::FuncOp source, const Device &device) {
    auto isTiled = [](linalg::LinalgOp op) {
      Role role = roleOf(op);
      return isHeavy(role) || role == Role::Window || role == Role::Depthwise
                 ? WalkResult::interrupt()
                 : WalkResult::advance();
    };
    if (!source.walk(isTiled).wasInterrupted() || source->hasAttr(names::kTile))
      return;
    if (std::optional<Tile> tile = bestTileOf(source, device))
      source->setAttr(names::kTile,
                      TileAttr::get(&getContext(), tile->sizes, tile->threads));
  }

  void runOnOperation() override {
    SmallVector<func::FuncOp> sources;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (function->hasAttr(kKernelClassAttr))
        sources.push_back(function);
    if (sources.empty())
      return;
    GpuFeatures features;
    features.ampere = computeCapability(chip) >= 80;
    features.tf32 = features.ampere && allowTf32;
    gpu::GPUModuleOp module = kernelModule();
    chooseIndexWidth(sources, module);
    llvm::Expected<Device> device = loadDevice(chip);
    if (!device) {
      getOperation().emitError(llvm::toString(device.takeError()));
      return signalPassFailure();
    }
    features.shared = device->sharedPerBlock;
    for (func::FuncOp source : sources) {
      chooseTile(source, *device);
      if (failed(checkTypes(source)) || failed(simplify(source)) ||
          failed(checkParameters(source)) ||
          (!makeRelaxed(source, module) &&
           !makeKernel(source, module, features, *device)))
        return signalPassFailure();
    }
    redirect(sources, module);
  }

  /// Launches name the kernel in its module from now on.
  void redirect(ArrayRef<func::FuncOp> sources, gpu::GPUModuleOp module) {
    llvm::DenseSet<StringAttr> moved;
    for (func::FuncOp source : sources)
      moved.insert(source.getSymNameAttr());
    getOperation()->walk([&](LaunchOp launch) {
      FlatSymbolRefAttr leaf =
          FlatSymbolRefAttr::get(launch.getKernel().getLeafReference());
      if (moved.contains(leaf.getAttr()))
        launch.setKernelAttr(
            SymbolRefAttr::get(module.getSymNameAttr(), {leaf}));
    });
    for (func::FuncOp source : sources)
      if (SymbolTable::symbolKnownUseEmpty(source, getOperation()))
        source.erase();
  }
};
} // namespace
