//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Code of several kernels in one function, by ranges of blocks.
//
//   q(x, wq, yq) with 6 blocks, k(x, wk, yk) with 6
//     ==>   b = block; if (b < 6) { q, b its block } else { k, b - 6 its block
//     }
//   q and k of one function
//     ==>   w = b < 6 ? wq : wk; ...; the function, b < 6 ? b : b - 6 its block
//
// Blocks of one sibling come after those of another, not in turns: a GPU starts
// blocks in order, so that at a time the weights of one sibling are in the
// cache. What all read is there already when the second one starts, if it fits;
// if it does not, neither would the weights of all of them.
//
//===----------------------------------------------------------------------===//

#include "GpuMerge.h"
#include "GpuSharedLayout.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace fuse;

//===----------------------------------------------------------------------===//
// Whether
//===----------------------------------------------------------------------===//

static AffineMap gridOf(gpu::GPUFuncOp kernel) {
  auto grid = kernel->getAttrOfType<AffineMapAttr>(kGridAttr);
  return grid ? grid.getValue() : AffineMap();
}

std::string fuse::whyApart(ArrayRef<gpu::GPUFuncOp> kernels) {
  std::string why;
  llvm::raw_string_ostream text(why);
  std::optional<ArrayRef<int32_t>> first =
      gpu::GPUFuncOp(kernels.front()).getKnownBlockSize();
  for (gpu::GPUFuncOp kernel : kernels) {
    AffineMap grid = gridOf(kernel);
    std::optional<ArrayRef<int32_t>> own = kernel.getKnownBlockSize();
    bool isLine = grid && own && (*own)[1] == 1 && (*own)[2] == 1 &&
                  grid.getResult(1) == 1 && grid.getResult(2) == 1;
    if (!isLine || !kernel.getBody().hasOneBlock()) {
      text << "'" << kernel.getName() << "' has no blocks in a line";
      return why;
    }
    if ((*own)[0] != (*first)[0]) {
      text << "blocks of " << (*own)[0] << " threads beside blocks of "
           << (*first)[0];
      return why;
    }
    for (BlockArgument buffer : kernel.getWorkgroupAttributions())
      for (Operation *user : buffer.getUsers())
        if (cast<MemRefType>(buffer.getType()).getRank() != 1 ||
            !isSharedAccess(user)) {
          text << "shared memory that '" << user->getName() << "' takes";
          return why;
        }
  }
  return why;
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

namespace {
class Merger {
public:
  Merger(const GpuWhole &whole, ArrayRef<GpuPart> parts)
      : whole(whole), parts(parts),
        builder(gpu::GPUFuncOp(parts.front().kernel)->getContext()),
        loc(gpu::GPUFuncOp(parts.front().kernel).getLoc()) {}

  gpu::GPUFuncOp merge();

private:
  void create();
  void addShared();
  void state();
  void findBlocks();
  Value choose(ArrayRef<Value> values, unsigned first);
  void emitRun(unsigned first, unsigned count);
  struct Buffers {
    SmallVector<UnrealizedConversionCastOp, 4> standIns;
    llvm::MapVector<StringAttr, Value> globals;
  };
  Buffers placeShared(gpu::GPUFuncOp part, IRMapping &mapping);
  void redirect(Block *code, Buffers &buffers, Value own, Value all);

  const GpuWhole &whole;
  ArrayRef<GpuPart> parts;
  OpBuilder builder;
  Location loc;
  gpu::GPUFuncOp merged;
  Value shared;                      ///< nothing without shared memory
  Value block;                       ///< of the whole
  SmallVector<Value> blocks, starts; ///< by part
};
} // namespace

void Merger::create() {
  gpu::GPUFuncOp first = parts.front().kernel;
  auto module = first->getParentOfType<gpu::GPUModuleOp>();
  builder.setInsertionPointToEnd(module.getBody());
  merged = gpu::GPUFuncOp::create(builder, loc, whole.name,
                                  builder.getFunctionType(whole.types, {}));
  merged->setAttr(gpu::GPUDialect::getKernelFuncAttrName(),
                  builder.getUnitAttr());
  for (const GpuPart &part : parts)
    for (auto [number, argument] : llvm::enumerate(part.arguments))
      merged.setArgAttrs(argument,
                         gpu::GPUFuncOp(part.kernel).getArgAttrDict(number));
  SymbolTable(module).insert(merged);
  builder.setInsertionPointToStart(&merged.getBody().front());
}

/// One buffer that is large enough for each part.
void Merger::addShared() {
  constexpr int64_t alignment = 16; // of the widest access
  int64_t bytes = 0;
  for (const GpuPart &part : parts)
    bytes = std::max(bytes, SharedLayout::of(part.kernel).bytes);
  if (!bytes)
    return;
  OpBuilder::InsertionGuard guard(builder);
  auto module = merged->getParentOfType<gpu::GPUModuleOp>();
  builder.setInsertionPointToStart(module.getBody());
  auto global = LLVM::GlobalOp::create(
      builder, loc, LLVM::LLVMArrayType::get(builder.getI8Type(), bytes),
      /*isConstant=*/false, LLVM::Linkage::Internal,
      (merged.getName() + "_shared").str(), /*value=*/Attribute(), alignment,
      unsigned(NVVM::NVVMMemorySpace::Shared));
  builder.setInsertionPointToStart(&merged.getBody().front());
  shared = LLVM::AddressOfOp::create(builder, loc, global);
}

/// States the launch, and what the parts state of theirs.
void Merger::state() {
  MLIRContext *context = builder.getContext();
  AffineExpr one = getAffineConstantExpr(1, context),
             sum = getAffineConstantExpr(0, context);
  int64_t dynamicShared = 0;
  for (const GpuPart &part : parts) {
    SmallVector<AffineExpr> symbols;
    for (unsigned symbol : part.symbols)
      symbols.push_back(getAffineSymbolExpr(symbol, context));
    sum = sum + gridOf(part.kernel).getResult(0).replaceSymbols(symbols);
    gpu::GPUFuncOp kernel = part.kernel;
    if (auto bytes = kernel->getAttrOfType<IntegerAttr>(kDynamicSharedAttr))
      dynamicShared = std::max(dynamicShared, bytes.getInt());
    StringRef minimum = NVVM::NVVMDialect::getMinctasmAttrName();
    for (StringRef name : {StringRef(kPlainAttr), minimum})
      if (Attribute value = kernel->getAttr(name))
        merged->setAttr(name, value);
  }
  merged->setAttr(kGridAttr,
                  AffineMapAttr::get(AffineMap::get(0, whole.symbols.size(),
                                                    {sum, one, one}, context)));
  merged.setKnownBlockSizeAttr(
      gpu::GPUFuncOp(parts.front().kernel).getKnownBlockSizeAttr());
  if (dynamicShared)
    merged->setAttr(kDynamicSharedAttr,
                    builder.getI64IntegerAttr(dynamicShared));
}

void Merger::findBlocks() {
  block = gpu::BlockIdOp::create(builder, loc, gpu::Dimension::x);
  SmallVector<Value> symbols;
  for (unsigned argument : whole.symbols)
    symbols.push_back(arith::IndexCastOp::create(
        builder, loc, builder.getIndexType(), merged.getArgument(argument)));
  Value start = arith::ConstantIndexOp::create(builder, loc, 0);
  for (const GpuPart &part : parts) {
    SmallVector<Value> own;
    for (unsigned symbol : part.symbols)
      own.push_back(symbols[symbol]);
    blocks.push_back(affine::expandAffineExpr(
        builder, loc, gridOf(part.kernel).getResult(0), {}, own));
    starts.push_back(start);
    start = arith::AddIOp::create(builder, loc, start, blocks.back());
  }
  starts.push_back(start);
}

/// Of `values` of the parts from `first` on that of the part whose block this
/// is.
Value Merger::choose(ArrayRef<Value> values, unsigned first) {
  Value result = values.back();
  for (unsigned i = values.size() - 1; i-- > 0;) {
    if (values[i] == result)
      continue;
    Value before = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::ult, block, starts[first + i + 1]);
    result = arith::SelectOp::create(builder, loc, before, values[i], result);
  }
  return result;
}

/// Makes stand-ins for the buffers of `part`, each at its place in the whole's
/// shared memory, and pointers for its globals.
Merger::Buffers Merger::placeShared(gpu::GPUFuncOp part, IRMapping &mapping) {
  Buffers buffers;
  if (!shared)
    return buffers;
  SharedLayout layout = SharedLayout::of(part);
  auto at = [&](int64_t offset) -> Value {
    return LLVM::GEPOp::create(builder, loc, shared.getType(),
                               builder.getI8Type(), shared,
                               ArrayRef<LLVM::GEPArg>{int32_t(offset)});
  };
  for (auto [buffer, offset] : layout.attributions) {
    auto standIn = UnrealizedConversionCastOp::create(
        builder, loc, buffer.getType(), at(offset));
    mapping.map(buffer, standIn.getResult(0));
    buffers.standIns.push_back(standIn);
  }
  for (auto [name, offset] : layout.globals)
    buffers.globals[name] = at(offset);
  return buffers;
}

/// Lets the code in `code` use what `buffers` holds, and blocks of its own.
void Merger::redirect(Block *code, Buffers &buffers, Value own, Value all) {
  for (UnrealizedConversionCastOp standIn : buffers.standIns) {
    SmallVector<Operation *> users(standIn->getUsers());
    for (Operation *user : users)
      rewriteAccess(user, standIn.getOperand(0));
    standIn.erase();
  }
  auto replacement = [&](Operation *op) -> Value {
    if (auto address = dyn_cast<LLVM::AddressOfOp>(op))
      return buffers.globals.lookup(address.getGlobalNameAttr().getAttr());
    if (auto id = dyn_cast<gpu::BlockIdOp>(op))
      return id.getDimension() == gpu::Dimension::x ? own : nullptr;
    if (auto grid = dyn_cast<gpu::GridDimOp>(op))
      return grid.getDimension() == gpu::Dimension::x ? all : nullptr;
    return nullptr;
  };
  code->walk([&](Operation *op) {
    Value value = op == block.getDefiningOp() ? nullptr : replacement(op);
    if (!value)
      return;
    op->getResult(0).replaceAllUsesWith(value);
    op->erase();
  });
}

/// Moves what chooses among arguments down to where it is needed: a chosen
/// pointer takes registers, an argument takes none.
static void sink(Block *code) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*code))) {
    if (!isa<arith::SelectOp, arith::CmpIOp, LLVM::AddrSpaceCastOp>(op))
      continue;
    Operation *first = nullptr;
    for (Operation *user : op.getUsers())
      if (Operation *here = code->findAncestorOpInBlock(*user);
          here && (!first || here->isBeforeInBlock(first)))
        first = here;
    if (first)
      op.moveBefore(first);
  }
}

/// The code that `count` parts from `first` on share.
void Merger::emitRun(unsigned first, unsigned count) {
  gpu::GPUFuncOp kernel = parts[first].kernel;
  auto chosen = [&](llvm::function_ref<Value(unsigned)> of) {
    return choose(llvm::map_to_vector(llvm::seq(first, first + count), of),
                  first);
  };
  IRMapping mapping;
  for (unsigned i = 0; i < kernel.getNumArguments(); ++i)
    mapping.map(kernel.getArgument(i), chosen([&](unsigned part) -> Value {
                  return merged.getArgument(parts[part].arguments[i]);
                }));
  Value start = chosen([&](unsigned part) { return starts[part]; }),
        all = chosen([&](unsigned part) { return blocks[part]; }),
        own = arith::SubIOp::create(builder, loc, block, start);
  Buffers buffers = placeShared(kernel, mapping);
  for (Operation &op : kernel.getBody().front().without_terminator())
    builder.clone(op, mapping);
  redirect(builder.getInsertionBlock(), buffers, own, all);
  sink(builder.getInsertionBlock());
}

gpu::GPUFuncOp Merger::merge() {
  create();
  addShared();
  if (shared)
    builder.setInsertionPointAfterValue(shared);
  state();
  findBlocks();
  auto end = gpu::ReturnOp::create(builder, loc);
  builder.setInsertionPoint(end);
  for (unsigned first = 0, count = 0; first < parts.size(); first += count) {
    count = 1;
    while (first + count < parts.size() &&
           parts[first + count].kernel == parts[first].kernel)
      ++count;
    if (first + count == parts.size()) {
      emitRun(first, count);
      break;
    }
    Value isOwn = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                        block, starts[first + count]);
    auto branch = scf::IfOp::create(builder, loc, isOwn,
                                    /*withElseRegion=*/true);
    builder.setInsertionPointToStart(branch.thenBlock());
    emitRun(first, count);
    builder.setInsertionPointToStart(branch.elseBlock());
  }
  return merged;
}

gpu::GPUFuncOp fuse::mergeKernels(const GpuWhole &whole,
                                  ArrayRef<GpuPart> parts) {
  return Merger(whole, parts).merge();
}
