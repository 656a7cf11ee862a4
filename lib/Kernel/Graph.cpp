//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Builds the graph and measures groups. Changes nothing.
//
//===----------------------------------------------------------------------===//

#include "fuse/Kernel/Graph.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace fuse;

static double numberOf(const Count &count) {
  if (std::optional<int64_t> value = count.value())
    return static_cast<double>(*value);
  std::set<std::string> symbols;
  count.collectSymbols(symbols);
  std::map<std::string, int64_t> assumed;
  for (const std::string &symbol : symbols)
    assumed[symbol] = kAssumedExtent;
  return static_cast<double>(
      count.evaluate(assumed).value().value_or(INT64_MAX));
}

/// Sources of `operand` behind its glue, operators and others.
static void collectInputs(const FunctionFacts &facts, OpOperand &operand,
                          double bytes, GraphNode &node) {
  SmallVector<std::pair<Value, SmallVector<Operation *, 2>>> worklist{
      {operand.get(), {}}};
  llvm::SmallDenseSet<Value, 8> visited;
  while (!worklist.empty()) {
    auto [value, glue] = worklist.pop_back_val();
    if (!visited.insert(value).second || isFreeInit(value))
      continue;
    Operation *def = value.getDefiningOp();
    std::optional<unsigned> producer = def ? facts.idOf(def) : std::nullopt;
    if (def && !producer && isGlue(def)) {
      for (Value source : glueSources(def)) {
        worklist.push_back({source, glue});
        worklist.back().second.push_back(def);
      }
      continue;
    }
    GraphInput input{operand.getOperandNumber(), producer, value, bytes, {}};
    input.glue.assign(glue.rbegin(), glue.rend());
    node.inputs.push_back(std::move(input));
  }
}

double fuse::vectorFlops(const GraphNode &node, double flops,
                         const Device &device) {
  if (node.floatBits == 64)
    return flops * device.peakF32 / device.peakF64;
  if (node.floatBits == 16)
    return flops * device.peakF32 / device.peakF16;
  return flops;
}

/// Widths of the floats that `op` reads and computes.
static void findTypes(linalg::LinalgOp op, GraphNode &node) {
  unsigned widest = 0;
  node.halfInputs = op.getNumDpsInputs() > 0;
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<FloatType>(getElementTypeOrSelf(operand.get()));
    unsigned width = type ? type.getWidth() : 0;
    widest = std::max(widest, width);
    if (op.isDpsInput(&operand))
      node.halfInputs &= width == 16;
  }
  node.floatBits = widest == 64 || widest == 16 ? widest : 32;
}

/// True if `input` reads, without glue, the element that its producer's loops
/// of the same numbers compute.
static bool isIdentity(const FunctionFacts &facts, linalg::LinalgOp consumer,
                       const GraphInput &input) {
  if (!input.producer || !input.glue.empty())
    return false;
  linalg::LinalgOp producer = facts.operators[*input.producer].op;
  unsigned result = cast<OpResult>(input.root).getResultNumber();
  return producer.getMatchingIndexingMap(producer.getDpsInitOperand(result))
             .isIdentity() &&
         consumer.getMatchingIndexingMap(&consumer->getOpOperand(input.operand))
             .isIdentity();
}

FusionGraph::FusionGraph(const FunctionFacts &facts) : facts(facts) {
  ExtentNamer namer;
  nodes.reserve(facts.operators.size());
  for (const OperatorFacts &op : facts.operators) {
    GraphNode node;
    node.role = op.role;
    const Footprint &f = op.footprint;
    node.flops = numberOf(f.flops);
    node.transcendentals = numberOf(f.transcendentals);
    node.flopsPerPoint = f.flopsPerPoint;
    node.points = numberOf(f.points);
    node.parallel = numberOf(f.parallel);
    node.reduction = numberOf(f.reduction);
    node.registers = f.registers;
    node.extents = op.op.getStaticLoopRanges();
    findTypes(op.op, node);
    node.fromParameters = op.fromParameters;
    for (OpOperand &operand : op.op->getOpOperands()) {
      bool read =
          op.op.isDpsInit(&operand) ? carriesData(op.op, &operand) : true;
      if (read && isa<RankedTensorType>(operand.get().getType()))
        collectInputs(facts, operand,
                      numberOf(touchedBytes(op.op, operand, namer)), node);
    }
    for (GraphInput &input : node.inputs)
      input.identity = isIdentity(facts, op.op, input);
    for (OpOperand &init : op.op.getDpsInitsMutable())
      node.bytesWritten.push_back(numberOf(touchedBytes(op.op, init, namer)));
    for (const Consumers &consumers : op.consumers) {
      node.readers.push_back(consumers.operators);
      node.escapes.push_back(consumers.escapes || consumers.captures);
      node.consumers.append(consumers.operators.begin(),
                            consumers.operators.end());
    }
    llvm::sort(node.consumers);
    node.consumers.erase(llvm::unique(node.consumers), node.consumers.end());
    nodes.push_back(std::move(node));
  }
}

bool Group::contains(unsigned id) const {
  return std::binary_search(ops.begin(), ops.end(), id);
}

bool Group::isOutput(unsigned id, unsigned result) const {
  if (llvm::is_contained(internal, id))
    return false;
  const GraphNode &n = node(id);
  return n.escapes[result] ||
         llvm::any_of(n.readers[result],
                      [&](unsigned reader) { return !contains(reader); });
}

bool Group::hasOutput(unsigned id) const {
  for (unsigned result = 0; result < node(id).readers.size(); ++result)
    if (isOutput(id, result))
      return true;
  return false;
}

static unsigned dynamicExtents(Value value) {
  auto type = dyn_cast<ShapedType>(value.getType());
  return type && type.hasRank() ? type.getNumDynamicDims() : 0;
}

const Traffic &fuse::trafficOf(const Group &group) {
  if (group.traffic)
    return *group.traffic;
  Traffic &traffic = group.traffic.emplace();
  llvm::MapVector<Value, double> read;
  for (unsigned id : group.ops) {
    const GraphNode &node = group.node(id);
    for (const GraphInput &input : node.inputs) {
      if (input.producer && group.contains(*input.producer))
        continue;
      double &bytes = read[input.root];
      bytes = std::max(bytes, input.bytes);
    }
    for (unsigned result = 0; result < node.readers.size(); ++result) {
      if (!group.isOutput(id, result))
        continue;
      traffic.written += node.bytesWritten[result];
      ++traffic.outputs;
      traffic.extents += dynamicExtents(group.graph.op(id)->getResult(result));
    }
  }
  for (auto &[root, bytes] : read) {
    traffic.read += bytes;
    traffic.extents += dynamicExtents(root);
  }
  traffic.inputs = read.size();
  return traffic;
}

double fuse::evaluationsAlong(const FusionGraph &graph, unsigned producer,
                              unsigned consumer, unsigned operand) {
  linalg::LinalgOp op = graph.op(consumer);
  AffineMap map = op.getMatchingIndexingMap(&op->getOpOperand(operand));
  bool broadcasts = false;
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
    broadcasts |= !map.isFunctionOfDim(loop);
  double made = graph.nodes[producer].points;
  if (!broadcasts || made <= 0)
    return 1;
  return std::max(1.0, graph.nodes[consumer].points / made);
}

double fuse::liveRegisters(const Group &group) {
  if (group.registers)
    return *group.registers;
  // The last operator of the group that reads each operator's value.
  llvm::DenseMap<unsigned, unsigned> lastUse;
  for (unsigned id : group.ops)
    for (const GraphInput &input : group.node(id).inputs)
      if (input.producer && group.contains(*input.producer))
        lastUse[*input.producer] = id;
  llvm::DenseMap<unsigned, unsigned> ending;
  double live = 0, most = 0;
  for (unsigned id : group.ops) {
    most = std::max(most, live + group.node(id).registers);
    live -= ending.lookup(id);
    if (auto it = lastUse.find(id); it != lastUse.end()) {
      ++live;
      ++ending[it->second];
    }
  }
  group.registers = most;
  return most;
}
