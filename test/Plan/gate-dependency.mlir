// RUN: fuse-opt %s --fuse-boundary=emit=remarks --remarks-filter="fuse-boundary" --remark-format=emitRemark -o /dev/null --split-input-file 2>&1 | grep "remark:" | FileCheck %s

#id = affine_map<(d0) -> (d0)>

// CHECK: Function=plain | {{.*}}Reason="can fuse", Verdict=fuse
func.func @plain(%x: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %p = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %q = linalg.negf ins(%p : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %q : tensor<8xf32>
}

// A store in the producer's body.
// CHECK: Function=store | {{.*}}Flip="take 'memref.store' out of the body"{{.*}}Reason="dependency: side effect", Verdict=keep
func.func @store(%x: tensor<8xf32>, %m: memref<f32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %p = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    memref.store %a, %m[] : memref<f32>
    linalg.yield %a : f32
  } -> tensor<8xf32>
  %q = linalg.negf ins(%p : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %q : tensor<8xf32>
}

// A load only reads.
// CHECK: Function=load | {{.*}}Reason="can fuse", Verdict=fuse
func.func @load(%x: tensor<8xf32>, %m: memref<f32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %p = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = memref.load %m[] : memref<f32>
    %s = arith.addf %a, %v : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %q = linalg.negf ins(%p : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %q : tensor<8xf32>
}

// A call of unknown effects between the two is a wall ...
func.func private @unknown()
// CHECK: Function=call_between | {{.*}}Reason="dependency: side effect", Verdict=keep
func.func @call_between(%x: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %p = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  call @unknown() : () -> ()
  %q = linalg.negf ins(%p : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %q : tensor<8xf32>
}

// ... before or after them it is none.
// CHECK: Function=call_after | {{.*}}Reason="can fuse", Verdict=fuse
func.func @call_after(%x: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  call @unknown() : () -> ()
  %p = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %q = linalg.negf ins(%p : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  call @unknown() : () -> ()
  return %q : tensor<8xf32>
}

// CHECK: Function=other_block | {{.*}}Reason="dependency: operators are in different blocks", Verdict=keep
func.func @other_block(%x: tensor<8xf32>, %c: i1) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %p = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %r = scf.if %c -> (tensor<8xf32>) {
    %q = linalg.negf ins(%p : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    scf.yield %q : tensor<8xf32>
  } else {
    scf.yield %x : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// Both in the same region: fuse.
// CHECK: Function=same_region | {{.*}}Reason="can fuse", Verdict=fuse
func.func @same_region(%x: tensor<8xf32>, %c: i1) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %r = scf.if %c -> (tensor<8xf32>) {
    %p = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    %q = linalg.negf ins(%p : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    scf.yield %q : tensor<8xf32>
  } else {
    scf.yield %x : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// An scf.if needs the producer and is needed by the consumer.
// CHECK: Function=cycle | {{.*}}Reason="dependency: fusing would make a cycle", Verdict=keep
func.func @cycle(%x: tensor<8xf32>, %c: i1) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %p = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %r = scf.if %c -> (tensor<8xf32>) {
    scf.yield %p : tensor<8xf32>
  } else {
    scf.yield %x : tensor<8xf32>
  }
  %q = linalg.add ins(%p, %r : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %q : tensor<8xf32>
}

// The path through another operator is no cycle: that operator can join.
// CHECK-COUNT-2: Function=diamond | {{.*}}Reason="dependency: multiple consumers", Verdict=conditional
// CHECK: Function=diamond | {{.*}}Reason="can fuse", Verdict=fuse
func.func @diamond(%x: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %p = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %r = linalg.negf ins(%p : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %q = linalg.add ins(%p, %r : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %q : tensor<8xf32>
}

// The consumer's body reads the whole intermediate as well.
// CHECK: Function=captured | {{.*}}Reason="dependency: consumer captures the producer's value", Verdict=keep
func.func @captured(%x: tensor<8xf32>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %e = tensor.empty() : tensor<8xf32>
  %p = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %q = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%p : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = tensor.extract %p[%c0] : tensor<8xf32>
    %s = arith.subf %a, %v : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  return %q : tensor<8xf32>
}

// The consumer overwrites an argument that it reads; with a destination of its own it fuses.
// CHECK: Function=copy | {{.*}}Reason="dependency: a copy is needed", Verdict=keep
func.func @copy(%x: tensor<8xf32>, %acc: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %p = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %q = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%p : tensor<8xf32>) outs(%acc : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %o : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  return %q : tensor<8xf32>
}
// CHECK: Function=no_copy | {{.*}}Reason="can fuse", Verdict=fuse
func.func @no_copy(%x: tensor<8xf32>, %acc: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %p = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %q = linalg.add ins(%p, %acc : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %q : tensor<8xf32>
}
