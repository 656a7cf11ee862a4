// RUN: fuse-opt %s --fuse-boundary --fuse-plan --fuse-explain -o /dev/null 2>&1 | FileCheck %s

// An operator that is read at two elements for each result is evaluated twice in the kernel; read twice at one element, once.

// 24 more tanh for each element take longer than storing and loading it.
// CHECK-LABEL: function @shifted:
// CHECK: plan: joined kernel would take {{.*}} us longer
// CHECK: kernel 1 pointwise
func.func @shifted(%x: tensor<1048576xf32>) -> tensor<1048576xf32> {
  %c = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1048576xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : tensor<1048576xf32>) outs(%e : tensor<1048576xf32>) {
  ^bb0(%p: f32, %o: f32):
    %t1 = math.tanh %p : f32
    %t2 = math.tanh %t1 : f32
    %t3 = math.tanh %t2 : f32
    %t4 = math.tanh %t3 : f32
    %t5 = math.tanh %t4 : f32
    %t6 = math.tanh %t5 : f32
    %t7 = math.tanh %t6 : f32
    %t8 = math.tanh %t7 : f32
    %t9 = math.tanh %t8 : f32
    %t10 = math.tanh %t9 : f32
    %t11 = math.tanh %t10 : f32
    %t12 = math.tanh %t11 : f32
    %t13 = math.tanh %t12 : f32
    %t14 = math.tanh %t13 : f32
    %t15 = math.tanh %t14 : f32
    %t16 = math.tanh %t15 : f32
    %t17 = math.tanh %t16 : f32
    %t18 = math.tanh %t17 : f32
    %t19 = math.tanh %t18 : f32
    %t20 = math.tanh %t19 : f32
    %t21 = math.tanh %t20 : f32
    %t22 = math.tanh %t21 : f32
    %t23 = math.tanh %t22 : f32
    %t24 = math.tanh %t23 : f32
    linalg.yield %t24 : f32
  } -> tensor<1048576xf32>
  %s = tensor.extract_slice %y[0] [1048575] [1] : tensor<1048576xf32> to tensor<1048575xf32>
  %d = tensor.pad %s low[1] high[0] {
  ^bb0(%i: index):
    tensor.yield %c : f32
  } : tensor<1048575xf32> to tensor<1048576xf32>
  %r = linalg.add ins(%y, %d : tensor<1048576xf32>, tensor<1048576xf32>) outs(%e : tensor<1048576xf32>) -> tensor<1048576xf32>
  return %r : tensor<1048576xf32>
}

// The near-miss.
// CHECK-LABEL: function @same:
// CHECK: plan: in kernel 0
// CHECK: kernel 0 pointwise (planned): generic(tanh, tanh{{.*}}), add
// CHECK-NOT: kernel 1
func.func @same(%x: tensor<1048576xf32>) -> tensor<1048576xf32> {
  %c = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1048576xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : tensor<1048576xf32>) outs(%e : tensor<1048576xf32>) {
  ^bb0(%p: f32, %o: f32):
    %t1 = math.tanh %p : f32
    %t2 = math.tanh %t1 : f32
    %t3 = math.tanh %t2 : f32
    %t4 = math.tanh %t3 : f32
    %t5 = math.tanh %t4 : f32
    %t6 = math.tanh %t5 : f32
    %t7 = math.tanh %t6 : f32
    %t8 = math.tanh %t7 : f32
    %t9 = math.tanh %t8 : f32
    %t10 = math.tanh %t9 : f32
    %t11 = math.tanh %t10 : f32
    %t12 = math.tanh %t11 : f32
    %t13 = math.tanh %t12 : f32
    %t14 = math.tanh %t13 : f32
    %t15 = math.tanh %t14 : f32
    %t16 = math.tanh %t15 : f32
    %t17 = math.tanh %t16 : f32
    %t18 = math.tanh %t17 : f32
    %t19 = math.tanh %t18 : f32
    %t20 = math.tanh %t19 : f32
    %t21 = math.tanh %t20 : f32
    %t22 = math.tanh %t21 : f32
    %t23 = math.tanh %t22 : f32
    %t24 = math.tanh %t23 : f32
    linalg.yield %t24 : f32
  } -> tensor<1048576xf32>
  %r = linalg.add ins(%y, %y : tensor<1048576xf32>, tensor<1048576xf32>) outs(%e : tensor<1048576xf32>) -> tensor<1048576xf32>
  return %r : tensor<1048576xf32>
}
