//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Conv-BN folding:
//
//   %y = conv(%x, %w) -> %0;  %z = (%y - %mean) * %gamma / sqrt(%var + eps)
//     =>  %s = gamma / sqrt(var + eps);  %b = -mean * s
//         %z = conv(%x, %w * %s) -> broadcast(%b)
//
// Changes no operation in place. Decides nothing.
//
//===----------------------------------------------------------------------===//

#include "fuse/Rewrite/ConvBn.h"
#include "ConvBnParts.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace fuse;

/// Facts and verdicts of the old operation do not hold for its copy.
static void removeFacts(Operation *copy) {
  for (StringRef name :
       {names::kId, names::kCost, names::kDep, names::kBoundary})
    copy->removeDiscardableAttr(name);
}

//===----------------------------------------------------------------------===//
// The rest of an operation that is affine in part
//===----------------------------------------------------------------------===//

namespace {

/// `op` again, without what its body does up to `head`, on `value` instead of
/// `old`.
class TailBuilder {
public:
  TailBuilder(linalg::GenericOp op, Value head, Value old)
      : op(op), head(head), old(old) {
    findNeeded();
  }
  Value build(OpBuilder &builder, Value value);

private:
  void findNeeded();
  bool isNeeded(Operation *nested) {
    return needed.contains(op.getBlock()->findAncestorOpInBlock(*nested));
  }

  linalg::GenericOp op;
  Value head, old;
  llvm::DenseSet<Operation *> needed; ///< operations of the body, after `head`
};

} // namespace

void TailBuilder::findNeeded() {
  for (Operation &nested : llvm::reverse(*op.getBlock())) {
    bool used = &nested != head.getDefiningOp() &&
                llvm::any_of(nested.getUsers(),
                             [&](Operation *user) { return isNeeded(user); });
    if (used || nested.hasTrait<OpTrait::IsTerminator>())
      needed.insert(&nested);
  }
}

Value TailBuilder::build(OpBuilder &builder, Value value) {
  SmallVector<Value> inputs{value};
  SmallVector<AffineMap> maps(1);
  SmallVector<Value> args{head};
  for (OpOperand &operand : op->getOpOperands()) {
    BlockArgument arg = op.getMatchingBlockArgument(&operand);
    AffineMap map = op.getMatchingIndexingMap(&operand);
    bool used = llvm::any_of(arg.getUsers(),
                             [&](Operation *user) { return isNeeded(user); });
    if (operand.get() == old) {
      maps.front() = map;
    } else if (op.isDpsInput(&operand) && used) {
      inputs.push_back(operand.get());
      maps.push_back(map);
      args.push_back(arg);
    }
  }
  Value init = op.getDpsInits()[0];
  maps.push_back(op.getMatchingIndexingMap(op.getDpsInitOperand(0)));
  args.push_back(op.getBlock()->getArguments().back());
  auto tail = linalg::GenericOp::create(
      builder, op.getLoc(), op->getResultTypes(), inputs,
      init == old ? value : init, maps, op.getIteratorTypesArray(),
      [&](OpBuilder &inner, Location, ValueRange newArgs) {
        IRMapping mapping;
        for (auto [arg, newArg] : llvm::zip_equal(args, newArgs))
          mapping.map(arg, newArg);
        for (Operation &nested : *op.getBlock())
          if (needed.contains(&nested))
            inner.clone(nested, mapping);
      });
  tail->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  removeFacts(tail);
  return tail.getResult(0);
}

//===----------------------------------------------------------------------===//
// The chain
//===----------------------------------------------------------------------===//

/// Reshapes, casts and transposes of the chain, again, on the new value.
static Value applyReshapes(OpBuilder &builder, const BnChain &chain,
                           Value value) {
  Value old = chain.conv->getResult(0);
  for (Operation *op : chain.ops) {
    if (chain.head && op == chain.last())
      return TailBuilder(cast<linalg::GenericOp>(op), chain.head, old)
          .build(builder, value);
    auto structured = dyn_cast<linalg::LinalgOp>(op);
    if (!structured) {
      IRMapping mapping;
      mapping.map(old, value);
      value = builder.clone(*op, mapping)->getResult(0);
      old = op->getResult(0);
      continue;
    }
    auto *read = llvm::find_if(op->getOpOperands(), [&](OpOperand &operand) {
      return operand.get() == old;
    });
    SmallVector<int64_t> permutation = *permutationOf(structured, *read);
    if (!llvm::equal(permutation, llvm::seq<int64_t>(permutation.size()))) {
      Value empty =
          emptyLike(builder, op->getLoc(), structured.getDpsInits()[0]);
      value = linalg::TransposeOp::create(builder, op->getLoc(), value, empty,
                                          permutation)
                  ->getResult(0);
    }
    old = op->getResult(0);
  }
  return value;
}

static Value buildFolded(const BnChain &chain) {
  OpBuilder builder(chain.last());
  FoldedWeights weights = buildWeights(builder, chain);
  Operation *conv = builder.clone(*chain.conv);
  conv->setOperand(chain.filter, weights.filter);
  cast<linalg::LinalgOp>(conv).setDpsInitOperand(0, weights.init);
  removeFacts(conv);
  conv->setDiscardableAttr(
      names::kFolded,
      builder.getStringAttr(chain.shiftOnly ? "bias" : "conv-bn"));
  return applyReshapes(builder, chain, conv->getResult(0));
}

/// Lets questions for an extent of what will be gone ask the initial value, or
/// a reshape of it. What is made for that joins `old`.
static void redirectDims(const BnChain &chain,
                         llvm::SetVector<Operation *> &old) {
  IRMapping shapes; // from values to others of the same shape
  SmallVector<Operation *> ops{chain.conv};
  llvm::append_range(ops, ArrayRef(chain.ops).drop_back());
  for (Operation *op : ops) {
    Value result = op->getResult(0);
    if (auto structured = dyn_cast<linalg::LinalgOp>(op)) {
      Value init = structured.getDpsInits()[0];
      shapes.map(result, shapes.lookupOrDefault(init));
    } else {
      old.insert(OpBuilder(op).clone(*op, shapes));
    }
    for (OpOperand &use : llvm::make_early_inc_range(result.getUses()))
      if (isa<tensor::DimOp>(use.getOwner()))
        use.set(shapes.lookup(result));
  }
}

void fuse::foldChain(const BnChain &chain, llvm::SetVector<Operation *> &old) {
  Value value = buildFolded(chain);
  redirectDims(chain, old);
  chain.last()->getResult(0).replaceAllUsesWith(value);
  old.insert(chain.ops.rbegin(), chain.ops.rend());
  old.insert(chain.conv);
}

void fuse::eraseUnused(llvm::SetVector<Operation *> ops) {
  while (!ops.empty()) {
    Operation *op = ops.pop_back_val();
    if (!isOpTriviallyDead(op))
      continue;
    llvm::SetVector<Operation *> needed;
    op->walk([&](Operation *nested) {
      for (Value operand : nested->getOperands())
        if (Operation *def = operand.getDefiningOp())
          if (!op->isAncestor(def))
            needed.insert(def);
    });
    ops.insert_range(needed);
    op->walk([&](Operation *nested) { ops.remove(nested); });
    op->erase();
  }
}
