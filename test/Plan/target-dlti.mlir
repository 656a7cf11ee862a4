// RUN: fuse-opt %s --fuse-boundary=target=dlti:GPU --fuse-explain -o /dev/null 2>&1 | FileCheck %s
// RUN: fuse-opt %s --fuse-boundary=target=dlti --fuse-explain -o /dev/null 2>&1 | FileCheck %s --check-prefix=FIRST
// RUN: not fuse-opt %s --fuse-boundary=target=dlti:NPU 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not fuse-opt %s --fuse-boundary=target=dlti:HALF 2>&1 | FileCheck %s --check-prefix=HALF
// RUN: not fuse-opt %s --fuse-boundary=target=dlti:NEGATIVE 2>&1 | FileCheck %s --check-prefix=NEGATIVE

// A description of the target in the module: `base` names a preset, the other keys override it.
// CHECK: fuse: target dlti:GPU, policy cost
// CHECK: gain_us=101.152
// FIRST: fuse: target dlti, policy cost
// FIRST: gain_us=0.902223
// UNKNOWN: dlti.target_system_spec has no device 'NPU', known are CPU, GPU, HALF, NEGATIVE
// HALF: dlti.target_system_spec: key 'peak_f32' is missing; a key base = "sm_80" fills in the others
// NEGATIVE: dlti key 'launch': expected a positive number, found -1 : i64
module attributes {dlti.target_system_spec = #dlti.target_system_spec<
    "CPU" = #dlti.target_device_spec<"base" = "sm_80", "L1_cache_size_in_bytes" = 32768 : i64>,
    "GPU" = #dlti.target_device_spec<"base" = "sm_80", "launch" = 1.0e-4 : f64, "bandwidth" = 3.0e9 : f64>,
    "HALF" = #dlti.target_device_spec<"launch" = 1.0e-4 : f64>,
    "NEGATIVE" = #dlti.target_device_spec<"base" = "sm_80", "launch" = -1 : i64>>} {
  func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
    %e = tensor.empty() : tensor<8xf32>
    %p = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    %q = linalg.negf ins(%p : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    return %q : tensor<8xf32>
  }
}
