//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// fuse-split-kernels: siblings, and the parts of a chain, to a kernel each.
//
//   q, k = fuse.kernel "siblings" (x, wq, wk) { q = matmul; k = matmul }
//     ==>   q = fuse.kernel "contraction" (x, wq) { q = matmul }
//           k = fuse.kernel "contraction" (x, wk) { k = matmul }
//   y = fuse.kernel "chain" (x, f, w) { d = depthwise; y = conv }
//     ==>   d = fuse.kernel "window" (x, f) { d = depthwise }
//           y = fuse.kernel "contraction" (d, w) { y = conv }
//
// For a machine on which a launch is a call, and where the caches are shared by
// what runs one after the other: a chain stays whole only where the caches
// would not hold what is between its parts. Siblings have the same number in
// `fuse.together`: fuse-gpu-siblings makes one launch of them.
//
//===----------------------------------------------------------------------===//

#include "GpuChain.h"
#include "GpuMerge.h"
#include "fuse/Device/Device.h"
#include "fuse/Kernel/KernelClass.h"
#include "fuse/Kernel/Softmax.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/EquivalenceClasses.h"

namespace fuse {
#define GEN_PASS_DEF_SPLITKERNELS
#include "fuse/Lowering/Passes.h.inc"
} // namespace fuse

using namespace mlir;

namespace {
/// Operations of a kernel's body, in order.
using Slice = llvm::SetVector<Operation *>;

/// The results of one sibling, by number.
using Results = SmallVector<unsigned, 2>;
} // namespace

static Block *bodyOf(fuse::KernelOp kernel) {
  return &kernel.getBody().front();
}

static ValueRange yieldedBy(fuse::KernelOp kernel) {
  return cast<fuse::YieldOp>(bodyOf(kernel)->getTerminator()).getValues();
}

/// What `values` are computed by, up to what `known` holds.
static Slice sliceOf(fuse::KernelOp kernel, ArrayRef<Value> values,
                     const IRMapping &known = {}) {
  Block *body = bodyOf(kernel);
  SmallVector<Value> worklist(values);
  llvm::DenseSet<Operation *> found;
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (op && op->getBlock() == body && !known.contains(value) &&
        found.insert(op).second)
      llvm::append_range(worklist, fuse::usedValues(op));
  }
  Slice slice;
  for (Operation &op : *body)
    if (found.contains(&op))
      slice.insert(&op);
  return slice;
}

/// The role of an operator; nothing for glue and inits.
static std::optional<fuse::Role> roleOf(Operation *op) {
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  if (!structured || !fuse::isOperator(op))
    return std::nullopt;
  return fuse::roleOf(structured);
}

/// True for an operator with a window or a reduction.
static bool sums(Operation *op) {
  std::optional<fuse::Role> role = roleOf(op);
  return role && *role != fuse::Role::Elementwise;
}

/// What `anchor` reads that has a window or a reduction in it, with what is
/// between, up to what `known` holds.
static Slice stageOf(fuse::KernelOp kernel, Operation *anchor,
                     const IRMapping &known = {}) {
  Slice stage;
  llvm::DenseSet<Operation *> behind;
  for (Operation *op : sliceOf(
           kernel, llvm::to_vector_of<Value>(anchor->getOperands()), known)) {
    bool reads = llvm::any_of(fuse::usedValues(op), [&](Value value) {
      return behind.contains(value.getDefiningOp());
    });
    if (!reads && !sums(op))
      continue;
    behind.insert(op);
    if (roleOf(op))
      stage.insert(op);
  }
  return stage;
}

/// The class that would hold the operators of `slice`.
static StringRef classOf(fuse::KernelOp kernel, const Slice &slice,
                         const IRMapping &known) {
  SmallVector<fuse::Role> roles;
  Operation *anchor = nullptr;
  bool windows = false;
  for (Operation *op : slice) {
    std::optional<fuse::Role> role = roleOf(op);
    if (!role)
      continue;
    roles.push_back(*role);
    windows |= *role == fuse::Role::Depthwise || *role == fuse::Role::Window;
    if (fuse::isHeavy(*role))
      anchor = op;
  }
  bool softmax = llvm::count_if(roles, fuse::isHeavy) == 2 &&
                 llvm::is_contained(roles, fuse::Role::Reduction);
  if (anchor && (windows || !softmax) &&
      !stageOf(kernel, anchor, known).empty())
    return fuse::chainClassName();
  return fuse::classForRoles(roles).name();
}

/// Makes, in front of `kernel`, a kernel that computes `values` of its body
/// from its inputs and from what `known` maps to, and adds its results to
/// `known`.
static fuse::KernelOp extract(fuse::KernelOp kernel, ArrayRef<Value> values,
                              IRMapping &known) {
  OpBuilder builder(kernel);
  Slice slice = sliceOf(kernel, values, known);
  llvm::SetVector<Value> inside;
  for (Operation *op : slice)
    for (Value value : fuse::usedValues(op))
      if (value.getParentBlock() == bodyOf(kernel) &&
          (isa<BlockArgument>(value) || known.contains(value)))
        inside.insert(value);
  SmallVector<Value> inputs;
  for (Value value : inside) {
    auto argument = dyn_cast<BlockArgument>(value);
    inputs.push_back(known.lookupOrNull(value));
    if (!inputs.back())
      inputs.back() = kernel.getInputs()[argument.getArgNumber()];
  }
  auto part = fuse::KernelOp::create(
      builder, kernel.getLoc(), TypeRange(ValueRange(values)), inputs,
      builder.getStringAttr(classOf(kernel, slice, known)),
      kernel.getTileAttr());
  Block *body = builder.createBlock(&part.getBody());
  IRMapping mapping;
  for (Value value : inside)
    mapping.map(value, body->addArgument(value.getType(), value.getLoc()));
  for (Operation *op : slice)
    builder.clone(*op, mapping);
  SmallVector<Value> yielded;
  for (Value value : values)
    yielded.push_back(mapping.lookup(value));
  fuse::YieldOp::create(builder, kernel.getLoc(), yielded);
  for (auto [value, result] : llvm::zip_equal(values, part.getOutputs()))
    known.map(value, result);
  return part;
}

/// Results that share an operator belong to one sibling; what each sibling
/// evaluates for itself ties none.
static SmallVector<Results> siblingsOf(fuse::KernelOp kernel) {
  unsigned count = kernel.getOutputs().size();
  llvm::EquivalenceClasses<unsigned> classes;
  llvm::DenseMap<Operation *, unsigned> owner;
  for (unsigned result = 0; result < count; ++result) {
    classes.insert(result);
    for (Operation *op : sliceOf(kernel, {yieldedBy(kernel)[result]})) {
      if (!fuse::isOperator(op) || op->hasAttr(fuse::names::kRecompute))
        continue;
      auto [known, isNew] = owner.try_emplace(op, result);
      if (!isNew)
        classes.unionSets(known->second, result);
    }
  }
  llvm::MapVector<unsigned, Results> found;
  for (unsigned result = 0; result < count; ++result)
    found[classes.getLeaderValue(result)].push_back(result);
  SmallVector<Results> siblings;
  for (auto &entry : found)
    siblings.push_back(std::move(entry.second));
  return siblings;
}

static void splitSiblings(fuse::KernelOp kernel, int64_t number,
                          SmallVectorImpl<fuse::KernelOp> &parts) {
  for (const Results &results : siblingsOf(kernel)) {
    SmallVector<Value> values;
    for (unsigned result : results)
      values.push_back(yieldedBy(kernel)[result]);
    IRMapping none;
    fuse::KernelOp part = extract(kernel, values, none);
    part->setAttr(fuse::kTogetherAttr, Builder(part).getI64IntegerAttr(number));
    for (auto [result, value] : llvm::zip_equal(results, part.getOutputs()))
      kernel.getOutputs()[result].replaceAllUsesWith(value);
    parts.push_back(part);
  }
  kernel.erase();
}

/// Makes one kernel of `stage`, which `anchor` reads, and one of the rest of
/// `kernel`. Returns the first; nothing, and nothing done, if `stage` is empty.
static fuse::KernelOp cutBefore(fuse::KernelOp kernel, Operation *anchor) {
  SmallVector<Value> all(yieldedBy(kernel));
  Slice stage = anchor ? stageOf(kernel, anchor) : Slice();
  if (stage.empty())
    return nullptr;
  // With the glue inside of the stage; other glue goes with its reader.
  SmallVector<Value> made, held;
  for (Operation *op : stage)
    llvm::append_range(made, op->getResults());
  Slice inside = sliceOf(kernel, made);
  for (Value result : made)
    if (llvm::any_of(result.getUsers(),
                     [&](Operation *user) { return !inside.contains(user); }))
      held.push_back(result);
  IRMapping known;
  fuse::KernelOp front = extract(kernel, held, known);
  fuse::KernelOp rest = extract(kernel, all, known);
  for (fuse::KernelOp part : {front, rest}) {
    part.removeTileAttr(); // that of the whole
    if (Attribute why = kernel->getAttr(fuse::kSplitAttr))
      part->setAttr(fuse::kSplitAttr, why);
  }
  kernel->replaceAllUsesWith(rest.getOutputs());
  kernel.erase();
  return front;
}

/// Cuts in front of the last window or reduction until each has a kernel, which
/// says `why`, if anything.
static void splitChain(fuse::KernelOp kernel, StringRef why) {
  if (!why.empty())
    kernel->setAttr(fuse::kSplitAttr,
                    StringAttr::get(kernel.getContext(), why));
  while (kernel) {
    Operation *anchor = nullptr;
    for (Operation *op : sliceOf(kernel, SmallVector<Value>(yieldedBy(kernel))))
      anchor = sums(op) ? op : anchor;
    kernel = cutBefore(kernel, anchor);
  }
}

/// True if a block of a GPU can walk over the keys of `kernel`.
static bool isOnline(fuse::KernelOp kernel) {
  SmallVector<linalg::LinalgOp, 2> heavy;
  for (Operation &op : *bodyOf(kernel))
    if (std::optional<fuse::Role> role = roleOf(&op);
        role && fuse::isHeavy(*role))
      heavy.push_back(cast<linalg::LinalgOp>(op));
  if (heavy.size() != 2)
    return false;
  auto form = fuse::onlineSoftmax(heavy[0], heavy[1]);
  return form && form->hasKnownLengths();
}

/// Cuts in front of the second contraction, then in front of the softmax.
static void splitAttention(fuse::KernelOp kernel) {
  auto find = [&](llvm::function_ref<bool(fuse::Role)> wanted, bool last) {
    Operation *found = nullptr;
    for (Operation &op : *bodyOf(kernel))
      if (std::optional<fuse::Role> role = roleOf(&op); role && wanted(*role))
        found = found && !last ? found : &op;
    return found;
  };
  kernel = cutBefore(kernel, find(fuse::isHeavy, /*last=*/true));
  if (kernel)
    cutBefore(
        kernel,
        find([](fuse::Role role) { return role == fuse::Role::Reduction; },
             /*last=*/false));
}

/// True if an operator for which `wanted` holds reads what `op` computes.
static bool isReadBy(fuse::KernelOp kernel, Operation *op,
                     llvm::function_ref<bool(Operation *)> wanted) {
  return llvm::any_of(*bodyOf(kernel), [&](Operation &reader) {
    return wanted(&reader) && stageOf(kernel, &reader).contains(op);
  });
}

static bool isWindow(Operation *op) {
  std::optional<fuse::Role> role = roleOf(op);
  return role &&
         (*role == fuse::Role::Depthwise || *role == fuse::Role::Window);
}

/// Bytes of a tensor of static shape; nothing for others.
static std::optional<int64_t> bytesOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  std::optional<int64_t> element =
      type ? fuse::elementBytes(type.getElementType()) : std::nullopt;
  if (!element || !type.hasStaticShape())
    return std::nullopt;
  return type.getNumElements() * *element;
}

/// True if a chain is faster as one loop nest on a CPU with vectors of `lanes`:
/// each tile loads the weights again, so what the tiles save must be more; and
/// rows that a window reads of a contraction are computed one by one, so they
/// must fill vectors.
static bool gainsWhole(fuse::KernelOp kernel, int64_t lanes) {
  int64_t handed = 0, weights = 0;
  for (Operation &op : *bodyOf(kernel)) {
    if (!sums(&op))
      continue;
    std::optional<int64_t> result = bytesOf(op.getResult(0));
    if (!result)
      return false;
    bool heavy = fuse::isHeavy(*roleOf(&op));
    if (heavy) {
      std::optional<int64_t> second = bytesOf(op.getOperand(1));
      if (!second)
        return false;
      weights += *second;
    }
    if (isReadBy(kernel, &op, sums))
      handed += *result;
    auto shape = cast<ShapedType>(op.getResult(0).getType()).getShape();
    if (heavy && !shape.empty() && shape.back() < lanes &&
        isReadBy(kernel, &op, isWindow))
      return false;
  }
  return handed > weights;
}

namespace {
struct SplitKernelsPass : fuse::impl::SplitKernelsBase<SplitKernelsPass> {
  using SplitKernelsBase::SplitKernelsBase;

  /// True if there is code for `kernel`, a chain, in one launch; else `why`
  /// not, if that was asked.
  bool isOneLaunch(fuse::KernelOp kernel, std::string &why) {
    return device && fuse::scheduledChain(*bodyOf(kernel),
                                          fuse::chainTile(kernel.getTileAttr()),
                                          device->sharedPerBlock, why);
  }

  void runOnOperation() override {
    if (!chip.empty()) {
      llvm::Expected<fuse::Device> loaded = fuse::loadDevice(chip);
      if (!loaded) {
        getOperation().emitError(llvm::toString(loaded.takeError()));
        return signalPassFailure();
      }
      device = *loaded;
    }
    SmallVector<fuse::KernelOp> siblings, chains;
    getOperation()->walk([&](fuse::KernelOp kernel) {
      if (kernel.getKernelClass() == fuse::siblingsClassName())
        siblings.push_back(kernel);
      else
        chains.push_back(kernel);
    });
    for (auto [number, kernel] : llvm::enumerate(siblings))
      splitSiblings(kernel, number, chains);
    for (fuse::KernelOp kernel : chains)
      if (kernel.getKernelClass() == fuse::chainClassName()) {
        std::string why;
        bool gains = wholeLanes && gainsWhole(kernel, wholeLanes);
        if (!gains && !isOneLaunch(kernel, why))
          splitChain(kernel, why);
      } else if (attention &&
                 kernel.getKernelClass() == fuse::attentionClassName() &&
                 !isOnline(kernel))
        splitAttention(kernel);
  }

  std::optional<fuse::Device> device; ///< nothing: no code for several parts
};
} // namespace
