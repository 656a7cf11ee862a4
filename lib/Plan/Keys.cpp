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

/// Hash of one operation's structure: name, types, inherent attributes
/// (whatever a tool attaches besides them does not count), and of its regions
/// with values numbered in order.
static uint64_t structuralHash(Operation *root) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::DenseMap<Value, unsigned> numbers;
  auto number = [&](Value value) {
    return numbers.try_emplace(value, numbers.size()).first->second;
  };
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
