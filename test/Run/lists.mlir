// A list of calls is not optimised, which takes long where it is long; a loop, and what is called, are.
// RUN: fuse-opt %s --fuse-cpu-functions | FileCheck %s

// CHECK: func.func @list({{.*}}) attributes {{{.*}}passthrough = ["noinline", "optnone"]}
func.func @list(%x: memref<4xf32>) {
  call @kernel(%x) : (memref<4xf32>) -> ()
  call @kernel(%x) : (memref<4xf32>) -> ()
  return
}

// CHECK: func.func @loop(
// CHECK-NOT: optnone
func.func @loop(%x: memref<4xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    func.call @kernel(%x) : (memref<4xf32>) -> ()
  }
  return
}

func.func private @kernel(%x: memref<4xf32>) attributes {fuse.kernel = "pointwise"} {
  return
}
