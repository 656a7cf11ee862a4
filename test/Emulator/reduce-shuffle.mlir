// Sums of rows: shuffles within each warp, shared memory and a second round of shuffles across warps. The last step of
// the shuffles with the wrong distance gives a wrong sum.
// RUN: %python %tools/emulate.py %s --reference=row_sums --rtol=1e-5 | FileCheck %s
// CHECK: equal: 5 elements

// RUN: sed 's/%last = arith.constant 1 : i32/%last = arith.constant 2 : i32/' %s \
// RUN:   | not %python %tools/emulate.py - --reference=row_sums --rtol=1e-5 2>&1 | FileCheck %s --check-prefix=LANE
// LANE: different: 5 elements

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @sum(%a: memref<5x256xf32>, %out: memref<5xf32>)
        workgroup(%parts: memref<8xf32, #gpu.address_space<workgroup>>) kernel {
      %c0 = arith.constant 0 : index
      %c8 = arith.constant 8 : index
      %c32 = arith.constant 32 : index
      %width = arith.constant 32 : i32
      %d16 = arith.constant 16 : i32
      %d8 = arith.constant 8 : i32
      %d4 = arith.constant 4 : i32
      %d2 = arith.constant 2 : i32
      %last = arith.constant 1 : i32
      %zero = arith.constant 0.0 : f32
      %t = gpu.thread_id x
      %row = gpu.block_id x
      %lane = arith.remui %t, %c32 : index
      %warp = arith.divui %t, %c32 : index
      %v0 = memref.load %a[%row, %t] : memref<5x256xf32>
      %s0, %p0 = gpu.shuffle xor %v0, %d16, %width : f32
      %v1 = arith.addf %v0, %s0 : f32
      %s1, %p1 = gpu.shuffle xor %v1, %d8, %width : f32
      %v2 = arith.addf %v1, %s1 : f32
      %s2, %p2 = gpu.shuffle xor %v2, %d4, %width : f32
      %v3 = arith.addf %v2, %s2 : f32
      %s3, %p3 = gpu.shuffle xor %v3, %d2, %width : f32
      %v4 = arith.addf %v3, %s3 : f32
      %s4, %p4 = gpu.shuffle xor %v4, %last, %width : f32
      %v5 = arith.addf %v4, %s4 : f32
      %isFirst = arith.cmpi eq, %lane, %c0 : index
      scf.if %isFirst {
        memref.store %v5, %parts[%warp] : memref<8xf32, #gpu.address_space<workgroup>>
      }
      gpu.barrier
      %isFirstWarp = arith.cmpi eq, %warp, %c0 : index
      scf.if %isFirstWarp {
        %has = arith.cmpi ult, %lane, %c8 : index
        %w0 = scf.if %has -> f32 {
          %part = memref.load %parts[%lane] : memref<8xf32, #gpu.address_space<workgroup>>
          scf.yield %part : f32
        } else {
          scf.yield %zero : f32
        }
        %q0, %r0 = gpu.shuffle down %w0, %d4, %width : f32
        %w1 = arith.addf %w0, %q0 : f32
        %q1, %r1 = gpu.shuffle down %w1, %d2, %width : f32
        %w2 = arith.addf %w1, %q1 : f32
        %one = arith.constant 1 : i32
        %q2, %r2 = gpu.shuffle down %w2, %one, %width : f32
        %w3 = arith.addf %w2, %q2 : f32
        scf.if %isFirst {
          memref.store %w3, %out[%row] : memref<5xf32>
        }
      }
      gpu.return
    }
  }

  func.func private @fuseFillF32(memref<*xf32>, i64) attributes {llvm.emit_c_interface}
  func.func private @fuseSaveF32(memref<*xf32>, i64, i64) attributes {llvm.emit_c_interface}
  func.func @main() {
    %zero = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %a = memref.alloc() : memref<5x256xf32>
    %out = memref.alloc() : memref<5xf32>
    %ua = memref.cast %a : memref<5x256xf32> to memref<*xf32>
    %uo = memref.cast %out : memref<5xf32> to memref<*xf32>
    call @fuseFillF32(%ua, %zero) : (memref<*xf32>, i64) -> ()
    call @fuseSaveF32(%ua, %zero, %one) : (memref<*xf32>, i64, i64) -> ()
    gpu.host_register %ua : memref<*xf32>
    gpu.host_register %uo : memref<*xf32>
    %c1 = arith.constant 1 : index
    %c5 = arith.constant 5 : index
    %c256 = arith.constant 256 : index
    gpu.launch_func @kernels::@sum blocks in (%c5, %c1, %c1) threads in (%c256, %c1, %c1)
        args(%a: memref<5x256xf32>, %out: memref<5xf32>)
    call @fuseSaveF32(%uo, %zero, %zero) : (memref<*xf32>, i64, i64) -> ()
    return
  }
}
