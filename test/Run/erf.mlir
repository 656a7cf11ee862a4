// f32 and narrower erf becomes arithmetic that keeps NaN; f64 stays a function.
// RUN: fuse-opt %s --fuse-cpu-math --split-input-file | FileCheck %s

// CHECK-LABEL: @narrow
// CHECK-SAME: %[[X:.*]]: vector<4xf32>
// CHECK: %[[ABOVE:.*]] = arith.cmpf ogt, %[[X]], %{{.*}} : vector<4xf32>
// CHECK: %[[LOW:.*]] = arith.select %[[ABOVE]], %{{.*}}, %[[X]]
// CHECK: %[[BELOW:.*]] = arith.cmpf olt, %[[LOW]]
// CHECK: arith.select %[[BELOW]], %{{.*}}, %[[LOW]]
// CHECK-COUNT-10: math.fma
// CHECK: arith.divf
// CHECK-NOT: math.erf
func.func @narrow(%x: vector<4xf32>) -> vector<4xf32> {
  %0 = math.erf %x : vector<4xf32>
  return %0 : vector<4xf32>
}

// -----

// CHECK-LABEL: @half
// CHECK: arith.extf
// CHECK-NOT: math.erf
// CHECK: arith.truncf
func.func @half(%x: f16) -> f16 {
  %0 = math.erf %x : f16
  return %0 : f16
}

// -----

// CHECK-LABEL: @wide
// CHECK: math.erf %{{.*}} : f64
func.func @wide(%x: f64) -> f64 {
  %0 = math.erf %x : f64
  return %0 : f64
}

// -----

// A division by a constant is a product; one by a value stays one.
// CHECK-LABEL: @divided
// CHECK-SAME: %[[X:.*]]: f32, %[[Y:.*]]: f32
// CHECK: %[[C:.*]] = arith.constant 0.707106769 : f32
// CHECK: arith.mulf %[[X]], %[[C]] : f32
// CHECK-COUNT-1: arith.divf
// CHECK-NOT: arith.divf %[[X]]
// CHECK: arith.divf %[[X]], %[[Y]] : f32
func.func @divided(%x: f32, %y: f32) -> (f32, f32) {
  %c = arith.constant 1.41421354 : f32
  %d = arith.divf %x, %c : f32
  %0 = math.erf %d : f32
  %q = arith.divf %x, %y : f32
  %1 = math.erf %q : f32
  return %0, %1 : f32, f32
}

// -----

// The reciprocal of a number so large has fewer digits, that of 0 none.
// CHECK-LABEL: @no_reciprocal
// CHECK-SAME: %[[X:.*]]: f32
// CHECK: arith.divf %[[X]], %{{.*}} : f32
// CHECK: arith.divf %[[X]], %{{.*}} : f32
func.func @no_reciprocal(%x: f32) -> (f32, f32) {
  %large = arith.constant 2.0e+38 : f32
  %zero = arith.constant 0.0 : f32
  %d = arith.divf %x, %large : f32
  %0 = math.erf %d : f32
  %q = arith.divf %x, %zero : f32
  %1 = math.erf %q : f32
  return %0, %1 : f32, f32
}
