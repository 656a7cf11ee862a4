// Operations of a warp, with all lanes and with member masks of halves: against numpy, lane by lane.
// RUN: %python %tools/emulate.py %s --reference=warp_operations | FileCheck %s
// CHECK: equal: 640 elements

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @warp(%out: memref<20x32xi32>) kernel {
      %all = arith.constant -1 : i32
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %three = arith.constant 3 : i32
      %four = arith.constant 4 : i32
      %five = arith.constant 5 : i32
      %seven = arith.constant 7 : i32
      %width = arith.constant 32 : i32
      %never = arith.constant false
      %tid = gpu.thread_id x
      %i = arith.index_cast %tid : index to i32
      %bit = arith.andi %i, %one : i32
      %odd = arith.cmpi ne, %bit, %zero : i32
      %is5 = arith.cmpi eq, %i, %five : i32
      %quarter = arith.divui %i, %four : i32
      %minus = arith.subi %five, %i : i32
      %square = arith.muli %i, %i : i32
      %wide = arith.constant 12884901888 : i64
      %ballot = llvm.call_intrinsic "llvm.nvvm.vote.ballot.sync"(%all, %odd) : (i32, i1) -> i32
      %r0 = arith.constant 0 : index
      memref.store %ballot, %out[%r0, %tid] : memref<20x32xi32>
      %any = llvm.call_intrinsic "llvm.nvvm.vote.any.sync"(%all, %is5) : (i32, i1) -> i1
      %x1 = arith.extui %any : i1 to i32
      %r1 = arith.constant 1 : index
      memref.store %x1, %out[%r1, %tid] : memref<20x32xi32>
      %every = llvm.call_intrinsic "llvm.nvvm.vote.all.sync"(%all, %is5) : (i32, i1) -> i1
      %x2 = arith.extui %every : i1 to i32
      %r2 = arith.constant 2 : index
      memref.store %x2, %out[%r2, %tid] : memref<20x32xi32>
      %uni = llvm.call_intrinsic "llvm.nvvm.vote.uni.sync"(%all, %odd) : (i32, i1) -> i1
      %x3 = arith.extui %uni : i1 to i32
      %r3 = arith.constant 3 : index
      memref.store %x3, %out[%r3, %tid] : memref<20x32xi32>
      %same = llvm.call_intrinsic "llvm.nvvm.match.any.sync.i32"(%all, %quarter) : (i32, i32) -> i32
      %r4 = arith.constant 4 : index
      memref.store %same, %out[%r4, %tid] : memref<20x32xi32>
      %alike = llvm.call_intrinsic "llvm.nvvm.match.all.sync.i64p"(%all, %wide) : (i32, i64) -> !llvm.struct<(i32, i1)>
      %alike0 = llvm.extractvalue %alike[0] : !llvm.struct<(i32, i1)>
      %r5 = arith.constant 5 : index
      memref.store %alike0, %out[%r5, %tid] : memref<20x32xi32>
      %alike1 = llvm.extractvalue %alike[1] : !llvm.struct<(i32, i1)>
      %x6 = arith.extui %alike1 : i1 to i32
      %r6 = arith.constant 6 : index
      memref.store %x6, %out[%r6, %tid] : memref<20x32xi32>
      %sum = llvm.call_intrinsic "llvm.nvvm.redux.sync.add"(%i, %all) : (i32, i32) -> i32
      %r7 = arith.constant 7 : index
      memref.store %sum, %out[%r7, %tid] : memref<20x32xi32>
      %least = llvm.call_intrinsic "llvm.nvvm.redux.sync.min"(%minus, %all) : (i32, i32) -> i32
      %r8 = arith.constant 8 : index
      memref.store %least, %out[%r8, %tid] : memref<20x32xi32>
      %most = llvm.call_intrinsic "llvm.nvvm.redux.sync.umax"(%minus, %all) : (i32, i32) -> i32
      %r9 = arith.constant 9 : index
      memref.store %most, %out[%r9, %tid] : memref<20x32xi32>
      %both = llvm.call_intrinsic "llvm.nvvm.redux.sync.xor"(%square, %all) : (i32, i32) -> i32
      %r10 = arith.constant 10 : index
      memref.store %both, %out[%r10, %tid] : memref<20x32xi32>
      %segments = arith.constant 4096 : i32
      %shifted = llvm.call_intrinsic "llvm.nvvm.shfl.sync.up.i32p"(%all, %square, %three, %segments) : (i32, i32, i32, i32) -> !llvm.struct<(i32, i1)>
      %up = llvm.extractvalue %shifted[0] : !llvm.struct<(i32, i1)>
      %upIn = llvm.extractvalue %shifted[1] : !llvm.struct<(i32, i1)>
      %r11 = arith.constant 11 : index
      memref.store %up, %out[%r11, %tid] : memref<20x32xi32>
      %x12 = arith.extui %upIn : i1 to i32
      %r12 = arith.constant 12 : index
      memref.store %x12, %out[%r12, %tid] : memref<20x32xi32>
      %idx, %idxIn = gpu.shuffle idx %square, %seven, %width : i32
      %r13 = arith.constant 13 : index
      memref.store %idx, %out[%r13, %tid] : memref<20x32xi32>
      %less = llvm.call_intrinsic "llvm.nvvm.read.ptx.sreg.lanemask.lt"() : () -> i32
      %r14 = arith.constant 14 : index
      memref.store %less, %out[%r14, %tid] : memref<20x32xi32>
      %odds = llvm.call_intrinsic "llvm.nvvm.barrier.cta.red.popc.aligned.all"(%zero, %odd) : (i32, i1) -> i32
      %r15 = arith.constant 15 : index
      memref.store %odds, %out[%r15, %tid] : memref<20x32xi32>
      %none = llvm.call_intrinsic "llvm.nvvm.barrier.cta.red.or.aligned.all"(%zero, %never) : (i32, i1) -> i1
      %x16 = arith.extui %none : i1 to i32
      %r16 = arith.constant 16 : index
      memref.store %x16, %out[%r16, %tid] : memref<20x32xi32>
      // Each half of the warp on its own path, with its own mask.
      %low = arith.constant 255 : i32
      %high = arith.constant -256 : i32
      %eight = arith.constant 8 : i32
      %isLow = arith.cmpi ult, %i, %eight : i32
      %halves:3 = scf.if %isLow -> (i32, i32, i32) {
        %active = llvm.call_intrinsic "llvm.nvvm.activemask"() : () -> i32
        %part = llvm.call_intrinsic "llvm.nvvm.redux.sync.add"(%i, %low) : (i32, i32) -> i32
        %elected = llvm.call_intrinsic "llvm.nvvm.elect.sync"(%low) : (i32) -> !llvm.struct<(i32, i1)>
        %is = llvm.extractvalue %elected[1] : !llvm.struct<(i32, i1)>
        %word = arith.extui %is : i1 to i32
        scf.yield %active, %part, %word : i32, i32, i32
      } else {
        %part = llvm.call_intrinsic "llvm.nvvm.redux.sync.add"(%i, %high) : (i32, i32) -> i32
        %elected = llvm.call_intrinsic "llvm.nvvm.elect.sync"(%high) : (i32) -> !llvm.struct<(i32, i1)>
        %is = llvm.extractvalue %elected[1] : !llvm.struct<(i32, i1)>
        %word = arith.extui %is : i1 to i32
        scf.yield %all, %part, %word : i32, i32, i32
      }
      %r17 = arith.constant 17 : index
      %r18 = arith.constant 18 : index
      %r19 = arith.constant 19 : index
      memref.store %halves#0, %out[%r17, %tid] : memref<20x32xi32>
      memref.store %halves#1, %out[%r18, %tid] : memref<20x32xi32>
      memref.store %halves#2, %out[%r19, %tid] : memref<20x32xi32>
      gpu.return
    }
  }

  func.func private @fuseSaveI32(memref<*xi32>, i64, i64) attributes {llvm.emit_c_interface}
  func.func @main() {
    %zero = arith.constant 0 : i64
    %out = memref.alloc() : memref<20x32xi32>
    %uo = memref.cast %out : memref<20x32xi32> to memref<*xi32>
    gpu.host_register %uo : memref<*xi32>
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    gpu.launch_func @kernels::@warp blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%out: memref<20x32xi32>)
    call @fuseSaveI32(%uo, %zero, %zero) : (memref<*xi32>, i64, i64) -> ()
    return
  }
}
