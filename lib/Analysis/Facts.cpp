//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operators, tensor edges, consumers, walls and paths of one function. Changes
// nothing. Every step is linear in the function, but for paths through foreign
// operations, which are searched only where one can exist.
//
//===----------------------------------------------------------------------===//

#include "fuse/Analysis/Facts.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace fuse;

void fuse::walkProgram(FunctionOpInterface function,
                       llvm::function_ref<void(Operation *)> visit) {
  function->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<KernelOp>(op))
      return WalkResult::skip();
    visit(op);
    return isa<linalg::LinalgOp>(op) ? WalkResult::skip()
                                     : WalkResult::advance();
  });
}

std::string fuse::bodyEffect(linalg::LinalgOp op) {
  std::string effect;
  op.getBlock()->walk([&](Operation *nested) {
    if (isMemoryEffectFree(nested) || nested->hasTrait<OpTrait::IsTerminator>())
      return WalkResult::advance();
    std::optional<SmallVector<MemoryEffects::EffectInstance>> effects =
        getEffectsRecursively(nested);
    bool readsOnly =
        effects &&
        llvm::all_of(*effects,
                     [](const MemoryEffects::EffectInstance &instance) {
                       return isa<MemoryEffects::Read>(instance.getEffect());
                     });
    // An operation with regions is judged by what it holds.
    if (readsOnly || (nested->getNumRegions() &&
                      nested->hasTrait<OpTrait::HasRecursiveMemoryEffects>()))
      return WalkResult::advance();
    effect = nested->getName().getStringRef().str();
    return WalkResult::interrupt();
  });
  return effect;
}

FunctionFacts::FunctionFacts(FunctionOpInterface function,
                             const CostCallback &cost)
    : function(function) {
  collectOperators(cost);
  findParameterValues();
  countWalls();
  collectEdges();
  collectConsumers();
  collectMemoryDependences(*this);
  llvm::sort(edges, [](const Edge &a, const Edge &b) {
    return std::tie(a.consumer, a.operand, a.producer, a.result) <
           std::tie(b.consumer, b.operand, b.producer, b.result);
  });
  measureEdges();
  for (const Dependence &dependence : dependences)
    if (dependence.kind != DepKind::RAW)
      hazards.insert({dependence.from, dependence.to});
  collectCopies(*this);
}

std::optional<unsigned> FunctionFacts::idOf(Operation *op) const {
  auto it = ids.find(op);
  if (it == ids.end())
    return std::nullopt;
  return it->second;
}

void FunctionFacts::measureEdges() {
  std::map<std::string, int64_t> hints = dimHints(function);
  for (Edge &edge : edges) {
    linalg::LinalgOp consumer = operators[edge.consumer].op,
                     producer = operators[edge.producer].op;
    edge.bytesRead =
        touchedBytes(consumer, consumer->getOpOperand(edge.operand), namer);
    unsigned init = producer->getNumResults() ? edge.result : 0;
    edge.bytesWritten =
        touchedBytes(producer, *producer.getDpsInitOperand(init), namer);
    if (!hints.empty()) {
      edge.bytesRead = edge.bytesRead.evaluate(hints);
      edge.bytesWritten = edge.bytesWritten.evaluate(hints);
    }
  }
}

void FunctionFacts::collectOperators(const CostCallback &cost) {
  size_t count = 0;
  walkProgram(function,
              [&](Operation *op) { count += isa<linalg::LinalgOp>(op); });
  operators.reserve(count);
  edges.reserve(count);
  ids.reserve(count);
  wallsBefore.reserve(2 * count);
  foreignDepth.reserve(2 * count);
  function->walk<WalkOrder::PreOrder>([&](Operation *op) {
    // Symbol tables inside a function (gpu.module, a nested module) are not its
    // program.
    // What stands in a kernel is decided.
    if (op != function &&
        (op->hasTrait<OpTrait::SymbolTable>() || isa<KernelOp>(op)))
      return WalkResult::skip();
    auto structured = dyn_cast<linalg::LinalgOp>(op);
    if (!structured)
      return WalkResult::advance();
    if (!isOperator(op)) {
      movers.push_back({structured, footprintOf(structured, namer)});
      return WalkResult::skip();
    }
    ids[op] = operators.size();
    OperatorFacts facts;
    facts.op = structured;
    facts.role = roleOf(structured);
    facts.footprint = facts.counted = footprintOf(structured, namer);
    if (cost)
      cost(structured, facts.footprint);
    applyStated(structured, function, facts.footprint);
    facts.effect = bodyEffect(structured);
    operators.push_back(std::move(facts));
    // What stands inside a structured operator's body is part of it.
    return WalkResult::skip();
  });
}

void FunctionFacts::findParameterValues() {
  llvm::DenseSet<Value> frozen;
  for (BlockArgument argument : function.getArguments())
    if (function.getArgAttr(argument.getArgNumber(), names::kParam))
      frozen.insert(argument);
  if (frozen.empty())
    return;
  // Definitions come before uses, and what a region captures counts as used by
  // the operation around it.
  for (Operation &op : function.getFunctionBody().front()) {
    bool isFrozen = isMemoryEffectFree(&op) && op.getNumResults();
    op.walk([&](Operation *nested) {
      for (Value operand : nested->getOperands())
        isFrozen &= frozen.contains(operand) ||
                    (nested != &op &&
                     op.isAncestor(operand.getParentRegion()->getParentOp()));
    });
    if (!isFrozen)
      continue;
    frozen.insert(op.result_begin(), op.result_end());
    if (std::optional<unsigned> id = idOf(&op))
      operators[*id].fromParameters = true;
  }
}

namespace {
enum class WallKind { None, Memory, Full };
} // namespace

/// A full wall must not be crossed by any operator; a memory wall by none that
/// touches memrefs. Allocation is no effect on data, and a failing assertion
/// ends the program whichever side of it a pure operator stands on.
static WallKind wallKindOf(Operation *op) {
  if (isMemoryEffectFree(op) || isa<cf::AssertOp>(op))
    return WallKind::None;
  std::optional<SmallVector<MemoryEffects::EffectInstance>> effects =
      getEffectsRecursively(op);
  if (!effects)
    return WallKind::Full;
  WallKind kind = WallKind::None;
  for (const MemoryEffects::EffectInstance &effect : *effects) {
    if (!isa<MemoryEffects::Write>(effect.getEffect()))
      continue;
    if (!effect.getValue())
      return WallKind::Full;
    kind = WallKind::Memory;
  }
  return kind;
}

void FunctionFacts::countWalls() {
  llvm::SetVector<Block *> blocks;
  for (OperatorFacts &facts : operators)
    blocks.insert(facts.op->getBlock());
  for (Block *block : blocks) {
    unsigned full = 0, memory = 0, position = 0;
    for (Operation &op : *block) {
      wallsBefore[&op] = {full, memory};
      std::optional<unsigned> id = idOf(&op);
      if (id)
        operators[*id].position = position;
      WallKind kind = !id                             ? wallKindOf(&op)
                      : operators[*id].effect.empty() ? WallKind::None
                                                      : WallKind::Full;
      full += kind == WallKind::Full;
      memory += kind == WallKind::Memory;
      ++position;
      // Depth in foreign operations: those that neither compute as an operator
      // nor are looked through.
      unsigned depth = 0;
      auto deepest = [&](Value operand) {
        if (Operation *def = operand.getDefiningOp())
          depth = std::max(depth, foreignDepth.lookup(def));
      };
      llvm::for_each(op.getOperands(), deepest);
      for (Region &region : op.getRegions())
        region.walk([&](Operation *nested) {
          llvm::for_each(nested->getOperands(), deepest);
        });
      bool foreign =
          !id && !isGlue(&op) && !isMemoryEffectFree(&op) && op.getNumResults();
      foreign |= !id && op.getNumRegions() && !isa<linalg::LinalgOp>(op) &&
                 !isGlue(&op);
      foreignDepth[&op] = depth + foreign;
    }
  }
}

bool FunctionFacts::wallBetween(unsigned from, unsigned to, bool memory) const {
  auto first = wallsBefore.lookup(operators[from].op),
       last = wallsBefore.lookup(operators[to].op);
  // `from` itself counts as a wall in `last` if it has an effect.
  unsigned own = operators[from].effect.empty() ? 0 : 1;
  if (last.first > first.first + own)
    return true;
  return memory && last.second > first.second;
}

bool FunctionFacts::hasHazard(unsigned from, unsigned to) const {
  return hazards.contains({from, to});
}

bool FunctionFacts::pathThroughOther(unsigned from, unsigned to) const {
  Operation *source = operators[from].op, *target = operators[to].op;
  if (foreignDepth.lookup(target) <= foreignDepth.lookup(source))
    return false;
  // Backward search from the target, over operations after the source.
  constexpr unsigned kMostVisited = 4096;
  SmallVector<std::pair<Operation *, bool>> worklist{{target, false}};
  llvm::DenseSet<std::pair<Operation *, unsigned>> visited;
  Block *block = source->getBlock();
  while (!worklist.empty()) {
    Operation *op;
    bool foreign;
    std::tie(op, foreign) = worklist.pop_back_val();
    if (visited.size() > kMostVisited)
      return true;
    auto visit = [&](Value operand) {
      Operation *def = operand.getDefiningOp();
      if (!def || def->getBlock() != block)
        return false;
      if (def == source)
        return foreign;
      if (!source->isBeforeInBlock(def))
        return false;
      bool isForeign =
          foreign || (!idOf(def) && !isGlue(def) && !isFreeInit(operand));
      if (visited.insert({def, isForeign}).second)
        worklist.push_back({def, isForeign});
      return false;
    };
    for (Value operand : op->getOperands())
      if (visit(operand))
        return true;
    bool found = false;
    for (Region &region : op->getRegions())
      region.walk([&](Operation *nested) {
        for (Value operand : nested->getOperands())
          found |= visit(operand);
      });
    if (found)
      return true;
  }
  return false;
}

void FunctionFacts::collectEdges() {
  for (unsigned consumer = 0; consumer < operators.size(); ++consumer) {
    OperatorFacts &facts = operators[consumer];
    for (OpOperand &operand : facts.op->getOpOperands()) {
      if (!isa<RankedTensorType>(operand.get().getType()))
        continue;
      if (facts.op.isDpsInit(&operand) && !carriesData(facts.op, &operand))
        continue;
      // Backward through glue; each path end that is an operator is an edge.
      SmallVector<std::pair<Value, SmallVector<Operation *, 2>>> worklist{
          {operand.get(), {}}};
      llvm::SmallDenseSet<Value, 8> visited;
      while (!worklist.empty()) {
        auto [value, glue] = worklist.pop_back_val();
        Operation *def = value.getDefiningOp();
        if (!def || !visited.insert(value).second)
          continue;
        if (std::optional<unsigned> producer = idOf(def)) {
          Edge edge;
          edge.producer = *producer;
          edge.consumer = consumer;
          edge.operand = operand.getOperandNumber();
          edge.result = cast<OpResult>(value).getResultNumber();
          edge.glue.assign(glue.rbegin(), glue.rend());
          edges.push_back(std::move(edge));
        } else if (isGlue(def)) {
          for (Value source : glueSources(def)) {
            worklist.push_back({source, glue});
            worklist.back().second.push_back(def);
          }
        }
      }
    }
  }
}

void FunctionFacts::collectConsumers() {
  for (OperatorFacts &facts : operators) {
    for (OpResult result : facts.op->getResults()) {
      Consumers consumers;
      SmallVector<Value> worklist{result};
      llvm::SmallDenseSet<Value, 8> visited;
      llvm::SmallDenseSet<Operation *, 4> capturing;
      while (!worklist.empty()) {
        Value value = worklist.pop_back_val();
        if (!visited.insert(value).second)
          continue;
        for (OpOperand &use : value.getUses()) {
          Operation *user = use.getOwner();
          // A use inside an operator's body is a capture by that operator.
          Operation *enclosing = user;
          while (enclosing && !isa<linalg::LinalgOp>(enclosing) &&
                 enclosing != function)
            enclosing = enclosing->getParentOp();
          if (enclosing != user && enclosing && idOf(enclosing))
            capturing.insert(enclosing);
          else if (std::optional<unsigned> id = idOf(user)) {
            auto structured = cast<linalg::LinalgOp>(user);
            if (!structured.isDpsInit(&use) || carriesData(structured, &use))
              consumers.operators.push_back(*id);
          } else if (isGlue(user))
            worklist.append(user->result_begin(), user->result_end());
          else if (!isa<tensor::DimOp>(user) && !isa<linalg::FillOp>(user))
            ++consumers.escapes;
        }
      }
      llvm::sort(consumers.operators);
      consumers.operators.erase(llvm::unique(consumers.operators),
                                consumers.operators.end());
      consumers.captures = capturing.size();
      facts.consumers.push_back(std::move(consumers));
    }
  }
}
