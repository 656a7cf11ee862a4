//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// RAW, WAR and WAW between operators on memrefs, and the edges and consumers
// that follow from them. Each access is compared with the last writers and the
// readers since then, so that the lists stay short. Changes nothing.
//
//===----------------------------------------------------------------------===//

#include "fuse/Analysis/Facts.h"
#include "mlir/Analysis/AliasAnalysis.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace fuse;

namespace {

/// A box of elements in the dimensions of a root memref: [low, high] each. An
/// over-approximation where a view is not understood.
struct Box {
  SmallVector<int64_t> low, high;
};

/// One access of an operator.
struct Access {
  Value value, root;
  std::optional<Box> box; ///< none where the root has dynamic extents
  unsigned op;
  std::optional<unsigned> operand;
  bool reads = false, writes = false;
};

class MemoryDependences {
public:
  explicit MemoryDependences(FunctionFacts &facts)
      : facts(facts), aliases(facts.function) {}
  void run();

private:
  SmallVector<Access> accessesOf(unsigned id);
  void process(const Access &access);
  bool mayAlias(const Access &a, const Access &b);
  bool rootsMayAlias(Value a, Value b);
  void note(DepKind kind, const Access &from, const Access &to);
  void fillConsumers();

  FunctionFacts &facts;
  AliasAnalysis aliases;
  llvm::DenseMap<std::pair<Value, Value>, bool> rootAliasCache;
  std::vector<Access> writers, readers;
};

} // namespace

/// The memref behind a chain of views.
static Value rootOf(Value value) {
  while (auto view = value.getDefiningOp<ViewLikeOpInterface>())
    value = view.getViewSource();
  return value;
}

static std::optional<Box> boxOf(Value value) {
  if (auto cast = value.getDefiningOp<memref::CastOp>())
    return boxOf(cast.getSource());
  auto view = value.getDefiningOp<ViewLikeOpInterface>();
  if (!view) {
    auto type = dyn_cast<MemRefType>(value.getType());
    if (!type || !type.hasStaticShape())
      return std::nullopt;
    Box box{SmallVector<int64_t>(type.getRank(), 0),
            SmallVector<int64_t>(type.getShape())};
    for (int64_t &high : box.high)
      --high;
    return box;
  }
  std::optional<Box> source = boxOf(view.getViewSource());
  auto subview = value.getDefiningOp<memref::SubViewOp>();
  // Only a subview of the root itself is narrowed; any other view keeps its
  // source's box.
  if (!source || !subview || subview.getSource() != rootOf(value))
    return source;
  if (ShapedType::isDynamicShape(subview.getStaticOffsets()) ||
      ShapedType::isDynamicShape(subview.getStaticSizes()) ||
      ShapedType::isDynamicShape(subview.getStaticStrides()))
    return source;
  Box box;
  for (auto [offset, size, stride] :
       llvm::zip_equal(subview.getStaticOffsets(), subview.getStaticSizes(),
                       subview.getStaticStrides())) {
    box.low.push_back(offset);
    box.high.push_back(offset + (size - 1) * stride);
  }
  return box;
}

static bool disjoint(const std::optional<Box> &a, const std::optional<Box> &b) {
  if (!a || !b)
    return false;
  for (auto [lowA, highA, lowB, highB] :
       llvm::zip_equal(a->low, a->high, b->low, b->high))
    if (highA < lowB || highB < lowA)
      return true;
  return false;
}

static bool isNoAliasArgument(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || !argument.getOwner()->isEntryBlock())
    return false;
  auto function =
      dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp());
  return function &&
         function.getArgAttr(argument.getArgNumber(),
                             LLVM::LLVMDialect::getNoAliasAttrName());
}

bool MemoryDependences::rootsMayAlias(Value a, Value b) {
  if (a == b)
    return true;
  auto key = a.getAsOpaquePointer() < b.getAsOpaquePointer() ? std::pair(a, b)
                                                             : std::pair(b, a);
  auto [it, isNew] = rootAliasCache.try_emplace(key, true);
  if (isNew)
    it->second = !isNoAliasArgument(a) && !isNoAliasArgument(b) &&
                 !aliases.alias(a, b).isNo();
  return it->second;
}

bool MemoryDependences::mayAlias(const Access &a, const Access &b) {
  if (a.root == b.root)
    return !disjoint(a.box, b.box);
  return rootsMayAlias(a.root, b.root);
}

SmallVector<Access> MemoryDependences::accessesOf(unsigned id) {
  SmallVector<Access> accesses;
  linalg::LinalgOp op = facts.operators[id].op;
  auto add = [&](Value value, std::optional<unsigned> operand, bool reads,
                 bool writes) {
    accesses.push_back(
        {value, rootOf(value), boxOf(value), id, operand, reads, writes});
  };
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<BaseMemRefType>(operand.get().getType()))
      continue;
    bool used = !op.getMatchingBlockArgument(&operand).use_empty();
    add(operand.get(), operand.getOperandNumber(), used,
        op.isDpsInit(&operand));
  }
  op.getBlock()->walk([&](MemoryEffectOpInterface nested) {
    SmallVector<MemoryEffects::EffectInstance> effects;
    nested.getEffects(effects);
    for (const MemoryEffects::EffectInstance &effect : effects)
      if (Value value = effect.getValue();
          value && isa<BaseMemRefType>(value.getType()))
        add(value, std::nullopt, isa<MemoryEffects::Read>(effect.getEffect()),
            isa<MemoryEffects::Write>(effect.getEffect()));
  });
  return accesses;
}

void MemoryDependences::note(DepKind kind, const Access &from,
                             const Access &to) {
  if (from.op == to.op)
    return;
  Dependence dependence{kind, from.op, to.op, to.operand};
  for (const Dependence &known : llvm::reverse(facts.dependences)) {
    if (known.to != to.op)
      break;
    if (known.kind == kind && known.from == from.op &&
        known.operand == to.operand)
      return;
  }
  facts.dependences.push_back(dependence);
  if (kind != DepKind::RAW)
    return;
  Edge edge;
  edge.producer = from.op;
  edge.consumer = to.op;
  // A body that reads captured memory has no operand for it: its first operand
  // stands for the edge.
  edge.operand = to.operand.value_or(0);
  edge.onMemory = true;
  for (Value value = to.value; value != to.root;) {
    Operation *view = value.getDefiningOp();
    edge.glue.insert(edge.glue.begin(), view);
    value = cast<ViewLikeOpInterface>(view).getViewSource();
  }
  facts.edges.push_back(std::move(edge));
}

void MemoryDependences::process(const Access &access) {
  if (access.reads)
    for (const Access &writer : writers)
      if (mayAlias(writer, access))
        note(DepKind::RAW, writer, access);
  if (access.writes) {
    for (const Access &reader : readers)
      if (mayAlias(reader, access))
        note(DepKind::WAR, reader, access);
    for (const Access &writer : writers)
      if (mayAlias(writer, access))
        note(DepKind::WAW, writer, access);
    // A write of the same view, or of the whole root, hides what came before.
    // It does so only if it writes every element, which an operand's map may
    // not; captured writes never do.
    auto hidden = [&](const Access &earlier) {
      return access.operand && earlier.op != access.op &&
             earlier.root == access.root &&
             (earlier.value == access.value || access.value == access.root) &&
             facts.operators[access.op]
                 .op
                 .getMatchingIndexingMap(
                     &facts.operators[access.op].op->getOpOperand(
                         *access.operand))
                 .isPermutation();
    };
    llvm::erase_if(readers, hidden);
    llvm::erase_if(writers, hidden);
    writers.push_back(access);
  }
  if (access.reads)
    readers.push_back(access);
}

/// True if memory behind `root` can be seen from outside the function.
static bool isVisibleOutside(Value root) {
  Operation *def = root.getDefiningOp();
  return !def || !hasEffect<MemoryEffects::Allocate>(def, root);
}

/// Uses of the memory behind `root` by operations that are neither operators
/// of `block` nor views nor a release.
static unsigned foreignUses(Value root, Block *block,
                            const FunctionFacts &facts) {
  unsigned uses = 0;
  SmallVector<Value> worklist{root};
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    for (Operation *user : value.getUsers()) {
      if (isa<ViewLikeOpInterface>(user))
        worklist.append(user->result_begin(), user->result_end());
      else if (!(facts.idOf(user) && user->getBlock() == block) &&
               !hasEffect<MemoryEffects::Free>(user, value) &&
               !isa<memref::DimOp>(user))
        ++uses;
    }
  }
  return uses;
}

void MemoryDependences::fillConsumers() {
  llvm::DenseMap<std::pair<Value, Block *>, unsigned> foreign;
  for (auto [id, op] : llvm::enumerate(facts.operators)) {
    if (op.op->getNumResults() != 0)
      continue;
    Consumers consumers;
    for (Value init : op.op.getDpsInits()) {
      Value root = rootOf(init);
      Block *block = op.op->getBlock();
      auto [slot, isNew] = foreign.try_emplace({root, block}, 0);
      if (isNew)
        slot->second = foreignUses(root, block, facts) + isVisibleOutside(root);
      consumers.escapes += slot->second;
      bool reads = !op.op
                        .getMatchingBlockArgument(
                            &op.op->getOpOperand(op.op.getNumDpsInputs()))
                        .use_empty();
      op.inPlace |= reads && isVisibleOutside(root);
    }
    op.consumers.push_back(std::move(consumers));
  }
  for (const Edge &edge : facts.edges) {
    if (!edge.onMemory)
      continue;
    SmallVectorImpl<unsigned> &readers =
        facts.operators[edge.producer].consumers.front().operators;
    if (!llvm::is_contained(readers, edge.consumer))
      readers.push_back(edge.consumer);
  }
}

void MemoryDependences::run() {
  // Operators of different blocks are ordered by control flow, not by position:
  // each block is on its own.
  llvm::MapVector<Block *, SmallVector<unsigned>> blocks;
  for (auto [id, op] : llvm::enumerate(facts.operators))
    blocks[op.op->getBlock()].push_back(id);
  bool any = false;
  for (auto &[block, ids] : blocks) {
    writers.clear();
    readers.clear();
    for (unsigned id : ids) {
      SmallVector<Access> accesses = accessesOf(id);
      any |= !accesses.empty();
      // All reads of an operator happen before its writes.
      for (bool writing : {false, true})
        for (Access access : accesses) {
          (writing ? access.reads : access.writes) = false;
          process(access);
        }
    }
  }
  llvm::sort(facts.dependences, [](const Dependence &a, const Dependence &b) {
    return std::tie(a.to, a.from, a.kind, a.operand) <
           std::tie(b.to, b.from, b.kind, b.operand);
  });
  if (any)
    fillConsumers();
}

void fuse::collectMemoryDependences(FunctionFacts &facts) {
  MemoryDependences(facts).run();
}
