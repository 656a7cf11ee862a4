// Dynamic shared memory behind a static variable: rows are reversed through it. Without the bytes at launch it is out of
// bounds.
// RUN: %python %tools/emulate.py %s --reference=reversed_rows | FileCheck %s
// CHECK: equal: 384 elements

// RUN: sed 's/dynamic_shared_memory_size %bytes//' %s | not %python %tools/emulate.py - 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NONE
// NONE: error: kernel 'reverse', block (0,0,0), thread (0,0,0): CUDA_ERROR_ILLEGAL_ADDRESS: write of 4 bytes at byte 16
// NONE-SAME: of the block's 4 bytes of shared memory

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @reverse(%a: memref<3x128xf32>)
        workgroup(%last: memref<1xi32, #gpu.address_space<workgroup>>) kernel {
      %c0 = arith.constant 0 : index
      %c127 = arith.constant 127 : index
      %limit = arith.constant 127 : i32
      %bytes = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
      %tile = memref.view %bytes[%c0][] : memref<?xi8, #gpu.address_space<workgroup>> to memref<128xf32, #gpu.address_space<workgroup>>
      %t = gpu.thread_id x
      %row = gpu.block_id x
      %isFirst = arith.cmpi eq, %t, %c0 : index
      scf.if %isFirst {
        memref.store %limit, %last[%c0] : memref<1xi32, #gpu.address_space<workgroup>>
      }
      %x = memref.load %a[%row, %t] : memref<3x128xf32>
      memref.store %x, %tile[%t] : memref<128xf32, #gpu.address_space<workgroup>>
      gpu.barrier
      %top = memref.load %last[%c0] : memref<1xi32, #gpu.address_space<workgroup>>
      %end = arith.index_cast %top : i32 to index
      %other = arith.subi %end, %t : index
      %y = memref.load %tile[%other] : memref<128xf32, #gpu.address_space<workgroup>>
      memref.store %y, %a[%row, %t] : memref<3x128xf32>
      gpu.return
    }
  }

  func.func private @fuseFillF32(memref<*xf32>, i64) attributes {llvm.emit_c_interface}
  func.func private @fuseSaveF32(memref<*xf32>, i64, i64) attributes {llvm.emit_c_interface}
  func.func @main() {
    %zero = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %a = memref.alloc() : memref<3x128xf32>
    %ua = memref.cast %a : memref<3x128xf32> to memref<*xf32>
    call @fuseFillF32(%ua, %zero) : (memref<*xf32>, i64) -> ()
    call @fuseSaveF32(%ua, %zero, %one) : (memref<*xf32>, i64, i64) -> ()
    gpu.host_register %ua : memref<*xf32>
    %bytes = arith.constant 512 : i32
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c128 = arith.constant 128 : index
    gpu.launch_func @kernels::@reverse blocks in (%c3, %c1, %c1) threads in (%c128, %c1, %c1)
        dynamic_shared_memory_size %bytes args(%a: memref<3x128xf32>)
    call @fuseSaveF32(%ua, %zero, %zero) : (memref<*xf32>, i64, i64) -> ()
    return
  }
}
