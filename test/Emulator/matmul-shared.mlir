// A matmul of 16 x 16 tiles in shared memory, and the same without the barrier behind the loads: a warp then reads what
// the others have not loaded yet, and gets NaN, which shared memory starts with.
// RUN: %python %tools/emulate.py %s --reference=matmul --rtol=1e-6 --passes=--lower-affine | FileCheck %s
// CHECK: equal: 3072 elements

// RUN: sed '/LOADED/d' %s | not %python %tools/emulate.py - --reference=matmul --passes=--lower-affine \
// RUN:   | FileCheck %s --check-prefix=RACE
// RACE: different: {{[0-9]+}} of 3072 elements are not a number

// Without the barrier behind the products a warp overwrites what the others still read.
// RUN: sed '/MULTIPLIED/d' %s | not %python %tools/emulate.py - --reference=matmul --passes=--lower-affine 2>&1 \
// RUN:   | FileCheck %s --check-prefix=OVERWRITTEN
// OVERWRITTEN: different: 3072 elements

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @matmul(%a: memref<64x32xf32>, %b: memref<32x48xf32>, %c: memref<64x48xf32>)
        workgroup(%sa: memref<16x16xf32, #gpu.address_space<workgroup>>,
                  %sb: memref<16x16xf32, #gpu.address_space<workgroup>>) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c16 = arith.constant 16 : index
      %c32 = arith.constant 32 : index
      %zero = arith.constant 0.0 : f32
      %tx = gpu.thread_id x
      %ty = gpu.thread_id y
      %bx = gpu.block_id x
      %by = gpu.block_id y
      %row = affine.apply affine_map<(d0, d1) -> (d0 * 16 + d1)>(%by, %ty)
      %column = affine.apply affine_map<(d0, d1) -> (d0 * 16 + d1)>(%bx, %tx)
      %sum = scf.for %k = %c0 to %c32 step %c16 iter_args(%acc = %zero) -> f32 {
        %ka = arith.addi %k, %tx : index
        %kb = arith.addi %k, %ty : index
        %x = memref.load %a[%row, %ka] : memref<64x32xf32>
        %y = memref.load %b[%kb, %column] : memref<32x48xf32>
        memref.store %x, %sa[%ty, %tx] : memref<16x16xf32, #gpu.address_space<workgroup>>
        memref.store %y, %sb[%ty, %tx] : memref<16x16xf32, #gpu.address_space<workgroup>>
        gpu.barrier // LOADED
        %part = scf.for %i = %c0 to %c16 step %c1 iter_args(%in = %acc) -> f32 {
          %p = memref.load %sa[%ty, %i] : memref<16x16xf32, #gpu.address_space<workgroup>>
          %q = memref.load %sb[%i, %tx] : memref<16x16xf32, #gpu.address_space<workgroup>>
          %pq = arith.mulf %p, %q : f32
          %out = arith.addf %in, %pq : f32
          scf.yield %out : f32
        }
        gpu.barrier // MULTIPLIED
        scf.yield %part : f32
      }
      memref.store %sum, %c[%row, %column] : memref<64x48xf32>
      gpu.return
    }
  }

  func.func private @fuseFillF32(memref<*xf32>, i64) attributes {llvm.emit_c_interface}
  func.func private @fuseSaveF32(memref<*xf32>, i64, i64) attributes {llvm.emit_c_interface}
  func.func @main() {
    %zero = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %a = memref.alloc() : memref<64x32xf32>
    %b = memref.alloc() : memref<32x48xf32>
    %c = memref.alloc() : memref<64x48xf32>
    %ua = memref.cast %a : memref<64x32xf32> to memref<*xf32>
    %ub = memref.cast %b : memref<32x48xf32> to memref<*xf32>
    %uc = memref.cast %c : memref<64x48xf32> to memref<*xf32>
    call @fuseFillF32(%ua, %zero) : (memref<*xf32>, i64) -> ()
    call @fuseFillF32(%ub, %one) : (memref<*xf32>, i64) -> ()
    call @fuseSaveF32(%ua, %zero, %one) : (memref<*xf32>, i64, i64) -> ()
    call @fuseSaveF32(%ub, %one, %one) : (memref<*xf32>, i64, i64) -> ()
    gpu.host_register %ua : memref<*xf32>
    gpu.host_register %ub : memref<*xf32>
    gpu.host_register %uc : memref<*xf32>
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c16 = arith.constant 16 : index
    gpu.launch_func @kernels::@matmul blocks in (%c3, %c4, %c1) threads in (%c16, %c16, %c1)
        args(%a: memref<64x32xf32>, %b: memref<32x48xf32>, %c: memref<64x48xf32>)
    call @fuseSaveF32(%uc, %zero, %zero) : (memref<*xf32>, i64, i64) -> ()
    return
  }
}
