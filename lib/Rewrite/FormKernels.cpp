//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Moves planned groups into fuse.kernel and back:
//
//   p = pad x; c = conv p, w; r = relu c   ==>   r = fuse.kernel (x, w) { pad;
//   conv; relu; yield }
//
// Carries out a plan, decides nothing. Glue is copied into each kernel that
// needs it, so that what crosses memory is the glue's source.
//
//===----------------------------------------------------------------------===//

#include "fuse/Rewrite/Kernels.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace fuse;

namespace {

/// One kernel in the making.
class KernelBuilder {
public:
  KernelBuilder(const FusionGraph &graph, const PlanGroup &group)
      : group(group) {
    for (unsigned id : group.ops)
      members.insert(graph.op(id));
    first = last = members.front();
    for (Operation *op : members) {
      if (op->isBeforeInBlock(first))
        first = op;
      if (last->isBeforeInBlock(op))
        last = op;
    }
  }
  /// False if an operation between the group's first and last operator uses a
  /// result and cannot be moved behind the kernel.
  bool build();

private:
  void collect();
  void findOutputs();
  bool moveUsersBehind(Operation *kernel);
  bool moveBeforeUsers(Operation *kernel);
  KernelOp createKernel();

  const PlanGroup &group;
  llvm::SetVector<Operation *> members; ///< the group's operators
  /// Of the members, as they stand now: an earlier-formed kernel may have moved
  /// some behind others.
  Operation *first = nullptr, *last = nullptr;
  llvm::SetVector<Operation *>
      cloned; ///< members, glue and free values, in order
  llvm::SetVector<Value> inputs;
  SmallVector<Value> outputs;
};

} // namespace

/// True for what each kernel makes for itself: glue, constants that are no
/// tensors of data, empty tensors and fills.
static bool belongsInside(Operation *op, Block *block) {
  if (op->hasTrait<OpTrait::ConstantLike>())
    return !holdsData(op);
  if (!isMemoryEffectFree(op))
    return false;
  if (llvm::any_of(op->getResults(),
                   [](Value result) { return isFreeInit(result); }))
    return true;
  return op->getBlock() == block &&
         (isGlue(op) || op->hasAttr(names::kRecompute));
}

void KernelBuilder::collect() {
  Block *block = members.front()->getBlock();
  SmallVector<Operation *> worklist(members.begin(), members.end());
  llvm::SetVector<Operation *> inside(members.begin(), members.end());
  while (!worklist.empty())
    for (Value value : usedValues(worklist.pop_back_val())) {
      Operation *def = value.getDefiningOp();
      if (def && !inside.contains(def) && belongsInside(def, block)) {
        inside.insert(def);
        worklist.push_back(def);
      }
    }
  // Constants and inits may stand in an outer block: they come first, what an
  // init is made of before it.
  SmallVector<Operation *> outer;
  for (Operation *op : llvm::reverse(inside))
    if (op->getBlock() != block)
      outer.push_back(op);
  while (!outer.empty()) {
    Operation *op = outer.back();
    Operation *needed = nullptr;
    for (Value operand : op->getOperands())
      if (Operation *def = operand.getDefiningOp();
          def && inside.contains(def) && !cloned.contains(def))
        needed = def;
    if (needed) {
      outer.push_back(needed);
      continue;
    }
    cloned.insert(op);
    outer.pop_back();
  }
  SmallVector<Operation *> ordered;
  for (Operation *op : inside)
    if (op->getBlock() == block)
      ordered.push_back(op);
  llvm::sort(ordered,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  cloned.insert(ordered.begin(), ordered.end());
  for (Operation *op : cloned)
    for (Value value : usedValues(op))
      if (!value.getDefiningOp() || !cloned.contains(value.getDefiningOp()))
        inputs.insert(value);
}

/// Results that something outside needs: whatever is neither a member nor glue
/// that dies with the members.
void KernelBuilder::findOutputs() {
  llvm::DenseSet<Operation *> dying(members.begin(), members.end());
  auto dies = [&](Operation *user) {
    while (user && !dying.contains(user))
      user = user->getParentOp();
    return user != nullptr;
  };
  for (Operation *op : llvm::reverse(cloned))
    if (!members.contains(op) && llvm::all_of(op->getUsers(), dies))
      dying.insert(op);
  for (Operation *op : members)
    for (Value result : op->getResults())
      if (!llvm::all_of(result.getUsers(), dies))
        outputs.push_back(result);
}

KernelOp KernelBuilder::createKernel() {
  OpBuilder builder(last->getContext());
  builder.setInsertionPointAfter(last);
  SmallVector<Location> locations;
  for (Operation *op : members)
    locations.push_back(op->getLoc());
  Location loc = builder.getFusedLoc(locations);
  const Tile &tile = group.cost.tile;
  auto kernel = KernelOp::create(
      builder, loc, TypeRange(ValueRange(outputs)), inputs.getArrayRef(),
      builder.getStringAttr(group.kernel->name()),
      TileAttr::get(builder.getContext(), tile.sizes, tile.threads));
  Block *body = builder.createBlock(&kernel.getBody());
  IRMapping mapping;
  for (Value input : inputs)
    mapping.map(input, body->addArgument(input.getType(), input.getLoc()));
  for (Operation *op : cloned) {
    Operation *copy = builder.clone(*op, mapping);
    for (StringRef name : {names::kGroup, names::kTile, names::kBoundary,
                           names::kDep, names::kId, names::kSiblings})
      copy->removeDiscardableAttr(name);
  }
  SmallVector<Value> yielded;
  for (Value output : outputs)
    yielded.push_back(mapping.lookup(output));
  YieldOp::create(builder, loc, yielded);
  return kernel;
}

/// Moves operations before `kernel` that need its results behind it; false,
/// and nothing moved, if one of them has effects or a member needs one.
bool KernelBuilder::moveUsersBehind(Operation *kernel) {
  llvm::SmallDenseSet<Value> results(outputs.begin(), outputs.end()), late;
  SmallVector<Operation *> users;
  for (Operation *op = first->getNextNode(); op != kernel;
       op = op->getNextNode()) {
    SmallVector<Value> used = usedValues(op);
    bool needsLate =
        llvm::any_of(used, [&](Value value) { return late.contains(value); });
    bool needsResult = llvm::any_of(
        used, [&](Value value) { return results.contains(value); });
    if (members.contains(op) || (!needsLate && !needsResult))
      continue;
    if (!isMemoryEffectFree(op))
      return false;
    users.push_back(op);
    late.insert(op->result_begin(), op->result_end());
  }
  // Glue that leaves the group too is both copied into it and moved.
  if (llvm::any_of(inputs, [&](Value value) { return late.contains(value); }))
    return false;
  for (Operation *op : llvm::reverse(users))
    op->moveAfter(kernel);
  return true;
}

/// Moves `kernel` before the first operation that needs its results; false if
/// one of its inputs is not there yet.
bool KernelBuilder::moveBeforeUsers(Operation *kernel) {
  Operation *user = first;
  auto needsResult = [&](Operation *op) {
    return llvm::any_of(usedValues(op), [&](Value value) {
      return llvm::is_contained(outputs, value);
    });
  };
  while (user != kernel && (members.contains(user) || !needsResult(user)))
    user = user->getNextNode();
  for (Value input : inputs)
    if (Operation *def = input.getDefiningOp())
      if (def->getBlock() == user->getBlock() && !def->isBeforeInBlock(user))
        return false;
  kernel->moveBefore(user);
  return true;
}

bool KernelBuilder::build() {
  collect();
  findOutputs();
  KernelOp kernel = createKernel();
  if (!moveUsersBehind(kernel) && !moveBeforeUsers(kernel)) {
    kernel.erase();
    return false;
  }
  for (auto [output, result] : llvm::zip_equal(outputs, kernel.getOutputs()))
    output.replaceAllUsesWith(result);
  // The kernel's inputs were the old values; nothing inside it uses the
  // outside. Dead glue goes with the members.
  for (Operation *op : llvm::reverse(cloned))
    if (op->use_empty() && (members.contains(op) || isMemoryEffectFree(op)))
      op->erase();
  return true;
}

void fuse::applyPlan(Operation *module) {
  VerdictOptions options = optionsOrDefault(module);
  for (FunctionOpInterface function : functionsOf(module)) {
    FunctionFacts facts(function);
    FusionGraph graph(facts);
    // Later groups first: what a kernel reads may be a later-formed kernel's
    // result, never the other way round.
    std::vector<PlanGroup> groups = readPlan(graph, options);
    for (PlanGroup &group : llvm::reverse(groups)) {
      if (group.problem.empty() && KernelBuilder(graph, group).build())
        continue;
      if (group.problem.empty()) {
        group.where = graph.op(group.ops.front());
        group.problem = "an operation with effects between its operators needs "
                        "one of its results";
      }
      emitWarning(group.where->getLoc())
          << "group " << group.id << " is left unfused: " << group.problem;
    }
  }
}

void fuse::inlineKernel(KernelOp kernel) {
  Block &body = kernel.getBody().front();
  for (Operation &op : body)
    op.removeDiscardableAttr(names::kRecompute);
  auto yield = cast<YieldOp>(body.getTerminator());
  for (auto [argument, input] :
       llvm::zip_equal(body.getArguments(), kernel.getInputs()))
    argument.replaceAllUsesWith(input);
  for (auto [result, value] :
       llvm::zip_equal(kernel.getOutputs(), yield.getValues()))
    result.replaceAllUsesWith(value);
  kernel->getBlock()->getOperations().splice(kernel->getIterator(),
                                             body.getOperations(), body.begin(),
                                             yield->getIterator());
  kernel.erase();
}
