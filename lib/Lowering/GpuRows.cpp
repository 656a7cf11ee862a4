//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The row schedule: a team of threads for each row.
//
//   max; exp; sum; div   ==>   x = load; max = shuffles; e = exp(x - max)
//                              sum = shuffles; store e / sum
//
// A row that fits is held in registers: the code of all passes is in one block,
// so that what one pass computed is there in the next. A longer one streams
// through the team once a pass.
//
//===----------------------------------------------------------------------===//

#include "GpuRowSpace.h"
#include "GpuTeam.h"
#include "LoopNest.h"
#include "fuse/Kernel/KernelClass.h"
#include "fuse/Lowering/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace fuse;

namespace {
class Rows {
public:
  Rows(GpuFrame &frame, const GpuRowSpace &space, const GpuTile &tile)
      : frame(frame), space(space), tile(tile), elements(frame.elements),
        math(frame.elements.math), builder(frame.builder), loc(frame.loc) {}

  bool emit();

private:
  void findRow();
  void chooseTeam();
  void chooseLanes();
  SmallVector<SmallVector<Extent>> lengths();
  Lanes indicesOf(unsigned output, const Lanes &along);
  bool reduceAll(unsigned output);
  Value reduce(const RowReduction &reduction);
  Value combineLanes(Value value, Operation *combiner);
  bool store(unsigned output);

  /// Calls `body` for each group of lanes of a row that this thread has;
  /// `inside` is nothing if it surely is in the row, else the position is one
  /// that exists and is not meant.
  using Body = llvm::function_ref<Value(LaneIndex position, Value inside,
                                        Value carried)>;
  /// True if each thread holds its part of a row of this length.
  bool isHeld(const Extent &length) const;
  Value forEach(const Extent &length, Value start, Body body);
  LaneIndex positionOf(LaneIndex group, const Extent &length, bool surely,
                       Value &inside);
  /// There is no code for where lanes of `op` would part.
  Value fail(Operation *op) {
    elements.failedOp = op;
    elements.failure = "lanes that part";
    return nullptr;
  }

  GpuFrame &frame;
  const GpuRowSpace &space;
  const GpuTile &tile;
  Elements &elements;
  IndexMath &math;
  OpBuilder &builder;
  Location loc;
  GpuTeam team;
  Lanes row;       ///< in the extents of `space.rows`
  Value rowInside; ///< nothing if it surely is
  using Key =
      std::pair<std::pair<Operation *, unsigned>, SmallVector<const void *, 4>>;
  static Key keyOf(linalg::LinalgOp op, unsigned result,
                   ArrayRef<LaneIndex> loops);
  std::map<Key, Value> done;
};
} // namespace

Rows::Key Rows::keyOf(linalg::LinalgOp op, unsigned result,
                      ArrayRef<LaneIndex> loops) {
  Key key{{op, result}, {}};
  for (const LaneIndex &index : loops)
    key.second.push_back(index.base.getAsOpaquePointer());
  return key;
}

/// Extents along the rows: of every reduction, and of every result.
SmallVector<SmallVector<Extent>> Rows::lengths() {
  SmallVector<SmallVector<Extent>> result;
  frame.source.walk([&](linalg::LinalgOp op) {
    if (!op.getNumReductionLoops())
      return;
    SmallVector<Extent> all = elements.loopExtents(op);
    result.emplace_back();
    SmallVector<unsigned> dims;
    op.getReductionDims(dims);
    for (unsigned dim : dims)
      result.back().push_back(all[dim]);
  });
  for (auto [output, dims] : llvm::zip_equal(frame.outputs, space.results)) {
    SmallVector<Extent> all = elements.extents(output.value);
    result.emplace_back();
    for (unsigned dim : dims.along)
      result.back().push_back(all[dim]);
  }
  return result;
}

void Rows::chooseLanes() {
  math.lanes = 1;
  if (team.kind == GpuTeam::Column)
    return;
  unsigned lanes = 8;
  for (ArrayRef<Extent> extents : lengths()) {
    Extent innermost = innermostOf(extents);
    if (!(innermost == Extent{1, nullptr}))
      lanes = std::min(lanes, lanesOf(frame.source, innermost));
  }
  math.lanes = lanes;
}

/// The team that the tile asks for; without a tile, one whose threads hold the
/// row.
void Rows::chooseTeam() {
  constexpr int64_t warp = 32;
  bool byWarp = tile.sizes.size() == 3 && tile.sizes[0] > 1;
  if (tile.sizes.size() != 3) {
    int64_t length = 1;
    for (ArrayRef<Extent> extents : lengths()) {
      Extent own = math.product(extents);
      length = std::max(length, own.isStatic() ? own.size : kHeldElements * 32);
    }
    byWarp = length <= kHeldElements * warp / 2;
  }
  int64_t threads = std::max(warp, tile.threads / warp * warp);
  team = GpuTeam::create(frame,
                         space.acrossRows ? GpuTeam::Column
                         : byWarp         ? GpuTeam::Warp
                                          : GpuTeam::Block,
                         threads);
}

void Rows::findRow() {
  Extent rows = math.product(space.rows);
  LaneIndex number =
      math.add(math.scale({frame.blockId(), 0, 1}, {team.teams, nullptr}),
               {team.team, 0, 1});
  if (!rows.isStatic() || rows.size % team.teams) {
    rowInside = math.less(number, math.of(rows));
    number = math.min(number, math.sub(math.of(rows), math.constant(1)));
  }
  row = *math.delinearize(number, space.rows);
  frame.launch(frame.hostProduct(space.rows).ceilDiv(team.teams), team.threads);
}

Lanes Rows::indicesOf(unsigned output, const Lanes &along) {
  const GpuRowSpace::Result &dims = space.results[output];
  Lanes indices(dims.rows.size() + dims.along.size(), LaneIndex{});
  for (auto [dim, index] : llvm::zip_equal(dims.rows, row))
    indices[dim] = index;
  for (auto [dim, index] : llvm::zip_equal(dims.along, along))
    indices[dim] = index;
  return indices;
}

LaneIndex Rows::positionOf(LaneIndex group, const Extent &length, bool surely,
                           Value &inside) {
  int64_t lanes = math.lanes;
  LaneIndex position = math.scale(group, {lanes, nullptr});
  if (!surely) {
    inside = math.less(position, math.of(length));
    position =
        math.min(position, math.sub(math.of(length), math.constant(lanes)));
  }
  position.step = lanes > 1 ? 1 : 0;
  return position;
}

bool Rows::isHeld(const Extent &length) const {
  int64_t perRound = team.members * math.lanes;
  bool streams = tile.sizes.size() == 3 && tile.sizes[2] == Streamed;
  return !streams && length.isStatic() &&
         llvm::divideCeil(length.size, perRound) * math.lanes <= kHeldElements;
}

Value Rows::forEach(const Extent &length, Value start, Body body) {
  int64_t perRound = team.members * math.lanes;
  LaneIndex member{team.member, 0, 1};
  if (isHeld(length)) {
    Value carried = start;
    for (int64_t at = 0; at < length.size && !elements.failedOp;
         at += perRound) {
      Value inside;
      LaneIndex group =
          math.add(member, math.constant(at / int64_t(math.lanes)));
      LaneIndex position =
          positionOf(group, length, at + perRound <= length.size, inside);
      carried = body(position, inside, carried);
    }
    return carried;
  }
  Extent rounds;
  if (length.isStatic())
    rounds = {int64_t(llvm::divideCeil(length.size, perRound)), nullptr};
  else
    rounds = {ShapedType::kDynamic,
              math.div(math.add(math.of(length), math.constant(perRound - 1)),
                       {perRound, nullptr})
                  ->base};
  bool surely = length.isStatic() && length.size % perRound == 0;
  SmallVector<Value> starts;
  if (start)
    starts.push_back(start);
  SmallVector<Value> results = elements.loops(
      {rounds}, starts, [&](ArrayRef<LaneIndex> round, ArrayRef<Value> values) {
        Value inside;
        LaneIndex group = math.add(
            math.scale(round.front(), {team.members, nullptr}), member);
        LaneIndex position = positionOf(group, length, surely, inside);
        Value value = body(position, inside, start ? values[0] : nullptr);
        return value ? SmallVector<Value>{value} : SmallVector<Value>{};
      });
  return results.empty() ? nullptr : results.front();
}

Value Rows::combineLanes(Value value, Operation *combiner) {
  if (!isa<VectorType>(value.getType()))
    return value;
  Value result;
  for (int64_t lane = 0; lane < int64_t(math.lanes); ++lane) {
    Value one = vector::ExtractOp::create(builder, loc, value, lane);
    result = result ? combineValues(builder, combiner, result, one) : one;
  }
  return result;
}

Value Rows::reduce(const RowReduction &reduction) {
  linalg::LinalgOp op = reduction.op;
  Operation *combiner = combinerOf(op, reduction.result);
  SmallVector<unsigned> dims;
  op.getReductionDims(dims);
  SmallVector<Extent> all = elements.loopExtents(op), along;
  for (unsigned dim : dims)
    along.push_back(all[dim]);
  Value neutral = arith::ConstantOp::create(
      builder, loc, *arith::getNeutralElement(combiner));
  Extent length = math.product(along);
  if (op->hasAttr(kCompensatedAttr) && !isHeld(length)) {
    elements.failedOp = op;
    elements.failure = "a long sum that needs compensation";
    return nullptr;
  }
  Value total = forEach(
      length, elements.splat(neutral),
      [&](LaneIndex position, Value inside, Value carried) -> Value {
        std::optional<Lanes> open = math.delinearize(position, along);
        if (!open)
          return fail(op);
        Lanes loops = reduction.loops;
        for (auto [dim, index] : llvm::zip_equal(dims, *open))
          loops[dim] = index;
        Value next = elements.step(op, reduction.result, loops, carried);
        if (!next || !inside)
          return next;
        return arith::SelectOp::create(builder, loc, inside, next, carried);
      });
  if (!total || elements.failedOp)
    return nullptr;
  total = team.combine(frame, combineLanes(total, combiner), combiner);
  std::optional<Lanes> start = math.apply(
      op.getMatchingIndexingMap(op.getDpsInitOperand(reduction.result)),
      reduction.loops);
  Value init =
      start ? elements.at(op.getDpsInitOperand(reduction.result)->get(), *start)
            : nullptr;
  Attribute known;
  if (init && matchPattern(init, m_Constant(&known)) &&
      known == *arith::getNeutralElement(combiner))
    return total;
  return init ? combineValues(builder, combiner, init, total) : nullptr;
}

bool Rows::reduceAll(unsigned output) {
  Lanes along(space.results[output].along.size(), math.constant(0));
  auto needed = reductionsOf(elements, frame.outputs[output].value,
                             indicesOf(output, along),
                             [&](const Extent &) { return math.constant(0); });
  if (!needed)
    return false;
  for (RowReduction &reduction : *needed) {
    Key key = keyOf(reduction.op, reduction.result, reduction.loops);
    if (done.count(key))
      continue;
    Value value = reduce(reduction);
    if (!value)
      return false;
    done[key] = value;
  }
  return true;
}

bool Rows::store(unsigned number) {
  const GpuOutput &output = frame.outputs[number];
  SmallVector<Extent> all = elements.extents(output.value), along;
  for (unsigned dim : space.results[number].along)
    along.push_back(all[dim]);
  Extent length = math.product(along);
  // A statistic of the row: lanes would all write it.
  bool single = length == Extent{1, nullptr};
  unsigned lanes = math.lanes;
  if (single)
    math.lanes = 1;
  auto both = [&](Value a, Value b) -> Value {
    return a && b ? arith::AndIOp::create(builder, loc, a, b) : a ? a : b;
  };
  forEach(length, nullptr,
          [&](LaneIndex position, Value inside, Value) -> Value {
            std::optional<Lanes> open = math.delinearize(position, along);
            if (!open)
              return fail(output.value.getDefiningOp());
            Lanes indices = indicesOf(number, *open);
            Value value = elements.at(output.value, indices);
            std::optional<LaneIndex> place = math.linearize(indices, all);
            if (!value || !place)
              return nullptr;
            elements.storeIf(both(rowInside, inside), value, output.pointer,
                             *place, output.element);
            return nullptr;
          });
  math.lanes = lanes;
  return !elements.failedOp;
}

bool Rows::emit() {
  chooseTeam();
  chooseLanes();
  findRow();
  elements.reduce = [&](linalg::LinalgOp op, unsigned result,
                        ArrayRef<LaneIndex> loops) -> Value {
    auto found = done.find(keyOf(op, result, loops));
    return found == done.end() ? nullptr : found->second;
  };
  for (unsigned output = 0; output < frame.outputs.size(); ++output)
    if (!reduceAll(output))
      return false;
  for (unsigned output = 0; output < frame.outputs.size(); ++output)
    if (!store(output))
      return false;
  return true;
}

bool fuse::emitRows(GpuFrame &frame, const GpuTile &tile, std::string &why) {
  std::optional<GpuRowSpace> space = GpuRowSpace::of(frame, why);
  if (!space || frame.outputs.empty())
    return false;
  if (Rows(frame, *space, tile).emit())
    return true;
  why = "no code for " + (frame.elements.failure.empty()
                              ? std::string("its rows")
                              : frame.elements.failure);
  return false;
}
