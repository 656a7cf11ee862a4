// RUN: not fuse-opt %s --fuse-boundary="target=sm_1" 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not fuse-opt %s --fuse-boundary="policy=loose" 2>&1 | FileCheck %s --check-prefix=POLICY
// RUN: not fuse-opt %s --fuse-boundary="boundary=1.5" 2>&1 | FileCheck %s --check-prefix=SHARE
// RUN: not fuse-opt %s --fuse-boundary="tolerance=-1" 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not fuse-opt %s --fuse-boundary="emit=everything" 2>&1 | FileCheck %s --check-prefix=EMIT
// RUN: not fuse-opt %s --fuse-boundary="mode=half" 2>&1 | FileCheck %s --check-prefix=MODE
// RUN: not fuse-opt %s --fuse-boundary="target=dlti" 2>&1 | FileCheck %s --check-prefix=NODLTI
// RUN: not fuse-opt %s --fuse-mark-params=args=5 2>&1 | FileCheck %s --check-prefix=ARGS
// RUN: not fuse-opt %s --fuse-mark-params=args=x- 2>&1 | FileCheck %s --check-prefix=RANGE
// RUN: not fuse-opt %s --fuse-explain="file=%t.dir/none/x.txt" 2>&1 | FileCheck %s --check-prefix=FILE

// TARGET: error: fuse-boundary: unknown target 'sm_1', known targets are sm_75, sm_80, sm_86, sm_89, sm_90, sm_100, x86-avx2, x86-avx512, mali-g610, tda4vm, cpu, and a device file NAME.json
// POLICY: error: fuse-boundary: unknown policy 'loose', known policies are cost, strict
// SHARE: error: fuse-boundary: boundary is 1.5, expected a share in (0, 1]
// NEGATIVE: error: fuse-boundary: tolerance, device-mem and register-limit must be at least 0
// EMIT: error: fuse-boundary: unknown emit 'everything', known are attrs, remarks
// MODE: error: fuse-boundary: unknown mode 'half', known modes are full, fold-only, off
// NODLTI: error: fuse-boundary: the module has no dlti.target_system_spec with a device
// ARGS: error: fuse-mark-params: argument 5 does not exist, 'f' has 1 arguments
// RANGE: error: fuse-mark-params: cannot read 'x-', expected a number or a range such as 3, 1- or 2-5
// FILE: error: fuse-explain: cannot write

// The module keeps what was asked for and no defaults.
// RUN: fuse-opt %s --fuse-boundary | FileCheck %s --check-prefix=DEFAULTS
// RUN: fuse-opt %s --fuse-boundary="policy=strict boundary=0.5 emit=attrs mode=fold-only target=x86-avx512" | FileCheck %s --check-prefix=GIVEN
// DEFAULTS: module attributes {fuse.options = {policy = "cost", target = "sm_80"}}
// GIVEN: module attributes {fuse.options = {boundary = 5.000000e-01 : f64, mode = "fold-only", policy = "strict", target = "x86-avx512"}}

// emit=remarks writes no attributes on operators.
// RUN: fuse-opt %s --fuse-boundary=emit=remarks | FileCheck %s --check-prefix=NOATTRS
// NOATTRS-NOT: #fuse.

// A mode that fuses no loops keeps every edge and says so.
// RUN: fuse-opt %s --fuse-boundary=mode=off | FileCheck %s --check-prefix=OFF
// OFF: #fuse.boundary<keep, producer = 0, operand = 0, gate = override, reason = "override: mode fuses nothing", flip = "mode=full">
// GIVEN: reason = "override: mode folds only"

func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %p = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %q = linalg.negf ins(%p : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %q : tensor<8xf32>
}
