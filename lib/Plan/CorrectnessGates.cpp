//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The gates that both policies share: dependency, shape, numerics and the size
// check. They decide whether fusing would be right, never whether it pays.
//
//===----------------------------------------------------------------------===//

#include "Gates.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace fuse;

/// An elementwise producer that is cheaper to evaluate again than to store:
/// no transcendental and at most as many bytes read as it writes.
static bool cheapToRecompute(const OperatorFacts &producer) {
  if (producer.role != Role::Elementwise ||
      !producer.footprint.transcendentals.isZero())
    return false;
  std::optional<int64_t> read = producer.footprint.read.value(),
                         written = producer.footprint.written.value();
  return read && written && *read <= *written;
}

/// Several readers: the edge is conditional at best, and kept where the value
/// cannot live in the kernel as the other readers need it.
static GateResult multiConsumerGate(const GateInput &in) {
  const Consumers &readers = in.readers();
  // Reading a value twice in one operator is one reader.
  if (readers.captures &&
      llvm::any_of(
          in.consumer().op->getRegion(0).front(), [&](Operation &nested) {
            return llvm::any_of(nested.getOperands(), [&](Value operand) {
              return operand.getDefiningOp() == in.producer().op;
            });
          }))
    return Decision::keep(Reason::Captured,
                          "read the intermediate through an operand only")
        .number("consumers", readers.count());
  if (readers.count() <= 1)
    return std::nullopt;
  if (in.facts.pathThroughOther(in.edge.producer, in.edge.consumer))
    return Decision::keep(Reason::Cycle,
                          "move the operation between them out of the path")
        .number("consumers", readers.count());
  for (unsigned reader : readers.operators)
    if (in.facts.operators[reader].op->getBlock() !=
        in.producer().op->getBlock())
      return Decision::keep(Reason::MultiConsumer,
                            "move all readers into the producer's block")
          .number("consumers", readers.count());
  StringRef when =
      readers.escapes || readers.captures ? "the kernel has several results"
      : cheapToRecompute(in.producer())   ? "the producer is recomputed"
                                          : "all consumers join the kernel";
  return Decision::conditional(Reason::MultiConsumer, when.str(),
                               "leave one reader of the intermediate")
      .number("consumers", readers.count());
}

GateResult fuse::dependencyGate(const GateInput &in) {
  const OperatorFacts &producer = in.producer(), &consumer = in.consumer();
  if (!producer.effect.empty() || !consumer.effect.empty()) {
    const std::string &effect =
        producer.effect.empty() ? consumer.effect : producer.effect;
    return Decision::keep(Reason::SideEffect,
                          "take '" + effect + "' out of the body");
  }
  if (producer.op->getBlock() != consumer.op->getBlock())
    return Decision::keep(Reason::OtherBlock,
                          "move both operators into one block");
  if (in.facts.hasHazard(in.edge.producer, in.edge.consumer))
    return Decision::keep(
        Reason::AntiOutput,
        "let the consumer write to memory that the producer does not touch "
        "(llvm.noalias on the arguments, where that is so)");
  bool touchesMemory = !producer.op.hasPureTensorSemantics() ||
                       !consumer.op.hasPureTensorSemantics();
  if (in.facts.wallBetween(in.edge.producer, in.edge.consumer, touchesMemory))
    return Decision::keep(Reason::SideEffect,
                          "move the operation with the effect before the "
                          "producer or after the consumer");
  if (producer.inPlace)
    return Decision::keep(Reason::InPlaceProducer,
                          "write to another buffer than the one that is read");
  if (consumer.copyOfReadInit ||
      (producer.copyOfReadInit && in.readers().count() > 1))
    return Decision::keep(Reason::CopyNeeded,
                          "use a fresh tensor.empty as the destination");
  return multiConsumerGate(in);
}

/// True if a reshape has at most one dynamic extent in each group, so that the
/// expanded index can be computed from the collapsed one.
static bool reshapeIsKnown(ArrayRef<ReassociationIndices> groups,
                           ShapedType expanded) {
  return llvm::all_of(groups, [&](const ReassociationIndices &group) {
    return llvm::count_if(group, [&](int64_t dim) {
             return expanded.isDynamicDim(dim);
           }) <= 1;
  });
}

GateResult fuse::shapeGate(const GateInput &in) {
  for (const OperatorFacts *facts : {&in.producer(), &in.consumer()})
    for (Type type : facts->op->getOperandTypes())
      if (auto tensor = dyn_cast<RankedTensorType>(type);
          tensor && tensor.getEncoding())
        return Decision::keep(Reason::Encoding,
                              "convert the operand to a dense tensor first");
  for (Operation *glue : in.edge.glue) {
    bool known = true;
    if (auto expand = dyn_cast<tensor::ExpandShapeOp>(glue))
      known = reshapeIsKnown(expand.getReassociationIndices(),
                             expand.getResultType());
    else if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(glue))
      known = reshapeIsKnown(collapse.getReassociationIndices(),
                             collapse.getSrcType());
    if (!known)
      return Decision::keep(
          Reason::DynamicShape,
          "leave at most one dynamic extent in each group of '" +
              glue->getName().getStringRef().str() + "'");
  }
  linalg::LinalgOp producer = in.producer().op;
  unsigned init = in.edge.onMemory ? 0 : in.edge.result;
  AffineMap written =
      producer.getMatchingIndexingMap(producer.getDpsInitOperand(init));
  if (!written.isProjectedPermutation(/*allowZeroInResults=*/true))
    return Decision::keep(
        Reason::Shape,
        "write the intermediate through a permutation of the producer's loops");
  return std::nullopt;
}

GateResult fuse::numericsGate(const GateInput &in) {
  for (const OperatorFacts *facts : {&in.producer(), &in.consumer()})
    for (Type type : facts->op->getOperandTypes())
      if (!elementBytes(getElementTypeOrSelf(type)))
        return Decision::keep(
            Reason::ElementType,
            "convert the operands to a float, integer or index type");
  return std::nullopt;
}

GateResult fuse::sizeGate(const GateInput &in) {
  if (in.producer().footprint.overflowed() ||
      in.consumer().footprint.overflowed())
    return Decision::keep(Reason::TooLarge,
                          "use extents whose product fits int64");
  return std::nullopt;
}
