//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Structural keys of edges: a hash of producer, consumer, operand, glue and
// types that survives re-parsing and renaming.
//
//===----------------------------------------------------------------------===//

#include "fuse/Plan/Boundary.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace fuse;

namespace {
/// Numbers the values of one operation in order of first use.
class ValueNumbers {
public:
  unsigned operator()(Value value) {
    return numbers.try_emplace(value, numbers.size()).first->second;
  }

private:
  llvm::SmallDenseMap<Value, unsigned, 16> numbers;
};
} // namespace

/// Hash of one operation's structure: name, types, inherent attributes
/// (whatever a tool attaches besides them does not count), and of its regions
/// with values numbered in order.
static uint64_t hashText(Operation *root) {
  std::string text;
  llvm::raw_string_ostream os(text);
  ValueNumbers number;
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    os << op->getName() << '(';
    for (Value operand : op->getOperands())
      os << (op == root ? 0 : number(operand)) << ':' << operand.getType()
         << ',';
    os << ')';
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          os << number(argument) << ':' << argument.getType() << ',';
    SmallVector<NamedAttribute> attributes(op->getAttrs());
    llvm::sort(attributes, [](NamedAttribute a, NamedAttribute b) {
      return a.getName().strref() < b.getName().strref();
    });
    for (NamedAttribute attribute : attributes)
      if (!op->getDiscardableAttr(attribute.getName()))
        os << attribute.getName().strref() << '=' << attribute.getValue()
           << ',';
    for (Value result : op->getResults())
      os << "->" << number(result) << ':' << result.getType();
  });
  return llvm::xxh3_64bits(text);
}

/// What hashText prints, by the addresses of unique objects: equal within a
/// process where the text is, and much cheaper.
static uint64_t fingerprint(Operation *root) {
  llvm::hash_code hash(0);
  ValueNumbers number;
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    hash = llvm::hash_combine(hash, op->getName().getAsOpaquePointer(),
                              op->getNumOperands(), op->getNumRegions(),
                              op->getPropertiesStorageSize()
                                  ? op->hashProperties()
                                  : hash_value(op->getAttrDictionary()));
    for (Value operand : op->getOperands())
      hash = llvm::hash_combine(hash, op == root ? 0 : number(operand),
                                operand.getType());
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          hash = llvm::hash_combine(hash, number(argument), argument.getType());
    for (Value result : op->getResults())
      hash = llvm::hash_combine(hash, number(result), result.getType());
  });
  return hash;
}

uint64_t EdgeKeys::structuralHash(Operation *op) {
  auto [slot, isNew] = hashes.try_emplace(fingerprint(op), 0);
  if (isNew)
    slot->second = hashText(op);
  return slot->second;
}

std::vector<std::string> EdgeKeys::of(const FunctionFacts &facts) {
  std::vector<uint64_t> hashes;
  for (const OperatorFacts &op : facts.operators)
    hashes.push_back(structuralHash(op.op));
  std::vector<std::string> keys;
  for (const Edge &edge : facts.edges) {
    std::string text;
    llvm::raw_string_ostream os(text);
    os << hashes[edge.producer] << '.' << edge.result << '>'
       << hashes[edge.consumer] << '.' << edge.operand;
    for (Operation *glue : edge.glue)
      os << '/' << structuralHash(glue);
    std::string key = llvm::utohexstr(llvm::xxh3_64bits(text),
                                      /*LowerCase=*/true, /*Width=*/16);
    keys.push_back(key + "#" + std::to_string(occurrences[key]++));
  }
  return keys;
}
