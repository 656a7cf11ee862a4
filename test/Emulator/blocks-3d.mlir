// Blocks and grids of three dimensions: each element is written by the thread whose place it is.
// RUN: %python %tools/emulate.py %s --reference=places | FileCheck %s
// CHECK: equal: 960 elements

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @places(%a: memref<6x8x20xi32>) kernel {
      %tx = gpu.thread_id x
      %ty = gpu.thread_id y
      %tz = gpu.thread_id z
      %bx = gpu.block_id x
      %by = gpu.block_id y
      %bz = gpu.block_id z
      %nx = gpu.block_dim x
      %ny = gpu.block_dim y
      %nz = gpu.block_dim z
      %x0 = arith.muli %bx, %nx : index
      %y0 = arith.muli %by, %ny : index
      %z0 = arith.muli %bz, %nz : index
      %x = arith.addi %x0, %tx : index
      %y = arith.addi %y0, %ty : index
      %z = arith.addi %z0, %tz : index
      // The lane tells the order of the threads in a block: x first.
      %lane = gpu.lane_id
      %wide = arith.constant 1000 : index
      %place = affine.apply affine_map<(d0, d1, d2) -> (d0 * 10000 + d1 * 100 + d2)>(%z, %y, %x)
      %high = arith.muli %lane, %wide : index
      %high2 = arith.muli %high, %wide : index
      %value = arith.addi %high2, %place : index
      %bits = arith.index_cast %value : index to i32
      memref.store %bits, %a[%z, %y, %x] : memref<6x8x20xi32>
      gpu.return
    }
  }

  func.func private @fuseSaveI32(memref<*xi32>, i64, i64) attributes {llvm.emit_c_interface}
  func.func @main() {
    %zero = arith.constant 0 : i64
    %a = memref.alloc() : memref<6x8x20xi32>
    %ua = memref.cast %a : memref<6x8x20xi32> to memref<*xi32>
    gpu.host_register %ua : memref<*xi32>
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c5 = arith.constant 5 : index
    gpu.launch_func @kernels::@places blocks in (%c4, %c2, %c2) threads in (%c5, %c4, %c3)
        args(%a: memref<6x8x20xi32>)
    call @fuseSaveI32(%ua, %zero, %zero) : (memref<*xi32>, i64, i64) -> ()
    return
  }
}
