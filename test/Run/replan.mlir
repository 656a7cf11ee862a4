// Kernels that spill get another tile of their class, or are put back into operators. A script in place of ptxas says that they do.
// RUN: rm -rf %t && mkdir -p %t/bin && cp %S/../Lowering/Inputs/fake-ptxas %t/bin/ptxas && chmod +x %t/bin/ptxas
// RUN: env PATH=%t/bin:/usr/bin:/bin FAKE_SPILL=16 FAKE_THREADS=64 %fuse_bin/fuse-opt %s --fuse-replan=chip=sm_80 2>%t/remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARKS --implicit-check-not=remark: --input-file=%t/remarks
// RUN: env PATH=%t/bin:/usr/bin:/bin FAKE_SPILL=0 %fuse_bin/fuse-opt %s --fuse-replan 2>&1 | FileCheck %s --check-prefix=SAME --implicit-check-not=remark:
// RUN: env -u CUDA_HOME -u CUDA_PATH -u VIRTUAL_ENV -u PYTHONPATH HOME=%t PATH=%fuse_bin fuse-opt %s --fuse-replan 2>&1 | FileCheck %s --check-prefixes=NONE,SAME
// RUN: env PATH=%t/bin:/usr/bin:/bin FAKE_SPILL=16 %fuse_bin/fuse-opt %s --fuse-replan 2>&1 | FileCheck %s --check-prefix=ALWAYS
// RUN: not fuse-opt %s --fuse-replan=chip=sm_1 2>&1 | FileCheck %s --check-prefix=CHIP

// REMARKS: remark: kernel of class 'contraction' spills 16 bytes to and 16 bytes from local memory with 40 registers; its tile becomes #fuse.tile<sizes = [64, 64, 8], threads = 64>
// REMARKS: remark: kernel of class 'pointwise' spills {{.*}}; no tile of its class needs fewer: its fusion is undone
// REMARKS: remark: kernel of class 'contraction' spills 16 bytes to and 16 bytes from local memory with 40 registers; its tile becomes #fuse.tile<sizes = [128, 64, 8], threads = 128>
// NONE: remark: ptxas is not found: resources are estimates, no kernel is planned again
// ALWAYS: warning: kernel of class 'contraction' spills 16 bytes {{.*}} after 2 rounds
// CHIP: unknown target 'sm_1'

#id = affine_map<(i, j) -> (i, j)>
#columns = affine_map<(i, j) -> (j)>

// CHECK-LABEL: func.func @linear
// CHECK: fuse.kernel "contraction" tile(<sizes = [128, 64, 8], threads = 128>)
// SAME-LABEL: func.func @linear
// SAME: fuse.kernel "contraction" tile(<sizes = [128, 128, 8], threads = 64>)
func.func @linear(%a: tensor<256x256xf32>, %b: tensor<256x256xf32>, %c: tensor<256xf32>) -> tensor<256x256xf32> {
  %0 = fuse.kernel "contraction" tile(<sizes = [128, 128, 8], threads = 64>) (%a, %b, %c) : (tensor<256x256xf32>, tensor<256x256xf32>, tensor<256xf32>) -> tensor<256x256xf32> {
  ^bb0(%ka: tensor<256x256xf32>, %kb: tensor<256x256xf32>, %kc: tensor<256xf32>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<256x256xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<256x256xf32>) -> tensor<256x256xf32>
    %m = linalg.matmul ins(%ka, %kb : tensor<256x256xf32>, tensor<256x256xf32>) outs(%f : tensor<256x256xf32>) -> tensor<256x256xf32>
    %s = linalg.generic {indexing_maps = [#id, #columns, #id], iterator_types = ["parallel", "parallel"]} ins(%m, %kc : tensor<256x256xf32>, tensor<256xf32>) outs(%e : tensor<256x256xf32>) {
    ^bb1(%x: f32, %y: f32, %o: f32):
      %r = arith.addf %x, %y : f32
      linalg.yield %r : f32
    } -> tensor<256x256xf32>
    fuse.yield %s : tensor<256x256xf32>
  }
  return %0 : tensor<256x256xf32>
}

// CHECK-LABEL: func.func @chain
// CHECK-NOT: fuse.kernel
// CHECK: linalg.exp
// CHECK: linalg.negf
// SAME-LABEL: func.func @chain
// SAME: fuse.kernel "pointwise" tile(<sizes = [64], threads = 64>)
func.func @chain(%a: tensor<4096xf32>) -> tensor<4096xf32> {
  %0 = fuse.kernel "pointwise" tile(<sizes = [64], threads = 64>) (%a) : (tensor<4096xf32>) -> tensor<4096xf32> {
  ^bb0(%ka: tensor<4096xf32>):
    %e = tensor.empty() : tensor<4096xf32>
    %1 = linalg.exp ins(%ka : tensor<4096xf32>) outs(%e : tensor<4096xf32>) -> tensor<4096xf32>
    %2 = linalg.negf ins(%1 : tensor<4096xf32>) outs(%e : tensor<4096xf32>) -> tensor<4096xf32>
    fuse.yield %2 : tensor<4096xf32>
  }
  return %0 : tensor<4096xf32>
}

// What does not spill stays.
// CHECK-LABEL: func.func @stays
// CHECK: fuse.kernel "pointwise" tile(<sizes = [1024], threads = 256>)
// SAME-LABEL: func.func @stays
// SAME: fuse.kernel "pointwise" tile(<sizes = [1024], threads = 256>)
func.func @stays(%a: tensor<4096xf32>) -> tensor<4096xf32> {
  %0 = fuse.kernel "pointwise" tile(<sizes = [1024], threads = 256>) (%a) : (tensor<4096xf32>) -> tensor<4096xf32> {
  ^bb0(%ka: tensor<4096xf32>):
    %e = tensor.empty() : tensor<4096xf32>
    %1 = linalg.negf ins(%ka : tensor<4096xf32>) outs(%e : tensor<4096xf32>) -> tensor<4096xf32>
    %2 = linalg.abs ins(%1 : tensor<4096xf32>) outs(%e : tensor<4096xf32>) -> tensor<4096xf32>
    fuse.yield %2 : tensor<4096xf32>
  }
  return %0 : tensor<4096xf32>
}
