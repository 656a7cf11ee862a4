// Each kernel class and mode: fused and unfused values agree.
// RUN: fuse-run %s --entry=row --compare --repeat=0 | FileCheck %s
// RUN: fuse-run %s --entry=row --compare --repeat=0 --threads=2 | FileCheck %s
// RUN: fuse-run %s --entry=pointwise --compare --repeat=0 | FileCheck %s
// RUN: fuse-run %s --entry=contraction --compare --repeat=0 | FileCheck %s
// RUN: fuse-run %s --entry=contraction --compare --repeat=0 --threads=2 | FileCheck %s
// RUN: fuse-run %s --entry=convolution --params=1- --compare --repeat=0 | FileCheck %s
// RUN: fuse-run %s --entry=convolution --params=1- --mode=fold-only --compare --repeat=0 | FileCheck %s
// RUN: fuse-run %s --entry=window --compare --repeat=0 | FileCheck %s
// RUN: fuse-run %s --entry=two_results --compare --repeat=0 | FileCheck %s --check-prefixes=CHECK,TWO
// CHECK: result 0: equal, d_acc =
// TWO-NEXT: result 1: equal, d_acc =

#id = affine_map<(d0, d1) -> (d0, d1)>
#rows = affine_map<(d0, d1) -> (d0)>
#columns = affine_map<(d0, d1) -> (d1)>

// 37 columns: two vectors and a rest.
func.func @row(%x: tensor<5x37xf32>) -> tensor<5x37xf32> {
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<5x37xf32>
  %es = tensor.empty() : tensor<5xf32>
  %lows = linalg.fill ins(%low : f32) outs(%es : tensor<5xf32>) -> tensor<5xf32>
  %max = linalg.reduce ins(%x : tensor<5x37xf32>) outs(%lows : tensor<5xf32>) dimensions = [1]
    (%in: f32, %out: f32) {
      %m = arith.maximumf %in, %out : f32
      linalg.yield %m : f32
    }
  %exp = linalg.generic {indexing_maps = [#id, #rows, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %max : tensor<5x37xf32>, tensor<5xf32>) outs(%e : tensor<5x37xf32>) {
  ^bb0(%in: f32, %most: f32, %out: f32):
    %d = arith.subf %in, %most : f32
    %p = math.exp %d : f32
    linalg.yield %p : f32
  } -> tensor<5x37xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%es : tensor<5xf32>) -> tensor<5xf32>
  %sum = linalg.reduce ins(%exp : tensor<5x37xf32>) outs(%zeros : tensor<5xf32>) dimensions = [1]
    (%in: f32, %out: f32) {
      %s = arith.addf %in, %out : f32
      linalg.yield %s : f32
    }
  %r = linalg.generic {indexing_maps = [#id, #rows, #id], iterator_types = ["parallel", "parallel"]}
      ins(%exp, %sum : tensor<5x37xf32>, tensor<5xf32>) outs(%e : tensor<5x37xf32>) {
  ^bb0(%in: f32, %total: f32, %out: f32):
    %q = arith.divf %in, %total : f32
    linalg.yield %q : f32
  } -> tensor<5x37xf32>
  return %r : tensor<5x37xf32>
}

func.func @pointwise(%x: tensor<9x130xf32>, %b: tensor<130xf32>) -> tensor<9x130xf32> {
  %e = tensor.empty() : tensor<9x130xf32>
  %0 = linalg.generic {indexing_maps = [#id, #columns, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %b : tensor<9x130xf32>, tensor<130xf32>) outs(%e : tensor<9x130xf32>) {
  ^bb0(%in: f32, %bias: f32, %out: f32):
    %s = arith.addf %in, %bias : f32
    %t = math.tanh %s : f32
    linalg.yield %t : f32
  } -> tensor<9x130xf32>
  %1 = linalg.exp ins(%0 : tensor<9x130xf32>) outs(%e : tensor<9x130xf32>) -> tensor<9x130xf32>
  return %1 : tensor<9x130xf32>
}

// A transposed operand, and extents that no tile divides.
func.func @contraction(%a: tensor<13x31xf32>, %w: tensor<70x31xf32>, %b: tensor<70xf32>) -> tensor<13x70xf32> {
  %zero = arith.constant 0.0 : f32
  %et = tensor.empty() : tensor<31x70xf32>
  %t = linalg.transpose ins(%w : tensor<70x31xf32>) outs(%et : tensor<31x70xf32>) permutation = [1, 0]
  %e = tensor.empty() : tensor<13x70xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<13x70xf32>) -> tensor<13x70xf32>
  %m = linalg.matmul ins(%a, %t : tensor<13x31xf32>, tensor<31x70xf32>) outs(%f : tensor<13x70xf32>) -> tensor<13x70xf32>
  %r = linalg.generic {indexing_maps = [#id, #columns, #id], iterator_types = ["parallel", "parallel"]}
      ins(%m, %b : tensor<13x70xf32>, tensor<70xf32>) outs(%e : tensor<13x70xf32>) {
  ^bb0(%in: f32, %bias: f32, %out: f32):
    %s = arith.addf %in, %bias : f32
    %p = arith.maximumf %s, %zero : f32
    linalg.yield %p : f32
  } -> tensor<13x70xf32>
  return %r : tensor<13x70xf32>
}

// Strided, padded, with a per-channel scale behind it.
func.func @convolution(%x: tensor<2x3x17x15xf32>, %w: tensor<8x3x3x3xf32>, %s: tensor<8xf32>) -> tensor<2x8x9x8xf32> {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<2x3x17x15xf32> to tensor<2x3x19x17xf32>
  %e = tensor.empty() : tensor<2x8x9x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x8x9x8xf32>) -> tensor<2x8x9x8xf32>
  %c = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>}
      ins(%p, %w : tensor<2x3x19x17xf32>, tensor<8x3x3x3xf32>) outs(%f : tensor<2x8x9x8xf32>) -> tensor<2x8x9x8xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(n, c, h, w) -> (n, c, h, w)>, affine_map<(n, c, h, w) -> (c)>,
                                        affine_map<(n, c, h, w) -> (n, c, h, w)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%c, %s : tensor<2x8x9x8xf32>, tensor<8xf32>) outs(%e : tensor<2x8x9x8xf32>) {
  ^bb0(%in: f32, %scale: f32, %out: f32):
    %m = arith.mulf %in, %scale : f32
    linalg.yield %m : f32
  } -> tensor<2x8x9x8xf32>
  return %r : tensor<2x8x9x8xf32>
}

func.func @window(%x: tensor<1x4x12x12xf32>) -> tensor<1x4x5x5xf32> {
  %low = arith.constant 0xFF800000 : f32
  %k = tensor.empty() : tensor<3x3xf32>
  %e = tensor.empty() : tensor<1x4x5x5xf32>
  %f = linalg.fill ins(%low : f32) outs(%e : tensor<1x4x5x5xf32>) -> tensor<1x4x5x5xf32>
  %r = linalg.pooling_nchw_max {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>}
      ins(%x, %k : tensor<1x4x12x12xf32>, tensor<3x3xf32>) outs(%f : tensor<1x4x5x5xf32>) -> tensor<1x4x5x5xf32>
  return %r : tensor<1x4x5x5xf32>
}

// Every second element, in whole vectors and a rest, up to the very last one.
func.func @wide_window(%x: tensor<1x2x9x79xf32>) -> tensor<1x2x4x39xf32> {
  %low = arith.constant 0xFF800000 : f32
  %k = tensor.empty() : tensor<3x3xf32>
  %e = tensor.empty() : tensor<1x2x4x39xf32>
  %f = linalg.fill ins(%low : f32) outs(%e : tensor<1x2x4x39xf32>) -> tensor<1x2x4x39xf32>
  %r = linalg.pooling_nchw_max {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>}
      ins(%x, %k : tensor<1x2x9x79xf32>, tensor<3x3xf32>) outs(%f : tensor<1x2x4x39xf32>) -> tensor<1x2x4x39xf32>
  return %r : tensor<1x2x4x39xf32>
}

// Both the rows and what they sum to go out; integers and f64 beside f32.
func.func @two_results(%x: tensor<6x40xf64>) -> (tensor<6x40xf64>, tensor<6xf64>) {
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<6x40xf64>
  %y = linalg.exp ins(%x : tensor<6x40xf64>) outs(%e : tensor<6x40xf64>) -> tensor<6x40xf64>
  %es = tensor.empty() : tensor<6xf64>
  %f = linalg.fill ins(%zero : f64) outs(%es : tensor<6xf64>) -> tensor<6xf64>
  %s = linalg.reduce ins(%y : tensor<6x40xf64>) outs(%f : tensor<6xf64>) dimensions = [1]
    (%in: f64, %out: f64) {
      %a = arith.addf %in, %out : f64
      linalg.yield %a : f64
    }
  return %y, %s : tensor<6x40xf64>, tensor<6xf64>
}

func.func @erf(%x: tensor<7x21xf32>, %y: tensor<7x21xf16>) -> (tensor<7x21xf32>, tensor<7x21xf16>) {
  %e = tensor.empty() : tensor<7x21xf32>
  %f = tensor.empty() : tensor<7x21xf16>
  %0 = linalg.erf ins(%x : tensor<7x21xf32>) outs(%e : tensor<7x21xf32>) -> tensor<7x21xf32>
  %1 = linalg.erf ins(%y : tensor<7x21xf16>) outs(%f : tensor<7x21xf16>) -> tensor<7x21xf16>
  return %0, %1 : tensor<7x21xf32>, tensor<7x21xf16>
}

// For tools that look at the code of all of them at once.
func.func @all(%a: tensor<5x37xf32>, %b: tensor<9x130xf32>, %c: tensor<130xf32>, %d: tensor<13x31xf32>,
               %e: tensor<70x31xf32>, %f: tensor<70xf32>, %g: tensor<2x3x17x15xf32>, %h: tensor<8x3x3x3xf32>,
               %i: tensor<8xf32>, %j: tensor<1x4x12x12xf32>, %k: tensor<6x40xf64>, %l: tensor<7x21xf32>, %m: tensor<7x21xf16>,
               %n: tensor<1x2x9x79xf32>)
    -> (tensor<5x37xf32>, tensor<9x130xf32>, tensor<13x70xf32>, tensor<2x8x9x8xf32>, tensor<1x4x5x5xf32>,
        tensor<6x40xf64>, tensor<6xf64>, tensor<7x21xf32>, tensor<7x21xf16>, tensor<1x2x4x39xf32>) {
  %0 = call @row(%a) : (tensor<5x37xf32>) -> tensor<5x37xf32>
  %1 = call @pointwise(%b, %c) : (tensor<9x130xf32>, tensor<130xf32>) -> tensor<9x130xf32>
  %2 = call @contraction(%d, %e, %f) : (tensor<13x31xf32>, tensor<70x31xf32>, tensor<70xf32>) -> tensor<13x70xf32>
  %3 = call @convolution(%g, %h, %i) : (tensor<2x3x17x15xf32>, tensor<8x3x3x3xf32>, tensor<8xf32>) -> tensor<2x8x9x8xf32>
  %4 = call @window(%j) : (tensor<1x4x12x12xf32>) -> tensor<1x4x5x5xf32>
  %5:2 = call @two_results(%k) : (tensor<6x40xf64>) -> (tensor<6x40xf64>, tensor<6xf64>)
  %6:2 = call @erf(%l, %m) : (tensor<7x21xf32>, tensor<7x21xf16>) -> (tensor<7x21xf32>, tensor<7x21xf16>)
  %7 = call @wide_window(%n) : (tensor<1x2x9x79xf32>) -> tensor<1x2x4x39xf32>
  return %0, %1, %2, %3, %4, %5#0, %5#1, %6#0, %6#1, %7 : tensor<5x37xf32>, tensor<9x130xf32>, tensor<13x70xf32>, tensor<2x8x9x8xf32>,
      tensor<1x4x5x5xf32>, tensor<6x40xf64>, tensor<6xf64>, tensor<7x21xf32>, tensor<7x21xf16>, tensor<1x2x4x39xf32>
}
