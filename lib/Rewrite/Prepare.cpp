//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Splits a function with parameters in two:
//
//   main(x, w) { s = f(w); y = g(x, s) }   ==>   main.prepare(w) { s = f(w) }
//                                                main.body(x, s) { y = g(x, s)
//                                                } main(x, w) { main.body(x,
//                                                main.prepare(w)) }
//
// so that a runner computes what depends on parameters once. Decides nothing
// but what depends on parameters only.
//
//===----------------------------------------------------------------------===//

#include "fuse/Rewrite/Kernels.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace fuse;

namespace {

class Splitter {
public:
  explicit Splitter(func::FuncOp main) : main(main) {}
  /// True if there is something to compute once.
  bool analyse();
  void split();

private:
  func::FuncOp createFunction(StringRef suffix, FunctionType type);
  void buildPrepare();
  void buildBody();
  void buildMain();
  void carryHints(ArrayRef<unsigned> bodyNumbers);

  func::FuncOp main, prepare, body;
  llvm::SetVector<Value> frozen;      ///< depend on parameters only
  llvm::SetVector<Operation *> moved; ///< operations that make them
  llvm::SetVector<Value>
      neutral; ///< depend on nothing: constants, empty tensors
  SmallVector<unsigned> inputs, parameters; ///< argument numbers
  SmallVector<Value> frontier; ///< frozen values that the rest needs
};

} // namespace

bool Splitter::analyse() {
  for (unsigned i = 0; i < main.getNumArguments(); ++i) {
    bool isParameter = main.getArgAttr(i, names::kParam) != nullptr;
    (isParameter ? parameters : inputs).push_back(i);
    if (isParameter)
      frozen.insert(main.getArgument(i));
  }
  bool computes = false;
  for (Operation &op : main.getBody().front()) {
    SmallVector<Value> used = usedValues(&op);
    bool movable = isMemoryEffectFree(&op) && op.getNumResults() &&
                   !op.hasTrait<OpTrait::IsTerminator>();
    bool known = llvm::all_of(used, [&](Value value) {
      return frozen.contains(value) || neutral.contains(value);
    });
    bool anyFrozen =
        llvm::any_of(used, [&](Value value) { return frozen.contains(value); });
    if (!movable || !known)
      continue;
    (anyFrozen ? frozen : neutral).insert(op.result_begin(), op.result_end());
    if (anyFrozen)
      moved.insert(&op);
    // A view of a parameter alone is nothing to compute.
    computes |= anyFrozen && (isa<KernelOp>(op) || isa<linalg::LinalgOp>(op));
  }
  for (Value value : frozen)
    if (llvm::any_of(value.getUsers(), [&](Operation *user) {
          // A user in another block of the function stays.
          Operation *here = main.getBody().front().findAncestorOpInBlock(*user);
          return !here || !moved.contains(here);
        }))
      frontier.push_back(value);
  return computes;
}

func::FuncOp Splitter::createFunction(StringRef suffix, FunctionType type) {
  OpBuilder builder(main);
  auto function = func::FuncOp::create(builder, main.getLoc(),
                                       (main.getName() + suffix).str(), type);
  function.setPrivate();
  return function;
}

void Splitter::buildPrepare() {
  SmallVector<Type> argumentTypes;
  for (unsigned i : parameters)
    argumentTypes.push_back(main.getArgument(i).getType());
  prepare = createFunction(".prepare",
                           FunctionType::get(main.getContext(), argumentTypes,
                                             ValueRange(frontier).getTypes()));
  Block *block = prepare.addEntryBlock();
  IRMapping mapping;
  for (auto [number, i] : llvm::enumerate(parameters)) {
    mapping.map(main.getArgument(i), block->getArgument(number));
    prepare.setArgAttrs(number, main.getArgAttrDict(i));
  }
  OpBuilder builder = OpBuilder::atBlockEnd(block);
  // Neutral values that the moved operations need come along as copies.
  llvm::DenseSet<Operation *> needed;
  SmallVector<Operation *> worklist(moved.begin(), moved.end());
  while (!worklist.empty())
    for (Value value : usedValues(worklist.pop_back_val()))
      if (neutral.contains(value) &&
          needed.insert(value.getDefiningOp()).second)
        worklist.push_back(value.getDefiningOp());
  for (Operation &op : main.getBody().front())
    if (moved.contains(&op) || needed.contains(&op))
      builder.clone(op, mapping);
  SmallVector<Value> results;
  for (Value value : frontier)
    results.push_back(mapping.lookup(value));
  func::ReturnOp::create(builder, main.getLoc(), results);
}

void Splitter::buildBody() {
  SmallVector<Type> argumentTypes;
  for (unsigned i : inputs)
    argumentTypes.push_back(main.getArgument(i).getType());
  llvm::append_range(argumentTypes, ValueRange(frontier).getTypes());
  body = createFunction(".body",
                        FunctionType::get(main.getContext(), argumentTypes,
                                          main.getResultTypes()));
  for (auto [number, i] : llvm::enumerate(inputs))
    body.setArgAttrs(number, main.getArgAttrDict(i));
  for (unsigned i = 0; i < main.getNumResults(); ++i)
    body.setResultAttrs(i, main.getResultAttrDict(i));
  body.getBody().takeBody(main.getBody());
  Block &block = body.getBody().front();
  for (Value value : frontier) {
    BlockArgument argument = block.addArgument(value.getType(), value.getLoc());
    value.replaceUsesWithIf(argument, [&](OpOperand &use) {
      Operation *here = block.findAncestorOpInBlock(*use.getOwner());
      return !here || !moved.contains(here);
    });
  }
  for (Operation *op : llvm::reverse(moved))
    op->erase();
  for (Value value : llvm::reverse(neutral))
    if (value.use_empty())
      value.getDefiningOp()->erase();
  for (unsigned i : llvm::reverse(parameters))
    block.eraseArgument(i);
  for (unsigned i = inputs.size(); i < argumentTypes.size(); ++i)
    body.setArgAttr(i, names::kParam, UnitAttr::get(main.getContext()));
}

void Splitter::buildMain() {
  Block *block = main.addEntryBlock();
  OpBuilder builder = OpBuilder::atBlockEnd(block);
  auto arguments = [&](ArrayRef<unsigned> numbers) {
    SmallVector<Value> values;
    for (unsigned i : numbers)
      values.push_back(block->getArgument(i));
    return values;
  };
  auto prepared = func::CallOp::create(builder, main.getLoc(), prepare,
                                       arguments(parameters));
  SmallVector<Value> operands = arguments(inputs);
  llvm::append_range(operands, prepared.getResults());
  auto call = func::CallOp::create(builder, main.getLoc(), body, operands);
  func::ReturnOp::create(builder, main.getLoc(), call.getResults());
}

/// Gives `fuse.dim_hint` of the function to the two that compute, under the
/// numbers that its arguments have there (`argN.D`, `argN`). Other extents have
/// other names there: their hints are lost, and named.
void Splitter::carryHints(ArrayRef<unsigned> bodyNumbers) {
  auto hints = main->getAttrOfType<DictionaryAttr>(names::kDimHint);
  if (!hints)
    return;
  SmallVector<NamedAttribute> ofPrepare, ofBody;
  auto carry = [&](NamedAttribute hint, StringRef rest, unsigned number,
                   ArrayRef<unsigned> numbers,
                   SmallVectorImpl<NamedAttribute> &to) {
    const unsigned *place = llvm::find(numbers, number);
    if (place == numbers.end())
      return false;
    std::string name = ("arg" + Twine(place - numbers.begin()) + rest).str();
    to.emplace_back(StringAttr::get(main.getContext(), name), hint.getValue());
    return true;
  };
  for (NamedAttribute hint : hints) {
    StringRef rest = hint.getName().strref();
    unsigned number = 0;
    bool known = rest.consume_front("arg") && !rest.consumeInteger(10, number);
    if (known) {
      bool prepared = carry(hint, rest, number, parameters, ofPrepare);
      known = carry(hint, rest, number, bodyNumbers, ofBody) || prepared;
    }
    if (!known)
      emitWarning(main.getLoc())
          << "'fuse.dim_hint' entry '" << hint.getName().strref()
          << "' is lost: what it names is no argument, and has another name in "
             "the functions that '"
          << main.getName() << "' is split into";
  }
  main->removeAttr(names::kDimHint);
  for (auto [function, list] :
       {std::pair(prepare, &ofPrepare), std::pair(body, &ofBody)})
    if (!list->empty())
      function->setAttr(names::kDimHint,
                        DictionaryAttr::get(main.getContext(), *list));
}

void Splitter::split() {
  buildPrepare();
  // Arguments have their numbers until the body is taken.
  SmallVector<unsigned> bodyNumbers = inputs;
  for (Value value : frontier) {
    auto argument = dyn_cast<BlockArgument>(value);
    bodyNumbers.push_back(argument ? argument.getArgNumber() : ~0u);
  }
  buildBody();
  buildMain();
  carryHints(bodyNumbers);
}

void fuse::splitPreparation(Operation *module) {
  SmallVector<func::FuncOp> functions;
  for (FunctionOpInterface function : functionsOf(module))
    if (auto func = dyn_cast<func::FuncOp>(function.getOperation());
        func && func.isPublic())
      functions.push_back(func);
  for (func::FuncOp function : functions) {
    Operation *table =
        SymbolTable::getNearestSymbolTable(function->getParentOp());
    bool taken = SymbolTable::lookupSymbolIn(
                     table, (function.getName() + ".prepare").str()) ||
                 SymbolTable::lookupSymbolIn(
                     table, (function.getName() + ".body").str());
    Splitter splitter(function);
    if (!taken && splitter.analyse())
      splitter.split();
  }
}
