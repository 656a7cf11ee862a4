//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The dialect's operations: a fused kernel and its terminator, a launch.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_OPS_TD
#define FUSE_OPS_TD

include "fuse/Dialect/FuseAttrs.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Fuse_KernelOp : Op<Fuse_Dialect, "kernel", [IsolatedFromAbove, RecursiveMemoryEffects, SingleBlock]> {
  let summary = "operators that run as one kernel";
  let description = [{
    Holds the operators of one kernel with the glue between them. It is isolated from above: tensors (and scalars) go in as
    operands, results come out, so that a kernel verifies, prints, hashes and lowers on its own. `kernel_class` names the
    class that lowers it, `tile` how its work is cut into blocks.

    Example:
    ```mlir
    %y = fuse.kernel "pointwise" tile(#fuse.tile<sizes = [1024], threads = 256>) (%x) : (tensor<8xf32>) -> tensor<8xf32> {
    ^bb0(%arg: tensor<8xf32>):
      %e = tensor.empty() : tensor<8xf32>
      %r = linalg.exp ins(%arg : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
      fuse.yield %r : tensor<8xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$inputs, StrAttr:$kernel_class, OptionalAttr<Fuse_TileAttr>:$tile);
  let results = (outs Variadic<AnyType>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $kernel_class (`tile` `(` $tile^ `)`)? `(` $inputs `)` attr-dict-with-keyword `:` functional-type($inputs, $outputs)
    $body
  }];
  let hasVerifier = 1;
}

def Fuse_YieldOp : Op<Fuse_Dialect, "yield", [Pure, ReturnLike, Terminator, ParentOneOf<["::fuse::KernelOp"]>]> {
  let summary = "the results of a fused kernel";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
}

def Fuse_LaunchOp : Op<Fuse_Dialect, "launch", [AttrSizedOperandSegments, DestinationStyleOpInterface,
                                                DeclareOpInterfaceMethods<SymbolUserOpInterface>,
                                                DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "run a kernel on the GPU";
  let description = [{
    Runs `kernel`, which reads `inputs` and overwrites `outputs` completely. On tensors each result is tied to an output; on memrefs
    there are no results. The kernel is a function on tensors (inputs, then outputs) until it is lowered to a `gpu.func`.

    Example:
    ```mlir
    %y = fuse.launch @kernel_0 ins(%x : tensor<8xf32>) outs(%into : tensor<8xf32>) -> tensor<8xf32>
    fuse.launch @kernels::@kernel_0 ins(%a : memref<8xf32>) outs(%b : memref<8xf32>)
    ```
  }];
  let arguments = (ins SymbolRefAttr:$kernel, Variadic<AnyType>:$inputs,
                   Variadic<AnyTypeOf<[AnyRankedTensor, AnyMemRef]>>:$outputs);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $kernel `ins` `(` ($inputs^ `:` type($inputs))? `)` `outs` `(` ($outputs^ `:` type($outputs))? `)` attr-dict
    (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutputsMutable(); }
  }];
  let hasVerifier = 1;
}

#endif // FUSE_OPS_TD
