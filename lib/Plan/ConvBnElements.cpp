//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Elements of float constants, as doubles and back. Changes nothing.
//
//===----------------------------------------------------------------------===//

#include "ConvBnParts.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Matchers.h"
#include <cstring>

using namespace mlir;
using namespace fuse;

double fuse::roundTo(FloatType type, double value) {
  if (type.isF64())
    return value;
  if (type.isF32())
    return static_cast<float>(value);
  llvm::APFloat rounded(value);
  bool losesInfo;
  rounded.convert(type.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven,
                  &losesInfo);
  return rounded.convertToDouble();
}

template <typename T> static std::vector<double> widen(ArrayRef<char> raw) {
  std::vector<double> values(raw.size() / sizeof(T));
  for (auto [i, value] : llvm::enumerate(values)) {
    T element;
    std::memcpy(&element, raw.data() + i * sizeof(T), sizeof(T));
    value = element;
  }
  return values;
}

static std::vector<double> decode(FloatType type, ArrayRef<char> raw) {
  if (type.isF64())
    return widen<double>(raw);
  if (type.isF32())
    return widen<float>(raw);
  std::vector<double> values(raw.size() / 2);
  for (auto [i, value] : llvm::enumerate(values)) {
    uint16_t bits;
    std::memcpy(&bits, raw.data() + i * 2, 2);
    value = llvm::APFloat(type.getFloatSemantics(), llvm::APInt(16, bits))
                .convertToDouble();
  }
  return values;
}

std::vector<char> fuse::encodeElements(FloatType type,
                                       ArrayRef<double> values) {
  size_t width = type.getWidth() / 8;
  std::vector<char> raw(values.size() * width);
  for (auto [i, value] : llvm::enumerate(values)) {
    llvm::APFloat element(value);
    float single = static_cast<float>(value);
    uint16_t half = 0;
    const void *source = &value;
    if (type.isF32()) {
      source = &single;
    } else if (width == 2) {
      bool losesInfo;
      element.convert(type.getFloatSemantics(),
                      llvm::APFloat::rmNearestTiesToEven, &losesInfo);
      half = element.bitcastToAPInt().getZExtValue();
      source = &half;
    }
    std::memcpy(raw.data() + i * width, source, width);
  }
  return raw;
}

/// Raw elements of a dense or resource constant; one element for a splat.
static std::optional<ArrayRef<char>> rawElements(Attribute attr) {
  if (auto dense = dyn_cast<DenseElementsAttr>(attr))
    return dense.getRawData();
  auto resource = dyn_cast<DenseResourceElementsAttr>(attr);
  AsmResourceBlob *blob =
      resource ? resource.getRawHandle().getBlob() : nullptr;
  if (!blob)
    return std::nullopt;
  return blob->getData();
}

/// The constant behind reshapes, casts and transposes of it; transposes are
/// added to `transposes`, the last one first.
static Value constantRoot(Value value,
                          SmallVectorImpl<linalg::TransposeOp> &transposes) {
  // Code that is never reached may go in circles.
  for (unsigned i = 0; i < 64; ++i) {
    Operation *def = value.getDefiningOp();
    if (auto transpose = dyn_cast_or_null<linalg::TransposeOp>(def))
      transposes.push_back(transpose);
    else if (!isa_and_nonnull<tensor::ExpandShapeOp, tensor::CollapseShapeOp,
                              tensor::CastOp>(def))
      break;
    value = def->getOperand(0);
  }
  return value;
}

/// The elements of the result of `op`, from those of its operand.
static std::vector<double> transposed(linalg::TransposeOp op,
                                      ArrayRef<double> elements) {
  ArrayRef<int64_t> from = op.getInput().getType().getShape();
  SmallVector<int64_t> sourceStrides(from.size(), 1), shape, strides;
  for (size_t dim = from.size(); dim-- > 1;)
    sourceStrides[dim - 1] = sourceStrides[dim] * from[dim];
  for (int64_t dim : op.getPermutation()) {
    shape.push_back(from[dim]);
    strides.push_back(sourceStrides[dim]);
  }
  std::vector<double> result(elements.size());
  StridedIndex index(shape, strides);
  for (double &value : result) {
    value = elements[index.index()];
    index.next();
  }
  return result;
}

static bool isStaticFloat(Type type) {
  auto shaped = dyn_cast<RankedTensorType>(type);
  return shaped && shaped.hasStaticShape() && shaped.getNumElements() != 0 &&
         isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(
             shaped.getElementType());
}

std::optional<ConstantElements> fuse::constantElements(Value value) {
  SmallVector<linalg::TransposeOp> transposes;
  Value root = constantRoot(value, transposes);
  Attribute attr;
  if (!isStaticFloat(root.getType()) || !isStaticFloat(value.getType()) ||
      !matchPattern(root, m_Constant(&attr)) ||
      !llvm::all_of(transposes, [](linalg::TransposeOp op) {
        return isStaticFloat(op.getInput().getType());
      }))
    return std::nullopt;
  std::optional<ArrayRef<char>> raw = rawElements(attr);
  auto shaped = cast<RankedTensorType>(root.getType());
  auto type = cast<FloatType>(shaped.getElementType());
  size_t count = shaped.getNumElements(), width = type.getWidth() / 8;
  if (!raw || (raw->size() != width && raw->size() != count * width))
    return std::nullopt;
  ConstantElements elements;
  elements.values = decode(type, *raw);
  elements.values.resize(count, elements.values.front());
  for (linalg::TransposeOp op : llvm::reverse(transposes))
    elements.values = transposed(op, elements.values);
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(attr))
    elements.resource = resource.getRawHandle().getKey().str();
  return elements;
}
