//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The decisions on siblings as attributes and remarks. Writes discardable
// attributes, edits no compute operation.
//
//===----------------------------------------------------------------------===//

#include "Record.h"
#include "fuse/Support/RemarkHelpers.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace fuse;

void fuse::writeSiblings(const FunctionFacts &facts,
                         ArrayRef<SiblingRecord> siblings) {
  walkProgram(facts.function, [](Operation *op) {
    op->removeDiscardableAttr(names::kSiblings);
  });
  Builder builder(facts.function->getContext());
  llvm::MapVector<Operation *, SmallVector<Attribute>> lists;
  for (const SiblingRecord &record : siblings) {
    const Decision &decision = record.decision;
    lists[facts.operators[record.second].op].push_back(SiblingAttr::get(
        builder.getContext(), decision.verdict, record.first, decision.gate(),
        decision.reason, numbersAttr(builder, decision),
        decision.flip.empty() ? StringAttr()
                              : builder.getStringAttr(decision.flip)));
  }
  for (auto &[op, list] : lists)
    op->setDiscardableAttr(names::kSiblings, builder.getArrayAttr(list));
}

std::vector<SiblingRecord> fuse::readSiblings(const FunctionFacts &facts) {
  std::map<int64_t, unsigned> numbers; // by the ids as written
  for (auto [id, op] : llvm::enumerate(facts.operators))
    if (auto own = op.op->getAttrOfType<IntegerAttr>(names::kId))
      numbers[own.getInt()] = id;
  std::vector<SiblingRecord> records;
  for (auto [id, op] : llvm::enumerate(facts.operators)) {
    auto list = op.op->getAttrOfType<ArrayAttr>(names::kSiblings);
    if (!list)
      continue;
    for (auto entry : list.getAsRange<SiblingAttr>()) {
      auto first = numbers.find(entry.getWith());
      if (first == numbers.end())
        continue;
      Decision decision;
      decision.verdict = entry.getVerdict();
      decision.reason = entry.getReason();
      decision.flip = entry.getFlip() ? entry.getFlip().str() : "";
      ArrayRef<NamedAttribute> numbersOf;
      if (entry.getNumbers())
        numbersOf = entry.getNumbers().getValue();
      for (NamedAttribute number : numbersOf) {
        auto whole = dyn_cast<IntegerAttr>(number.getValue());
        decision.number(
            number.getName(),
            whole ? whole.getInt()
                  : cast<FloatAttr>(number.getValue()).getValueAsDouble());
      }
      records.push_back({first->second, unsigned(id), std::move(decision)});
    }
  }
  return records;
}

void fuse::emitSiblingRemarks(const FunctionFacts &facts,
                              ArrayRef<SiblingRecord> siblings) {
  using Arg = remark::detail::Remark::Arg;
  if (!facts.function->getContext()->getRemarkEngine())
    return;
  auto describeOp = [&](unsigned id) {
    return describe(facts.operators[id].op) + " #" + std::to_string(id);
  };
  for (const SiblingRecord &record : siblings) {
    const Decision &decision = record.decision;
    std::string name = "siblings " + std::to_string(record.first) + " " +
                       std::to_string(record.second);
    auto opts = remark::RemarkOpts::name(name)
                    .category("fuse-plan")
                    .function(facts.function.getName());
    Location loc = remarkLocation(facts.operators[record.second].op.getLoc());
    auto emit = [&](remark::detail::InFlightRemark remark) {
      if (!remark)
        return;
      remark << Arg("Verdict", stringifyVerdictKind(decision.verdict))
             << Arg("Gate", stringifyGate(decision.gate()))
             << Arg("Reason", stringifyReason(decision.reason))
             << Arg("First", describeOp(record.first))
             << Arg("Second", describeOp(record.second));
      for (const auto &[key, value] : decision.numbers)
        remark << Arg(key, formatNumber(value));
      if (!decision.flip.empty())
        remark << Arg("Flip", decision.flip);
    };
    if (decision.verdict == VerdictKind::Fuse)
      emit(remark::passed(loc, opts));
    else
      emit(remark::missed(loc, opts));
  }
}
