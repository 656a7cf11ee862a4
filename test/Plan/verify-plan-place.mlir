// RUN: fuse-opt %s --split-input-file --verify-diagnostics --fuse-verify-plan
// A group that cannot become a kernel is left as it is, with a warning, and the program still compiles.
// RUN: fuse-opt %s --split-input-file --fuse-apply -o %t.mlir 2> %t.err
// RUN: FileCheck %s --input-file=%t.mlir --implicit-check-not=fuse.kernel
// RUN: FileCheck %s --input-file=%t.err --check-prefix=WARN

// A tile in numbers: what it needs, and what the device has.
// WARN: warning: group 0 is left unfused: the tile does not fit device sm_80: it needs registers
func.func @tile(%x: tensor<512x512xf32>, %w: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x512xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
  // expected-error @below {{the tile does not fit device sm_80: it needs registers 1376 of 255, shared memory 49152 of 166912 bytes, threads 64 of 1024}}
  %m = linalg.matmul {fuse.group = #fuse.group<id = 0, kernel = "contraction">, fuse.tile = #fuse.tile<sizes = [256, 256, 8], threads = 64>} ins(%x, %w : tensor<512x512xf32>, tensor<512x512xf32>) outs(%f : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %m : tensor<512x512xf32>
}

// -----

func.func @threads(%x: tensor<512xf32>) -> tensor<512xf32> {
  %e = tensor.empty() : tensor<512xf32>
  // expected-error @below {{the tile does not fit device sm_80: it needs registers 17 of 255, shared memory 0 of 166912 bytes, threads 2048 of 1024}}
  %m = linalg.negf {fuse.group = #fuse.group<id = 0, kernel = "pointwise">, fuse.tile = #fuse.tile<sizes = [2048], threads = 2048>} ins(%x : tensor<512xf32>) outs(%e : tensor<512xf32>) -> tensor<512xf32>
  return %m : tensor<512xf32>
}

// -----

// The shared memory of a device file's or an option's share counts.
module attributes {fuse.options = {policy = "cost", target = "sm_80", boundary = 0.1}} {
  func.func @share(%x: tensor<8x8192xf32>) -> tensor<8xf32> {
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<8xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    // expected-error @below {{shared memory 32768 of 16691.2 bytes}}
    %m = linalg.reduce { arith.addf } ins(%x : tensor<8x8192xf32>) outs(%f : tensor<8xf32>) dimensions = [1] {fuse.group = #fuse.group<id = 0, kernel = "row">, fuse.tile = #fuse.tile<sizes = [1, 8192, 1], threads = 256>}
    return %m : tensor<8xf32>
  }
}

// -----

func.func @rank(%x: tensor<512xf32>) -> tensor<512xf32> {
  %e = tensor.empty() : tensor<512xf32>
  // expected-error @below {{the tile has 2 sizes, class 'pointwise' has 1}}
  %m = linalg.negf {fuse.group = #fuse.group<id = 0, kernel = "pointwise">, fuse.tile = #fuse.tile<sizes = [8, 8], threads = 64>} ins(%x : tensor<512xf32>) outs(%e : tensor<512xf32>) -> tensor<512xf32>
  return %m : tensor<512xf32>
}

// -----

func.func @zero(%x: tensor<512xf32>) -> tensor<512xf32> {
  %e = tensor.empty() : tensor<512xf32>
  // expected-error @below {{the tile has a size of 0, expected at least 1}}
  %m = linalg.negf {fuse.group = #fuse.group<id = 0, kernel = "pointwise">, fuse.tile = #fuse.tile<sizes = [0], threads = 64>} ins(%x : tensor<512xf32>) outs(%e : tensor<512xf32>) -> tensor<512xf32>
  return %m : tensor<512xf32>
}

// -----

func.func @blocks(%x: tensor<64xf32>, %n: index) -> tensor<64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<64xf32>
  %a = linalg.negf {fuse.group = #fuse.group<id = 0, kernel = "pointwise">} ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %l = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %e) -> (tensor<64xf32>) {
    // expected-error @below {{operators #0 and #1 are in different blocks}}
    %b = linalg.exp {fuse.group = #fuse.group<id = 0, kernel = "pointwise">} ins(%a : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
    scf.yield %b : tensor<64xf32>
  }
  return %l : tensor<64xf32>
}

// -----

func.func @memory(%x: memref<64xf32>, %y: memref<64xf32>) {
  // expected-error @below {{operator #0 works on memrefs: kernels are formed on tensors}}
  linalg.negf {fuse.group = #fuse.group<id = 0, kernel = "pointwise">} ins(%x : memref<64xf32>) outs(%y : memref<64xf32>)
  return
}

// CHECK-COUNT-7: func.func @
// WARN: warning: group 0 is left unfused: the tile does not fit device sm_80
// WARN: warning: group 0 is left unfused: the tile does not fit device sm_80
// WARN: warning: group 0 is left unfused: the tile has 2 sizes, class 'pointwise' has 1
// WARN: warning: group 0 is left unfused: the tile has a size of 0, expected at least 1
// WARN: warning: group 0 is left unfused: operators #0 and #1 are in different blocks
// WARN: warning: group 0 is left unfused: operator #0 works on memrefs
