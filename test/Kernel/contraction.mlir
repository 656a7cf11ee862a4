// RUN: fuse-opt %s --fuse-boundary --fuse-plan --fuse-explain -o /dev/null 2>&1 | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#col = affine_map<(d0, d1) -> (d1)>
#id4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>

// Bias, residual and activation run on the output tile; a transposed weight is read as it lies.
// CHECK-LABEL: function @epilogue:
// CHECK: kernel 0 contraction (planned): matmul, generic(addf), add, generic(maximumf)
func.func @epilogue(%x: tensor<512x256xf32>, %w: tensor<384x256xf32>, %b: tensor<384xf32>, %r: tensor<512x384xf32>) -> tensor<512x384xf32> {
  %z = arith.constant 0.0 : f32
  %et = tensor.empty() : tensor<256x384xf32>
  %t = linalg.transpose ins(%w : tensor<384x256xf32>) outs(%et : tensor<256x384xf32>) permutation = [1, 0]
  %e = tensor.empty() : tensor<512x384xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<512x384xf32>) -> tensor<512x384xf32>
  %m = linalg.matmul ins(%x, %t : tensor<512x256xf32>, tensor<256x384xf32>) outs(%f : tensor<512x384xf32>) -> tensor<512x384xf32>
  %a = linalg.generic {indexing_maps = [#id, #col, #id], iterator_types = ["parallel", "parallel"]} ins(%m, %b : tensor<512x384xf32>, tensor<384xf32>) outs(%e : tensor<512x384xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %s = arith.addf %p, %q : f32
    linalg.yield %s : f32
  } -> tensor<512x384xf32>
  %c = linalg.add ins(%a, %r : tensor<512x384xf32>, tensor<512x384xf32>) outs(%e : tensor<512x384xf32>) -> tensor<512x384xf32>
  %d = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%c : tensor<512x384xf32>) outs(%e : tensor<512x384xf32>) {
  ^bb0(%p: f32, %o: f32):
    %s = arith.maximumf %p, %z : f32
    linalg.yield %s : f32
  } -> tensor<512x384xf32>
  return %d : tensor<512x384xf32>
}

// An activation before a matmul is evaluated while its operand is loaded, unless someone else reads it.
// CHECK-LABEL: function @prologue:
// CHECK: kernel 0 contraction (planned): negf, matmul
// CHECK-LABEL: function @prologue_read:
// CHECK: plan: profile: prologue has readers outside the kernel
// CHECK: kernel 0 pointwise (planned): negf
// CHECK: kernel 1 contraction (planned): matmul
func.func @prologue(%x: tensor<512x256xf32>, %w: tensor<256x128xf32>) -> tensor<512x128xf32> {
  %z = arith.constant 0.0 : f32
  %ex = tensor.empty() : tensor<512x256xf32>
  %n = linalg.negf ins(%x : tensor<512x256xf32>) outs(%ex : tensor<512x256xf32>) -> tensor<512x256xf32>
  %e = tensor.empty() : tensor<512x128xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<512x128xf32>) -> tensor<512x128xf32>
  %m = linalg.matmul ins(%n, %w : tensor<512x256xf32>, tensor<256x128xf32>) outs(%f : tensor<512x128xf32>) -> tensor<512x128xf32>
  return %m : tensor<512x128xf32>
}
func.func @prologue_read(%x: tensor<512x256xf32>, %w: tensor<256x128xf32>) -> (tensor<512x128xf32>, tensor<512x256xf32>) {
  %z = arith.constant 0.0 : f32
  %ex = tensor.empty() : tensor<512x256xf32>
  %n = linalg.negf ins(%x : tensor<512x256xf32>) outs(%ex : tensor<512x256xf32>) -> tensor<512x256xf32>
  %e = tensor.empty() : tensor<512x128xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<512x128xf32>) -> tensor<512x128xf32>
  %m = linalg.matmul ins(%n, %w : tensor<512x256xf32>, tensor<256x128xf32>) outs(%f : tensor<512x128xf32>) -> tensor<512x128xf32>
  return %m, %n : tensor<512x128xf32>, tensor<512x256xf32>
}

// A tile of the output is as wide as a row of at most 128: a reduction along it is another kernel. So is the next matmul, where one
// kernel of both, a chain, would take longer.
// CHECK-LABEL: function @reduced:
// CHECK: plan: profile: reduction crosses the producer's tiles
// CHECK: kernel 0 contraction (planned): matmul
// CHECK: kernel 1 row (planned): reduce(addf)
// CHECK-LABEL: function @two:
// CHECK: plan: joined kernel would take {{[0-9.]+}} us longer
// CHECK: kernel 0 contraction (planned): matmul, generic(maximumf)
// CHECK: kernel 1 contraction (planned): matmul
func.func @reduced(%x: tensor<512x256xf32>, %w: tensor<256x512xf32>) -> tensor<512xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x512xf32>
  %e1 = tensor.empty() : tensor<512xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
  %f1 = linalg.fill ins(%z : f32) outs(%e1 : tensor<512xf32>) -> tensor<512xf32>
  %m = linalg.matmul ins(%x, %w : tensor<512x256xf32>, tensor<256x512xf32>) outs(%f : tensor<512x512xf32>) -> tensor<512x512xf32>
  %s = linalg.reduce { arith.addf } ins(%m : tensor<512x512xf32>) outs(%f1 : tensor<512xf32>) dimensions = [1]
  return %s : tensor<512xf32>
}
func.func @two(%x: tensor<512x512xf32>, %w: tensor<512x512xf32>, %v: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x512xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
  %m = linalg.matmul ins(%x, %w : tensor<512x512xf32>, tensor<512x512xf32>) outs(%f : tensor<512x512xf32>) -> tensor<512x512xf32>
  %d = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%m : tensor<512x512xf32>) outs(%e : tensor<512x512xf32>) {
  ^bb0(%p: f32, %o: f32):
    %s = arith.maximumf %p, %z : f32
    linalg.yield %s : f32
  } -> tensor<512x512xf32>
  %n = linalg.matmul ins(%d, %v : tensor<512x512xf32>, tensor<512x512xf32>) outs(%f : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %n : tensor<512x512xf32>
}

// An epilogue over half of the tile's elements, and one that gives every element to several.
// CHECK-LABEL: function @half:
// CHECK: plan: profile: epilogue does not run over the output tile
// CHECK: kernel 1 pointwise (planned): negf
// CHECK-LABEL: function @spread:
// CHECK: plan: profile: epilogue does not run over the output tile
// CHECK: kernel 1 pointwise (planned): add
func.func @half(%x: tensor<512x256xf32>, %w: tensor<256x512xf32>) -> tensor<512x256xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x512xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
  %m = linalg.matmul ins(%x, %w : tensor<512x256xf32>, tensor<256x512xf32>) outs(%f : tensor<512x512xf32>) -> tensor<512x512xf32>
  %h = tensor.extract_slice %m[0, 0] [512, 256] [1, 1] : tensor<512x512xf32> to tensor<512x256xf32>
  %eh = tensor.empty() : tensor<512x256xf32>
  %n = linalg.negf ins(%h : tensor<512x256xf32>) outs(%eh : tensor<512x256xf32>) -> tensor<512x256xf32>
  return %n : tensor<512x256xf32>
}
func.func @spread(%x: tensor<512x256xf32>, %w: tensor<256x512xf32>, %y: tensor<4x512x512xf32>) -> tensor<4x512x512xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x512xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
  %m = linalg.matmul ins(%x, %w : tensor<512x256xf32>, tensor<256x512xf32>) outs(%f : tensor<512x512xf32>) -> tensor<512x512xf32>
  %eb = tensor.empty() : tensor<4x512x512xf32>
  %b = linalg.broadcast ins(%m : tensor<512x512xf32>) outs(%eb : tensor<4x512x512xf32>) dimensions = [0]
  %n = linalg.add ins(%b, %y : tensor<4x512x512xf32>, tensor<4x512x512xf32>) outs(%eb : tensor<4x512x512xf32>) -> tensor<4x512x512xf32>
  return %n : tensor<4x512x512xf32>
}

// A pad is read as zeros, and a negation before it evaluated for each of the nine filter points. A costly activation is stored.
// CHECK-LABEL: function @pad:
// CHECK: #0 negf -> #1 conv_2d_nchw_fchw:0 via pad
// CHECK: kernel 0 contraction (planned): negf, conv_2d_nchw_fchw, exp
// CHECK-LABEL: function @costly:
// CHECK: plan: joined kernel would take {{.*}} us longer
// CHECK: kernel 0 pointwise (planned): generic(tanh, exp, erf)
// CHECK: kernel 1 contraction (planned): conv_2d_nchw_fchw, exp
func.func @pad(%x: tensor<1x64x56x56xf32>, %w: tensor<64x64x3x3xf32>) -> tensor<1x64x56x56xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x64x56x56xf32>
  %n = linalg.negf ins(%x : tensor<1x64x56x56xf32>) outs(%e : tensor<1x64x56x56xf32>) -> tensor<1x64x56x56xf32>
  %p = tensor.pad %n low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %z : f32
  } : tensor<1x64x56x56xf32> to tensor<1x64x58x58xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x64x56x56xf32>) -> tensor<1x64x56x56xf32>
  %c = linalg.conv_2d_nchw_fchw ins(%p, %w : tensor<1x64x58x58xf32>, tensor<64x64x3x3xf32>) outs(%f : tensor<1x64x56x56xf32>) -> tensor<1x64x56x56xf32>
  %d = linalg.exp ins(%c : tensor<1x64x56x56xf32>) outs(%e : tensor<1x64x56x56xf32>) -> tensor<1x64x56x56xf32>
  return %d : tensor<1x64x56x56xf32>
}
func.func @costly(%x: tensor<1x64x56x56xf32>, %w: tensor<64x64x3x3xf32>) -> tensor<1x64x56x56xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x64x56x56xf32>
  %n = linalg.generic {indexing_maps = [#id4, #id4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x : tensor<1x64x56x56xf32>) outs(%e : tensor<1x64x56x56xf32>) {
  ^bb0(%a: f32, %o: f32):
    %q = math.tanh %a : f32
    %r = math.exp %q : f32
    %s = math.erf %r : f32
    linalg.yield %s : f32
  } -> tensor<1x64x56x56xf32>
  %p = tensor.pad %n low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %z : f32
  } : tensor<1x64x56x56xf32> to tensor<1x64x58x58xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x64x56x56xf32>) -> tensor<1x64x56x56xf32>
  %c = linalg.conv_2d_nchw_fchw ins(%p, %w : tensor<1x64x58x58xf32>, tensor<64x64x3x3xf32>) outs(%f : tensor<1x64x56x56xf32>) -> tensor<1x64x56x56xf32>
  %d = linalg.exp ins(%c : tensor<1x64x56x56xf32>) outs(%e : tensor<1x64x56x56xf32>) -> tensor<1x64x56x56xf32>
  return %d : tensor<1x64x56x56xf32>
}
