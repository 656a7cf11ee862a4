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
