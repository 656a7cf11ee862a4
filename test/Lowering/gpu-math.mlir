// Functions of GPU kernels become arithmetic and intrinsics that the backend has.
// RUN: fuse-opt %s --fuse-gpu-math --split-input-file | FileCheck %s
// RUN: fuse-opt %s --fuse-gpu-math --split-input-file | FileCheck %s --check-prefix=NONE

// NONE-NOT: math.{{[a-bd-z]}}
// NONE-NOT: arith.remf
// NONE-NOT: arith.{{(ceil|floor)div}}

// Narrow floats are computed in f32.
// CHECK-LABEL: @half
// CHECK: arith.extf %{{.*}} : vector<8xf16> to vector<8xf32>
// CHECK: llvm.call_intrinsic "llvm.fma"
// CHECK: arith.truncf %{{.*}} : vector<8xf32> to vector<8xf16>
func.func @half(%x: vector<8xf16>) -> vector<8xf16> {
  %0 = math.tanh %x : vector<8xf16>
  return %0 : vector<8xf16>
}

// -----

// What the backend has stays narrow.
// CHECK-LABEL: @native
// CHECK: llvm.call_intrinsic "llvm.fabs"(%{{.*}}) : (bf16) -> bf16
// CHECK: llvm.call_intrinsic "llvm.maximum"(%{{.*}}) : (bf16, bf16) -> bf16
func.func @native(%x: bf16, %y: bf16) -> bf16 {
  %0 = math.absf %x : bf16
  %1 = arith.maximumf %0, %y : bf16
  return %1 : bf16
}

// -----

// Angles that are large for one of the lanes cost a branch.
// CHECK-LABEL: @angle
// CHECK: %[[ANY:.*]] = vector.reduction <or>
// CHECK: scf.if %[[ANY]] -> (vector<4xi32>, vector<4xf32>, vector<4xf32>)
// CHECK: arith.mului_extended
// CHECK: else
// CHECK-NOT: arith.mului_extended
func.func @angle(%x: vector<4xf32>) -> vector<4xf32> {
  %0 = math.sin %x : vector<4xf32>
  return %0 : vector<4xf32>
}

// -----

// Constant powers: a product; a root, but pow(-inf, 0.5) is inf.
// CHECK-LABEL: @powers
// CHECK: arith.mulf %[[X:.*]], %[[X]] : f32
// CHECK: llvm.call_intrinsic "llvm.sqrt"
// CHECK: arith.cmpf oeq, %[[X]]
// CHECK-NOT: llvm.fma
// CHECK: return
func.func @powers(%x: f32) -> (f32, f32) {
  %two = arith.constant 2.0 : f32
  %half = arith.constant 0.5 : f32
  %0 = math.powf %x, %two : f32
  %1 = math.powf %x, %half : f32
  return %0, %1 : f32, f32
}

// -----

// An integer power: a step for each bit of the exponent.
// CHECK-LABEL: @whole
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c32{{.*}} step %c1
// CHECK: arith.muli
// CHECK: arith.shrui
func.func @whole(%x: vector<4xi32>, %n: vector<4xi32>) -> vector<4xi32> {
  %0 = math.ipowi %x, %n : vector<4xi32>
  return %0 : vector<4xi32>
}

// -----

// An exact remainder: 40 bits of the quotient at a time.
// CHECK-LABEL: @remainder
// CHECK: scf.while
// CHECK: arith.minsi %{{.*}}, %c40
// CHECK: arith.remui
func.func @remainder(%x: f32, %y: f32) -> f32 {
  %0 = arith.remf %x, %y : f32
  return %0 : f32
}

// -----

// CHECK-LABEL: @integers
// CHECK: arith.maxsi
// CHECK: math.ctlz
func.func @integers(%x: i32, %y: i32, %z: f64, %n: i32) -> (i32, i32, i32, i1, f64) {
  %0 = math.absi %x : i32
  %1 = arith.ceildivsi %0, %y : i32
  %2 = math.ctlz %1 : i32
  %3 = math.isnan %z : f64
  %4 = math.fpowi %z, %n : f64, i32
  return %0, %1, %2, %3, %4 : i32, i32, i32, i1, f64
}
