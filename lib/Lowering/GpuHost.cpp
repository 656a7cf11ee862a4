//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Launches and copies by the symbols of the GPU runtime (mgpu*).
//
//===----------------------------------------------------------------------===//

#include "GpuHost.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/LLVMIR/FunctionCallUtils.h"

using namespace mlir;
using namespace fuse;

GpuHost::GpuHost(func::FuncOp function)
    : builder(function.getContext()), loc(function.getLoc()),
      module(function->getParentOfType<ModuleOp>()),
      pointer(LLVM::LLVMPointerType::get(function.getContext())),
      integer(builder.getI64Type()) {
  builder.setInsertionPointToStart(&function.getBody().front());
  stream = call("mgpuStreamCreate", {}, pointer, {});
}

Value GpuHost::call(StringRef name, TypeRange types, Type result,
                    ValueRange operands) {
  auto function = LLVM::lookupOrCreateFn(builder, module, name,
                                         llvm::to_vector(types), result);
  auto made = LLVM::CallOp::create(builder, loc, *function, operands);
  return made->getNumResults() ? made->getResult(0) : Value();
}

Value GpuHost::constant(int64_t value) {
  return arith::ConstantIntOp::create(builder, loc, integer, value);
}

Value GpuHost::toInteger(Value value) {
  return arith::IndexCastOp::create(builder, loc, integer, value);
}

void GpuHost::wait(Operation *op) {
  builder.setInsertionPoint(op);
  call("mgpuStreamSynchronize", pointer,
       LLVM::LLVMVoidType::get(op->getContext()), stream);
}

void GpuHost::end(Operation *op) {
  builder.setInsertionPoint(op);
  call("mgpuStreamDestroy", pointer, LLVM::LLVMVoidType::get(op->getContext()),
       stream);
}

/// Bytes of an element in memory.
static int64_t elementBytes(Type element) {
  return element.isIndex()
             ? 8
             : llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
}

FailureOr<Value> GpuHost::address(Operation *op, Value buffer) {
  auto type = dyn_cast<MemRefType>(buffer.getType());
  if (!type || !type.areTrailingDimsContiguous(type.getRank()))
    return op->emitError() << "takes a buffer of type " << buffer.getType()
                           << ", expected a contiguous one";
  Value start =
      memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, buffer);
  if (type.getLayout().isIdentity())
    return toInteger(start);
  Value offset = memref::ExtractStridedMetadataOp::create(builder, loc, buffer)
                     .getOffset();
  Value bytes = arith::ConstantIndexOp::create(
      builder, loc, ::elementBytes(type.getElementType()));
  offset = arith::MulIOp::create(builder, loc, offset, bytes);
  return toInteger(arith::AddIOp::create(builder, loc, start, offset));
}

Value GpuHost::bytesOf(Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  int64_t known = ::elementBytes(type.getElementType());
  Value bytes;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    if (!type.isDynamicDim(dim)) {
      known *= type.getDimSize(dim);
      continue;
    }
    Value extent = toInteger(memref::DimOp::create(builder, loc, buffer, dim));
    bytes = bytes ? arith::MulIOp::create(builder, loc, bytes, extent) : extent;
  }
  Value factor = constant(known);
  return bytes ? arith::MulIOp::create(builder, loc, bytes, factor) : factor;
}

LogicalResult GpuHost::copy(Operation *op, Value to, Value from) {
  builder.setInsertionPoint(op);
  loc = op->getLoc();
  FailureOr<Value> target = address(op, to), source = address(op, from);
  if (failed(target) || failed(source))
    return failure();
  Value values[] = {LLVM::IntToPtrOp::create(builder, loc, pointer, *target),
                    LLVM::IntToPtrOp::create(builder, loc, pointer, *source),
                    bytesOf(to), stream};
  call("mgpuMemcpy", {pointer, pointer, integer, pointer},
       LLVM::LLVMVoidType::get(op->getContext()), values);
  return success();
}

LogicalResult GpuHost::arguments(LaunchOp launch,
                                 SmallVectorImpl<Value> &values,
                                 SmallVectorImpl<Value> &extents) {
  for (Value operand : launch.getOperands()) {
    if (!isa<BaseMemRefType>(operand.getType())) {
      values.push_back(operand.getType().isIndex() ? toInteger(operand)
                                                   : operand);
      continue;
    }
    FailureOr<Value> start = address(launch, operand);
    if (failed(start))
      return failure();
    values.push_back(LLVM::IntToPtrOp::create(builder, loc, pointer, *start));
    auto type = cast<MemRefType>(operand.getType());
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      if (type.isDynamicDim(dim)) {
        extents.push_back(memref::DimOp::create(builder, loc, operand, dim));
        values.push_back(toInteger(extents.back()));
      }
  }
  return success();
}

FailureOr<SmallVector<Value>>
GpuHost::grid(LaunchOp launch, gpu::GPUFuncOp kernel, ValueRange extents) {
  auto attr = kernel->getAttrOfType<AffineMapAttr>(kGridAttr);
  AffineMap map = attr ? attr.getValue() : AffineMap();
  if (!map)
    return launch.emitError() << "kernel " << launch.getKernel() << " has no '"
                              << kGridAttr << "'";
  if (map.getNumResults() != 3 || map.getNumDims() ||
      map.getNumSymbols() != extents.size())
    return launch.emitError()
           << "kernel " << launch.getKernel() << " has the grid " << attr
           << ", expected 3 results from " << extents.size() << " symbols";
  auto blocks = affine::expandAffineMap(builder, loc, map, extents);
  if (!blocks)
    return launch.emitError() << "the grid " << attr << " of kernel "
                              << launch.getKernel() << " cannot be computed";
  return llvm::to_vector_of<Value>(*blocks);
}

/// `dims` as the operands of a launch.
static gpu::KernelDim3 threeOf(ArrayRef<Value> dims) {
  return {dims[0], dims[1], dims[2]};
}

LogicalResult GpuHost::launch(LaunchOp launch) {
  builder.setInsertionPoint(launch);
  loc = launch.getLoc();
  auto kernel = SymbolTable::lookupNearestSymbolFrom<gpu::GPUFuncOp>(
      launch, launch.getKernelAttr());
  if (!kernel || !kernel.getKnownBlockSize())
    return launch.emitError()
           << "launches " << launch.getKernel()
           << ", expected a gpu.func with 'known_block_size'";
  SmallVector<Value> values, extents;
  if (failed(arguments(launch, values, extents)))
    return failure();
  if (!llvm::equal(ValueRange(values).getTypes(), kernel.getArgumentTypes()))
    return launch.emitError() << "passes " << ValueRange(values).getTypes()
                              << " to kernel " << launch.getKernel()
                              << ", which takes " << kernel.getArgumentTypes();
  FailureOr<SmallVector<Value>> blocks = grid(launch, kernel, extents);
  if (failed(blocks))
    return failure();
  // An empty grid is no launch to the runtime.
  Value some;
  for (Value &dim : *blocks) {
    dim = toInteger(dim);
    Value isSome = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::sgt, dim, constant(0));
    some = some ? arith::AndIOp::create(builder, loc, some, isSome) : isSome;
  }
  auto then = scf::IfOp::create(builder, loc, some);
  builder.setInsertionPointToStart(then.thenBlock());
  SmallVector<Value> threads;
  ArrayRef<int32_t> size = *kernel.getKnownBlockSize();
  for (int32_t count : size)
    threads.push_back(constant(count));
  Value shared;
  if (auto bytes = kernel->getAttrOfType<IntegerAttr>(kDynamicSharedAttr))
    shared = arith::ConstantOp::create(
        builder, loc, builder.getI32IntegerAttr(bytes.getInt()));
  gpu::LaunchFuncOp::create(builder, loc, launch.getKernelAttr(),
                            threeOf(*blocks), threeOf(threads), shared, values,
                            stream);
  return success();
}
