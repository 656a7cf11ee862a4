//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// fuse-gpu-siblings: kernels that were split off one to one again, each with
// blocks of its own.
//
//   q = launch @a ins(x, wq) {together = 0}; k = launch @b ins(x, wk) {... 0}
//     ==>   q, k = launch @a_siblings ins(x, wq, wk)
//
// Kernels that cannot share a launch stay as they are, and say why.
//
//===----------------------------------------------------------------------===//

#include "GpuMerge.h"
#include "fuse/Kernel/KernelClass.h"
#include "fuse/Lowering/Resources.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/Support/xxhash.h"

namespace fuse {
#define GEN_PASS_DEF_GPUSIBLINGS
#include "fuse/Lowering/Passes.h.inc"
} // namespace fuse

using namespace mlir;
using namespace fuse;

namespace {
/// Launches that become one, and what that takes.
struct Together {
  SmallVector<LaunchOp> launches; ///< of equal kernels next to each other
  SmallVector<gpu::GPUFuncOp> kernels;
  SmallVector<Value> inputs, outputs;
  GpuWhole whole;
  SmallVector<GpuPart> parts;

  void add(Value operand);
  void addPart(LaunchOp launch, gpu::GPUFuncOp kernel);
  std::string key() const;

private:
  struct Place {
    unsigned argument, symbol;
  };
  llvm::DenseMap<Value, Place> places;
};

struct GpuSiblingsPass : fuse::impl::GpuSiblingsBase<GpuSiblingsPass> {
  using GpuSiblingsBase::GpuSiblingsBase;
  void runOnOperation() override;

private:
  void merge(SmallVector<LaunchOp> launches);
  void replace(const Together &together, gpu::GPUFuncOp merged);
  void describe(const Together &together, gpu::GPUFuncOp merged);
  void eraseUnused(const llvm::SetVector<Operation *> &kernels);

  llvm::StringMap<gpu::GPUFuncOp> known; ///< by parts and common operands
  llvm::SetVector<Operation *> parts;
};
} // namespace

static unsigned dynamicExtents(Value operand) {
  auto tensor = dyn_cast<RankedTensorType>(operand.getType());
  return tensor ? tensor.getNumDynamicDims() : 0;
}

/// As the kernels that take it: a pointer and its dynamic extents, or a scalar.
void Together::add(Value operand) {
  if (!places
           .try_emplace(operand, Place{unsigned(whole.types.size()),
                                       unsigned(whole.symbols.size())})
           .second)
    return;
  MLIRContext *context = operand.getContext();
  Type integer = IntegerType::get(context, 64);
  if (!isa<RankedTensorType>(operand.getType())) {
    whole.types.push_back(operand.getType().isIndex() ? integer
                                                      : operand.getType());
    return;
  }
  whole.types.push_back(LLVM::LLVMPointerType::get(context));
  for (unsigned i = 0; i < dynamicExtents(operand); ++i) {
    whole.symbols.push_back(whole.types.size());
    whole.types.push_back(integer);
  }
}

void Together::addPart(LaunchOp launch, gpu::GPUFuncOp kernel) {
  GpuPart part{kernel, {}, {}};
  for (Value operand : launch.getOperands()) {
    Place place = places.lookup(operand);
    unsigned count = dynamicExtents(operand);
    for (unsigned i = 0; i <= count; ++i)
      part.arguments.push_back(place.argument + i);
    for (unsigned i = 0; i < count; ++i)
      part.symbols.push_back(place.symbol + i);
  }
  parts.push_back(std::move(part));
}

/// Equal for what one kernel does.
std::string Together::key() const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (const GpuPart &part : parts) {
    stream << gpu::GPUFuncOp(part.kernel).getName() << '(';
    llvm::interleaveComma(part.arguments, stream);
    stream << ')';
  }
  return text;
}

/// Equal kernels next to each other, in the order of the first of each.
static void gather(SmallVectorImpl<LaunchOp> &launches) {
  llvm::MapVector<SymbolRefAttr, SmallVector<LaunchOp>> byKernel;
  for (LaunchOp launch : launches)
    byKernel[launch.getKernelAttr()].push_back(launch);
  launches.clear();
  for (auto &entry : byKernel)
    launches.append(entry.second);
}

/// Why the launches cannot be one, where the last one is.
static std::string whyNotThere(ArrayRef<LaunchOp> launches, LaunchOp last) {
  for (LaunchOp launch : launches) {
    if (launch->getBlock() != last->getBlock())
      return "siblings in different blocks of the host";
    for (Operation *user : launch->getUsers()) {
      Operation *here = last->getBlock()->findAncestorOpInBlock(*user);
      if (here && !last->isBeforeInBlock(here))
        return "one sibling's result is read before another one runs";
    }
    for (Value output : launch.getOutputs())
      for (LaunchOp other : launches)
        if (llvm::is_contained(other.getInputs(), output))
          return "one sibling reads what another one overwrites";
  }
  return "";
}

void GpuSiblingsPass::describe(const Together &together,
                               gpu::GPUFuncOp merged) {
  Builder builder(&getContext());
  SmallVector<StringRef> names;
  std::string keys;
  std::optional<int64_t> flops = 0, bytes = 0;
  for (gpu::GPUFuncOp kernel : together.kernels) {
    names.push_back(kernel.getName());
    if (auto key = kernel->getAttrOfType<StringAttr>(kKernelKeyAttr))
      keys += key.str() + ",";
    auto own = kernel->getAttrOfType<IntegerAttr>(kKernelFlopsAttr);
    flops = own && flops ? std::optional(*flops + own.getInt()) : std::nullopt;
  }
  for (Value operand :
       llvm::concat<const Value>(together.inputs, together.outputs)) {
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    if (!type || !bytes)
      continue;
    std::optional<int64_t> element = elementBytes(type.getElementType());
    bytes = type.hasStaticShape() && element
                ? std::optional(*bytes + type.getNumElements() * *element)
                : std::nullopt;
  }
  merged->setAttr(kPartsAttr, builder.getStrArrayAttr(names));
  merged->setAttr(kKernelClassAttr, builder.getStringAttr(siblingsClassName()));
  merged->setAttr(kKernelKeyAttr,
                  builder.getStringAttr(llvm::utohexstr(llvm::xxh3_64bits(keys),
                                                        /*LowerCase=*/true)));
  if (flops)
    merged->setAttr(kKernelFlopsAttr, builder.getI64IntegerAttr(*flops));
  if (bytes)
    merged->setAttr(kKernelBytesAttr, builder.getI64IntegerAttr(*bytes));
}

/// One launch in place of all, where the last one is.
void GpuSiblingsPass::replace(const Together &together, gpu::GPUFuncOp merged) {
  LaunchOp last = together.launches.front();
  for (LaunchOp launch : together.launches)
    last = last->isBeforeInBlock(launch) ? launch : last;
  OpBuilder builder(last);
  auto kernel = SymbolRefAttr::get(last.getKernel().getRootReference(),
                                   {FlatSymbolRefAttr::get(merged)});
  auto launch = LaunchOp::create(builder, last.getLoc(),
                                 TypeRange(ValueRange(together.outputs)),
                                 kernel, together.inputs, together.outputs);
  unsigned next = 0;
  for (LaunchOp old : together.launches) {
    old->replaceAllUsesWith(
        launch->getResults().slice(next, old->getNumResults()));
    next += old->getNumResults();
    old.erase();
  }
}

void GpuSiblingsPass::merge(SmallVector<LaunchOp> launches) {
  LaunchOp last = launches.back();
  gather(launches);
  Together together;
  together.launches = launches;
  for (LaunchOp launch : launches) {
    together.kernels.push_back(
        SymbolTable::lookupNearestSymbolFrom<gpu::GPUFuncOp>(
            launch, launch.getKernelAttr()));
    for (Value input : launch.getInputs())
      if (!llvm::is_contained(together.inputs, input))
        together.inputs.push_back(input);
    llvm::append_range(together.outputs, launch.getOutputs());
  }
  for (Value operand : llvm::concat<Value>(together.inputs, together.outputs))
    together.add(operand);
  std::string why = whyNotThere(launches, last);
  constexpr double bytes = 8; // of an argument
  if (why.empty() && together.whole.types.size() * bytes > kMostParameters)
    why = "more parameters than a kernel takes";
  if (why.empty())
    why = whyApart(together.kernels);
  if (!why.empty()) {
    for (gpu::GPUFuncOp kernel : together.kernels)
      kernel->setAttr(kApartAttr, StringAttr::get(&getContext(), why));
    return;
  }
  for (auto [launch, kernel] : llvm::zip_equal(launches, together.kernels))
    together.addPart(launch, kernel);
  gpu::GPUFuncOp &merged = known[together.key()];
  if (!merged) {
    StringRef first = together.kernels.front().getName();
    together.whole.name =
        (first.substr(0, first.rfind('_')) + "_siblings").str();
    merged = mergeKernels(together.whole, together.parts);
    describe(together, merged);
  }
  parts.insert_range(together.kernels);
  replace(together, merged);
}

/// Kernels that nothing launches any more, with their shared memory.
void GpuSiblingsPass::eraseUnused(const llvm::SetVector<Operation *> &kernels) {
  llvm::DenseSet<StringAttr> launched;
  getOperation()->walk([&](LaunchOp launch) {
    launched.insert(launch.getKernel().getLeafReference());
  });
  for (Operation *op : kernels) {
    auto kernel = cast<gpu::GPUFuncOp>(op);
    if (launched.contains(kernel.getNameAttr()))
      continue;
    auto module = kernel->getParentOfType<gpu::GPUModuleOp>();
    kernel.erase();
    for (auto global :
         llvm::make_early_inc_range(module.getOps<LLVM::GlobalOp>()))
      if (SymbolTable::symbolKnownUseEmpty(global, module))
        global.erase();
  }
}

void GpuSiblingsPass::runOnOperation() {
  known.clear();
  parts.clear();
  llvm::MapVector<int64_t, SmallVector<LaunchOp>> groups;
  getOperation()->walk([&](LaunchOp launch) {
    auto number = launch->getAttrOfType<IntegerAttr>(kTogetherAttr);
    launch->removeAttr(kTogetherAttr);
    if (number)
      groups[number.getInt()].push_back(launch);
  });
  for (auto &entry : groups)
    if (entry.second.size() > 1)
      merge(entry.second);
  eraseUnused(parts);
}
