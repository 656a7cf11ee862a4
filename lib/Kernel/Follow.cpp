//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Changes nothing.
//
//   producer loops -> its result's dimensions -> across each glue -> the
//   operand's dimensions -> consumer loops
//
//===----------------------------------------------------------------------===//

#include "Follow.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace fuse;

/// True where an extent of 1 makes the dimension nothing to follow.
static bool isUnit(Type type, int64_t dim) {
  return cast<ShapedType>(type).getDimSize(dim) == 1;
}

Origin fuse::ownLoop(unsigned loop, int64_t extent) {
  if (extent == 1)
    return {};
  return {Origin::Own, {{loop, 1, extent}}};
}

/// Origins of a tensor's dimensions from those of the loops that index them.
static std::optional<Origins> toDims(AffineMap map, const Origins &loops,
                                     Type type) {
  Origins dims(map.getNumResults());
  for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
    if (isUnit(type, dim))
      continue;
    auto loop = dyn_cast<AffineDimExpr>(expr);
    if (!loop)
      return std::nullopt;
    dims[dim] = loops[loop.getPosition()];
  }
  return dims;
}

static std::optional<Origins> toLoops(AffineMap map, const Origins &dims,
                                      Type type) {
  Origins loops(map.getNumDims());
  for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
    if (isUnit(type, dim) || dims[dim].kind == Origin::Unknown)
      continue;
    auto loop = dyn_cast<AffineDimExpr>(expr);
    if (!loop)
      return std::nullopt;
    // A diagonal walks along two dimensions at once.
    Origin &known = loops[loop.getPosition()];
    if (known.kind != Origin::Unknown && known != dims[dim])
      return std::nullopt;
    known = dims[dim];
  }
  return loops;
}

/// Joins an inner piece to the one outside of it, if they are neighbours.
static void appendPiece(SmallVectorImpl<Piece> &pieces, Piece inner) {
  if (!pieces.empty()) {
    Piece &outer = pieces.back();
    if (outer.loop == inner.loop && !ShapedType::isDynamic(inner.extent) &&
        outer.stride == inner.stride * inner.extent) {
      outer.stride = inner.stride;
      if (!ShapedType::isDynamic(outer.extent))
        outer.extent *= inner.extent;
      return;
    }
  }
  pieces.push_back(inner);
}

/// Takes the innermost pieces that make up `extent` off `rest`; nothing if
/// that is not known to be possible. `last`: no dimension outside needs any.
static std::optional<SmallVector<Piece, 1>>
takePieces(SmallVector<Piece> &rest, int64_t extent, bool last) {
  SmallVector<Piece, 1> taken;
  if (last)
    taken.assign(rest.rbegin(), rest.rend());
  else if (ShapedType::isDynamic(extent))
    return std::nullopt;
  while (!last && extent > 1) {
    if (rest.empty())
      return std::nullopt;
    Piece &inner = rest.back();
    bool dynamic = ShapedType::isDynamic(inner.extent);
    if (!dynamic && extent % inner.extent == 0) {
      extent /= inner.extent;
      taken.push_back(inner);
      rest.pop_back();
    } else if (dynamic ? rest.size() == 1 : inner.extent % extent == 0) {
      taken.push_back({inner.loop, inner.stride, extent});
      inner.stride *= extent;
      if (!dynamic)
        inner.extent /= extent;
      extent = 1;
    } else {
      return std::nullopt;
    }
  }
  SmallVector<Piece, 1> result;
  for (const Piece &piece : llvm::reverse(taken))
    appendPiece(result, piece);
  return result;
}

/// Expanded dimensions `dims` of one collapsed dimension that is `from`.
static bool expandDim(ArrayRef<int64_t> dims, Type expanded, const Origin &from,
                      Origins &to) {
  SmallVector<Piece> rest(from.pieces.begin(), from.pieces.end());
  SmallVector<int64_t> used;
  for (int64_t dim : dims)
    if (!isUnit(expanded, dim))
      used.push_back(dim);
  for (int64_t dim : llvm::reverse(used)) {
    to[dim].kind = from.kind;
    if (from.kind != Origin::Own)
      continue;
    auto pieces = takePieces(rest, cast<ShapedType>(expanded).getDimSize(dim),
                             /*last=*/dim == used.front());
    if (!pieces)
      return false;
    to[dim].pieces = *pieces;
  }
  return true;
}

/// One collapsed dimension from its expanded ones: of one kind, since the order
/// of elements is kept. An unknown one among known ones hides them.
static bool collapseDim(ArrayRef<int64_t> dims, Type expanded,
                        const Origins &from, Origin &to) {
  bool unknown = false;
  for (int64_t dim : dims) {
    if (isUnit(expanded, dim))
      continue;
    unknown |= from[dim].kind == Origin::Unknown;
    if (from[dim].kind == Origin::Unknown)
      continue;
    if (to.kind != Origin::Unknown && to.kind != from[dim].kind)
      return false;
    to.kind = from[dim].kind;
    for (const Piece &piece : from[dim].pieces)
      appendPiece(to.pieces, piece);
  }
  if (unknown && to.kind == Origin::Own)
    to = {};
  return true;
}

static std::optional<Origins> acrossReshape(ArrayRef<ReassociationIndices> dims,
                                            Type expanded, bool expand,
                                            const Origins &from) {
  Origins to(expand ? cast<ShapedType>(expanded).getRank() : dims.size());
  for (auto [collapsed, group] : llvm::enumerate(dims))
    if (expand ? !expandDim(group, expanded, from[collapsed], to)
               : !collapseDim(group, expanded, from, to[collapsed]))
      return std::nullopt;
  return to;
}

/// True if `glue` leaves every Own dimension alone: slices, pads and parts of a
/// concat may only cut along what a block owns.
static bool keepsOwn(Type from, Type to, const Origins &dims) {
  auto source = cast<ShapedType>(from), result = cast<ShapedType>(to);
  if (source.getRank() != result.getRank())
    return false;
  for (int64_t dim = 0; dim < source.getRank(); ++dim)
    if (source.getDimSize(dim) != result.getDimSize(dim) &&
        dims[dim].kind == Origin::Own)
      return false;
  return true;
}

/// Origins of `to`, a value next to `from` across `glue`, in either direction.
static std::optional<Origins> acrossGlue(Operation *glue, Value from, Value to,
                                         bool down, const Origins &dims) {
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(glue))
    return acrossReshape(expand.getReassociationIndices(),
                         expand.getResultType(), down, dims);
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(glue))
    return acrossReshape(collapse.getReassociationIndices(),
                         collapse.getSrcType(), !down, dims);
  if (auto moved = dyn_cast<linalg::LinalgOp>(glue)) {
    AffineMap read = moved.getMatchingIndexingMap(moved.getDpsInputOperand(0)),
              written =
                  moved.getMatchingIndexingMap(moved.getDpsInitOperand(0));
    std::optional<Origins> loops =
        toLoops(down ? read : written, dims, from.getType());
    if (!loops)
      return std::nullopt;
    return toDims(down ? written : read, *loops, to.getType());
  }
  if (isa<tensor::CastOp>(glue))
    return dims;
  bool cuts = isa<tensor::PadOp, tensor::ExtractSliceOp, tensor::InsertSliceOp,
                  tensor::ConcatOp>(glue);
  if (!cuts || !keepsOwn(from.getType(), to.getType(), dims))
    return std::nullopt;
  return dims;
}

/// The values along an edge: the root, after each glue, ending at the operand.
static SmallVector<Value> valuesAlong(const GraphInput &input) {
  SmallVector<Value> values{input.root};
  for (Operation *glue : input.glue)
    values.push_back(glue->getResult(0));
  return values;
}

/// Which dimensions of an edge's first value its producer's loops index.
static AffineMap resultMap(linalg::LinalgOp producer, const GraphInput &input) {
  unsigned result = cast<OpResult>(input.root).getResultNumber();
  return producer.getMatchingIndexingMap(producer.getDpsInitOperand(result));
}

std::optional<Origins> fuse::followForward(const FusionGraph &graph,
                                           unsigned producer, unsigned consumer,
                                           const GraphInput &input,
                                           const Origins &loops) {
  SmallVector<Value> values = valuesAlong(input);
  std::optional<Origins> dims =
      toDims(resultMap(graph.op(producer), input), loops, input.root.getType());
  for (size_t i = 0; dims && i < input.glue.size(); ++i)
    dims = acrossGlue(input.glue[i], values[i], values[i + 1], /*down=*/true,
                      *dims);
  if (!dims)
    return std::nullopt;
  linalg::LinalgOp to = graph.op(consumer);
  OpOperand &operand = to->getOpOperand(input.operand);
  return toLoops(to.getMatchingIndexingMap(&operand), *dims,
                 operand.get().getType());
}

std::optional<Origins> fuse::followBackward(const FusionGraph &graph,
                                            unsigned producer,
                                            unsigned consumer,
                                            const GraphInput &input,
                                            const Origins &loops) {
  SmallVector<Value> values = valuesAlong(input);
  linalg::LinalgOp to = graph.op(consumer);
  OpOperand &operand = to->getOpOperand(input.operand);
  std::optional<Origins> dims = toDims(to.getMatchingIndexingMap(&operand),
                                       loops, operand.get().getType());
  for (size_t i = input.glue.size(); dims && i-- > 0;)
    dims = acrossGlue(input.glue[i], values[i + 1], values[i], /*down=*/false,
                      *dims);
  if (!dims)
    return std::nullopt;
  return toLoops(resultMap(graph.op(producer), input), *dims,
                 input.root.getType());
}

bool fuse::mergeOrigins(Origins &into, const Origins &from) {
  if (into.empty())
    into.resize(from.size());
  for (auto [mine, other] : llvm::zip_equal(into, from)) {
    if (other.kind == Origin::Unknown || other == mine)
      continue;
    if (mine.kind != Origin::Unknown)
      return false;
    mine = other;
  }
  return true;
}
