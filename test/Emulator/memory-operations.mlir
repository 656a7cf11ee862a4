// A barrier of two warps out of three where one only arrives; cp.async with zero fill;
// f32 atomics; a turn-taking spin by nanosleep.
// RUN: %python %tools/emulate.py %s --reference=memory_operations | FileCheck %s
// CHECK: equal: 160 elements

module attributes {gpu.container_module} {
  gpu.module @kernels {
    llvm.mlir.global internal @tile() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<128 x f32>
    llvm.mlir.global internal @turn() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<1 x i32>

    gpu.func @memory(%in: memref<128xf32>, %out: memref<5x32xf32>) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c32 = arith.constant 32 : index
      %c64 = arith.constant 64 : index
      %c63 = arith.constant 63 : index
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %two = arith.constant 2 : i32
      %four = arith.constant 4 : i32
      %eight = arith.constant 8 : i32
      %sixtyfour = arith.constant 64 : i32
      %t = gpu.thread_id x
      %i = arith.index_cast %t : index to i32
      %f = arith.sitofp %i : i32 to f32
      %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
      %r0 = arith.constant 0 : index
      %r1 = arith.constant 1 : index
      %r2 = arith.constant 2 : index
      %r3 = arith.constant 3 : index
      %r4 = arith.constant 4 : index
      %isFirst = arith.cmpi ult, %t, %c32 : index
      %isThird = arith.cmpi uge, %t, %c64 : index
      // The third warp produces, the first consumes; the second takes no part.
      scf.if %isThird {
        %low = arith.subi %i, %sixtyfour : i32
        %mine = llvm.getelementptr %tile[0, %low] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, !llvm.array<128 x f32>
        llvm.store %f, %mine : f32, !llvm.ptr<3>
        llvm.call_intrinsic "llvm.nvvm.barrier.cta.arrive.aligned.count"(%one, %sixtyfour) : (i32, i32) -> ()
      }
      scf.if %isFirst {
        nvvm.barrier id = %one number_of_threads = %sixtyfour
        %mine = llvm.getelementptr %tile[0, %i] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, !llvm.array<128 x f32>
        %x = llvm.load %mine : !llvm.ptr<3> -> f32
        memref.store %x, %out[%r0, %t] : memref<5x32xf32>
      }
      gpu.barrier
      // Two floats by each even lane, one and a zero by each odd one.
      scf.if %isFirst {
        %source = memref.extract_aligned_pointer_as_index %in : memref<128xf32> -> index
        %bits = arith.index_cast %source : index to i64
        %global = llvm.inttoptr %bits : i64 to !llvm.ptr<1>
        %i2 = arith.muli %i, %two : i32
        %from = llvm.getelementptr %global[%i2] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
        %to = llvm.getelementptr %tile[0, %i2] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, !llvm.array<128 x f32>
        %bit = arith.andi %i, %one : i32
        %isOdd = arith.cmpi ne, %bit, %zero : i32
        %bytes = arith.select %isOdd, %four, %eight : i32
        llvm.call_intrinsic "llvm.nvvm.cp.async.ca.shared.global.8.s"(%to, %from, %bytes) : (!llvm.ptr<3>, !llvm.ptr<1>, i32) -> ()
        nvvm.cp.async.commit.group
        nvvm.cp.async.wait.group 0
      }
      gpu.barrier
      scf.if %isFirst {
        %mine = llvm.getelementptr %tile[0, %i] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, !llvm.array<128 x f32>
        %x = llvm.load %mine : !llvm.ptr<3> -> f32
        memref.store %x, %out[%r1, %t] : memref<5x32xf32>
        // All threads add to one place; the sum of whole numbers is exact.
        %old = memref.atomic_rmw addf %f, %out[%r2, %c0] : (f32, memref<5x32xf32>) -> f32
        %x1 = memref.atomic_rmw maximumf %f, %out[%r3, %c1] : (f32, memref<5x32xf32>) -> f32
      }
      // Lane 31 goes first: the others wait for their turn.
      %turn = llvm.mlir.addressof @turn : !llvm.ptr<3>
      %isLast = arith.cmpi eq, %t, %c63 : index
      scf.if %isLast {
        llvm.store %i, %turn : i32, !llvm.ptr<3>
      }
      gpu.barrier
      scf.if %isFirst {
        scf.while : () -> () {
          %now = llvm.load volatile %turn : !llvm.ptr<3> -> i32
          %gap = arith.subi %now, %i : i32
          %target = arith.constant 32 : i32
          %waits = arith.cmpi ne, %gap, %target : i32
          scf.condition(%waits)
        } do {
          llvm.call_intrinsic "llvm.nvvm.nanosleep"(%one) : (i32) -> ()
          scf.yield
        }
        %now = llvm.load volatile %turn : !llvm.ptr<3> -> i32
        %next = arith.subi %now, %one : i32
        %g = arith.sitofp %now : i32 to f32
        memref.store %g, %out[%r4, %t] : memref<5x32xf32>
        llvm.store volatile %next, %turn : i32, !llvm.ptr<3>
      }
      gpu.return
    }
  }

  func.func private @fuseFillF32(memref<*xf32>, i64) attributes {llvm.emit_c_interface}
  func.func private @fuseSaveF32(memref<*xf32>, i64, i64) attributes {llvm.emit_c_interface}
  func.func @main() {
    %zero = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %none = arith.constant 0.0 : f32
    %in = memref.alloc() {alignment = 64} : memref<128xf32>
    %ui = memref.cast %in : memref<128xf32> to memref<*xf32>
    call @fuseFillF32(%ui, %zero) : (memref<*xf32>, i64) -> ()
    call @fuseSaveF32(%ui, %zero, %one) : (memref<*xf32>, i64, i64) -> ()
    %result = memref.alloc() : memref<5x32xf32>
    %ur = memref.cast %result : memref<5x32xf32> to memref<*xf32>
    gpu.host_register %ui : memref<*xf32>
    %t0 = gpu.wait async
    %out, %t1 = gpu.alloc async [%t0] () : memref<5x32xf32>
    %t2 = gpu.memset async [%t1] %out, %none : memref<5x32xf32>, f32
    %c1 = arith.constant 1 : index
    %c96 = arith.constant 96 : index
    %t3 = gpu.launch_func async [%t2] @kernels::@memory blocks in (%c1, %c1, %c1) threads in (%c96, %c1, %c1)
        args(%in: memref<128xf32>, %out: memref<5x32xf32>)
    %t4 = gpu.memcpy async [%t3] %result, %out : memref<5x32xf32>, memref<5x32xf32>
    gpu.wait [%t4]
    call @fuseSaveF32(%ur, %zero, %zero) : (memref<*xf32>, i64, i64) -> ()
    return
  }
}
