// A sum of no elements is what it starts from; nothing is read of the empty inputs.
// RUN: fuse-run %s --target=emulator:sm_80 --repeat=0 --save-outputs=%t.80
// RUN: fuse-run %s --target=emulator:sm_75 --repeat=0 --save-outputs=%t.75
// RUN: %python -c "import sys, pathlib, numpy; print([float(v) for d in sys.argv[1:] for f in sorted(pathlib.Path(d).glob('*.npy')) for v in numpy.unique(numpy.load(f))])" %t.80 %t.75 | FileCheck %s
// CHECK: [1.5, 1.5, 1.5, 1.5]
func.func @main(%a: tensor<32x0xf32>, %b: tensor<0x32xf32>, %c: tensor<32x0xf16>, %d: tensor<0x32xf16>) -> (tensor<32x32xf32>, tensor<32x32xf32>) {
  %start = arith.constant 1.5 : f32
  %e = tensor.empty() : tensor<32x32xf32>
  %f = linalg.fill ins(%start : f32) outs(%e : tensor<32x32xf32>) -> tensor<32x32xf32>
  %single = linalg.matmul ins(%a, %b : tensor<32x0xf32>, tensor<0x32xf32>) outs(%f : tensor<32x32xf32>) -> tensor<32x32xf32>
  %half = linalg.matmul ins(%c, %d : tensor<32x0xf16>, tensor<0x32xf16>) outs(%f : tensor<32x32xf32>) -> tensor<32x32xf32>
  return %single, %half : tensor<32x32xf32>, tensor<32x32xf32>
}
