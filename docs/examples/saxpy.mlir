// y = 2 x + y on 8 elements by a kernel of two blocks of 4 threads; runs on the emulator (docs/Emulator.md).
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @saxpy(%x: memref<?xf32>, %y: memref<?xf32>, %a: f32) kernel {
      %t = gpu.thread_id x
      %block = gpu.block_id x
      %size = gpu.block_dim x
      %first = arith.muli %block, %size : index
      %i = arith.addi %first, %t : index
      %xi = memref.load %x[%i] : memref<?xf32>
      %yi = memref.load %y[%i] : memref<?xf32>
      %p = arith.mulf %a, %xi : f32
      %s = arith.addf %p, %yi : f32
      memref.store %s, %y[%i] : memref<?xf32>
      gpu.return
    }
  }

  func.func private @printMemrefF32(memref<*xf32>)
  func.func @main() {
    %c1 = arith.constant 1 : index
    %blocks = arith.constant 2 : index
    %threads = arith.constant 4 : index
    %n = arith.constant 8 : index
    %one = arith.constant 1.0 : f32
    %two = arith.constant 2.0 : f32
    %y = memref.alloc(%n) : memref<?xf32>
    %t0 = gpu.wait async
    %dx, %t1 = gpu.alloc async [%t0] (%n) : memref<?xf32>
    %dy, %t2 = gpu.alloc async [%t1] (%n) : memref<?xf32>
    %t3 = gpu.memset async [%t2] %dx, %two : memref<?xf32>, f32
    %t4 = gpu.memset async [%t3] %dy, %one : memref<?xf32>, f32
    %t5 = gpu.launch_func async [%t4] @kernels::@saxpy blocks in (%blocks, %c1, %c1) threads in (%threads, %c1, %c1)
        args(%dx: memref<?xf32>, %dy: memref<?xf32>, %two: f32)
    %t6 = gpu.memcpy async [%t5] %y, %dy : memref<?xf32>, memref<?xf32>
    gpu.wait [%t6]
    %u = memref.cast %y : memref<?xf32> to memref<*xf32>
    call @printMemrefF32(%u) : (memref<*xf32>) -> ()
    return
  }
}
