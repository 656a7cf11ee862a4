// RUN: fuse-opt %s --fuse-conv-bn="weights=always" --split-input-file --remarks-filter=fuse-fold --remark-format=emitRemark -o %t 2>&1 | FileCheck %s
// RUN: FileCheck %s --check-prefix=IR --input-file=%t

// What is not right is kept, with the gate that says why; each stands beside a chain that folds and differs in one fact.
// No refused program is changed.
// IR-COUNT-4: fuse.folded
// IR-NOT: fuse.folded

#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#c = affine_map<(d0, d1, d2, d3) -> (d3)>
#w = affine_map<(d0, d1, d2, d3) -> (d2)>
// The convolution's result is returned as well. A question for its extent is no reader.
// CHECK: [Passed] conv-bn #0 | Category:fuse-fold | Function=one_reader
// CHECK: [Failure] conv-bn #0 | Category:fuse-fold | Function=two_readers {{.*}}Decision=kept{{.*}}Reason="dependency: multiple consumers"{{.*}}consumers=2
func.func @one_reader(%x: tensor<1x5x5x2xf32>, %w: tensor<3x3x2x4xf32>, %g: tensor<4xf32>) -> (tensor<1x3x3x4xf32>, index) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x3x3x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x3x3x4xf32>) -> tensor<1x3x3x4xf32>
  %y = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<1x5x5x2xf32>, tensor<3x3x2x4xf32>) outs(%f : tensor<1x3x3x4xf32>) -> tensor<1x3x3x4xf32>
  %k = arith.constant 2 : index
  %d = tensor.dim %y, %k : tensor<1x3x3x4xf32>
  %z = linalg.generic {indexing_maps = [#id, #c, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%y, %g : tensor<1x3x3x4xf32>, tensor<4xf32>) outs(%e : tensor<1x3x3x4xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.mulf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<1x3x3x4xf32>
  return %z, %d : tensor<1x3x3x4xf32>, index
}
func.func @two_readers(%x: tensor<1x5x5x2xf32>, %w: tensor<3x3x2x4xf32>, %g: tensor<4xf32>) -> (tensor<1x3x3x4xf32>, tensor<1x3x3x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x3x3x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x3x3x4xf32>) -> tensor<1x3x3x4xf32>
  %y = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<1x5x5x2xf32>, tensor<3x3x2x4xf32>) outs(%f : tensor<1x3x3x4xf32>) -> tensor<1x3x3x4xf32>
  %z = linalg.generic {indexing_maps = [#id, #c, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%y, %g : tensor<1x3x3x4xf32>, tensor<4xf32>) outs(%e : tensor<1x3x3x4xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.mulf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<1x3x3x4xf32>
  return %z, %y : tensor<1x3x3x4xf32>, tensor<1x3x3x4xf32>
}

// -----

#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#c = affine_map<(d0, d1, d2, d3) -> (d3)>
#w = affine_map<(d0, d1, d2, d3) -> (d2)>
// The mean is that of another tensor, or of the convolution's own result (training).
// CHECK: [Passed] conv-bn #0 | Category:fuse-fold | Function=other_statistics
// CHECK: [Failure] conv-bn #0 | Category:fuse-fold | Function=batch_statistics {{.*}}Decision=kept{{.*}}Reason="dependency: statistics depend on the convolution's result"
func.func @other_statistics(%x: tensor<1x5x5x2xf32>, %w: tensor<3x3x2x4xf32>, %g: tensor<4xf32>, %q: tensor<1x3x3x4xf32>) -> tensor<1x3x3x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x3x3x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x3x3x4xf32>) -> tensor<1x3x3x4xf32>
  %y = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<1x5x5x2xf32>, tensor<3x3x2x4xf32>) outs(%f : tensor<1x3x3x4xf32>) -> tensor<1x3x3x4xf32>
  %e1 = tensor.empty() : tensor<4xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<4xf32>) -> tensor<4xf32>
  %m = linalg.reduce ins(%q : tensor<1x3x3x4xf32>) outs(%f1 : tensor<4xf32>) dimensions = [0, 1, 2]
  (%i: f32, %acc: f32) {
    %r = arith.addf %i, %acc : f32
    linalg.yield %r : f32
  }
  %z = linalg.generic {indexing_maps = [#id, #c, #c, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%y, %m, %g : tensor<1x3x3x4xf32>, tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<1x3x3x4xf32>) {
  ^bb0(%i0: f32, %i1: f32, %i2: f32, %o: f32):
    %d = arith.subf %i0, %i1 : f32
    %r = arith.mulf %d, %i2 : f32
    linalg.yield %r : f32
  } -> tensor<1x3x3x4xf32>
  return %z : tensor<1x3x3x4xf32>
}
func.func @batch_statistics(%x: tensor<1x5x5x2xf32>, %w: tensor<3x3x2x4xf32>, %g: tensor<4xf32>) -> tensor<1x3x3x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x3x3x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x3x3x4xf32>) -> tensor<1x3x3x4xf32>
  %y = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<1x5x5x2xf32>, tensor<3x3x2x4xf32>) outs(%f : tensor<1x3x3x4xf32>) -> tensor<1x3x3x4xf32>
  %e1 = tensor.empty() : tensor<4xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<4xf32>) -> tensor<4xf32>
  %m = linalg.reduce ins(%y : tensor<1x3x3x4xf32>) outs(%f1 : tensor<4xf32>) dimensions = [0, 1, 2]
  (%i: f32, %acc: f32) {
    %r = arith.addf %i, %acc : f32
    linalg.yield %r : f32
  }
  %z = linalg.generic {indexing_maps = [#id, #c, #c, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%y, %m, %g : tensor<1x3x3x4xf32>, tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<1x3x3x4xf32>) {
  ^bb0(%i0: f32, %i1: f32, %i2: f32, %o: f32):
    %d = arith.subf %i0, %i1 : f32
    %r = arith.mulf %d, %i2 : f32
    linalg.yield %r : f32
  } -> tensor<1x3x3x4xf32>
  return %z : tensor<1x3x3x4xf32>
}

// -----

#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#c = affine_map<(d0, d1, d2, d3) -> (d3)>
#w = affine_map<(d0, d1, d2, d3) -> (d2)>
// Convolution and chain in one block, or the chain under a condition.
// CHECK: [Passed] conv-bn #0 | Category:fuse-fold | Function=same_block
// CHECK: [Failure] conv-bn #0 | Category:fuse-fold | Function=other_block {{.*}}Decision=kept{{.*}}Reason="dependency: operators are in different blocks"
func.func @same_block(%x: tensor<1x5x5x2xf32>, %w: tensor<3x3x2x4xf32>, %g: tensor<4xf32>) -> tensor<1x3x3x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x3x3x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x3x3x4xf32>) -> tensor<1x3x3x4xf32>
  %y = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<1x5x5x2xf32>, tensor<3x3x2x4xf32>) outs(%f : tensor<1x3x3x4xf32>) -> tensor<1x3x3x4xf32>
  %z = linalg.generic {indexing_maps = [#id, #c, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%y, %g : tensor<1x3x3x4xf32>, tensor<4xf32>) outs(%e : tensor<1x3x3x4xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.mulf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<1x3x3x4xf32>
  return %z : tensor<1x3x3x4xf32>
}
func.func @other_block(%x: tensor<1x5x5x2xf32>, %w: tensor<3x3x2x4xf32>, %g: tensor<4xf32>, %p: i1) -> tensor<1x3x3x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x3x3x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x3x3x4xf32>) -> tensor<1x3x3x4xf32>
  %y = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<1x5x5x2xf32>, tensor<3x3x2x4xf32>) outs(%f : tensor<1x3x3x4xf32>) -> tensor<1x3x3x4xf32>
  %z = scf.if %p -> tensor<1x3x3x4xf32> {
    %z0 = linalg.generic {indexing_maps = [#id, #c, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%y, %g : tensor<1x3x3x4xf32>, tensor<4xf32>) outs(%e : tensor<1x3x3x4xf32>) {
    ^bb0(%i0: f32, %i1: f32, %o: f32):
      %r = arith.mulf %i0, %i1 : f32
      linalg.yield %r : f32
    } -> tensor<1x3x3x4xf32>
    scf.yield %z0 : tensor<1x3x3x4xf32>
  } else {
    scf.yield %f : tensor<1x3x3x4xf32>
  }
  return %z : tensor<1x3x3x4xf32>
}

// -----

#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#c = affine_map<(d0, d1, d2, d3) -> (d3)>
#w = affine_map<(d0, d1, d2, d3) -> (d2)>
// A body that stores to memory runs once for each element.
// CHECK: [Passed] conv-bn #0 | Category:fuse-fold | Function=pure
// CHECK: [Failure] conv-bn #0 | Category:fuse-fold | Function=stores {{.*}}Decision=kept{{.*}}Flip="take 'memref.store' out of the body"{{.*}}Reason="dependency: side effect"
func.func @pure(%x: tensor<1x5x5x2xf32>, %w: tensor<3x3x2x4xf32>, %g: tensor<4xf32>) -> tensor<1x3x3x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x3x3x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x3x3x4xf32>) -> tensor<1x3x3x4xf32>
  %y = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<1x5x5x2xf32>, tensor<3x3x2x4xf32>) outs(%f : tensor<1x3x3x4xf32>) -> tensor<1x3x3x4xf32>
  %z = linalg.generic {indexing_maps = [#id, #c, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%y, %g : tensor<1x3x3x4xf32>, tensor<4xf32>) outs(%e : tensor<1x3x3x4xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.mulf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<1x3x3x4xf32>
  return %z : tensor<1x3x3x4xf32>
}
func.func @stores(%x: tensor<1x5x5x2xf32>, %w: tensor<3x3x2x4xf32>, %g: tensor<4xf32>, %log: memref<f32>) -> tensor<1x3x3x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x3x3x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x3x3x4xf32>) -> tensor<1x3x3x4xf32>
  %y = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<1x5x5x2xf32>, tensor<3x3x2x4xf32>) outs(%f : tensor<1x3x3x4xf32>) -> tensor<1x3x3x4xf32>
  %z = linalg.generic {indexing_maps = [#id, #c, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%y, %g : tensor<1x3x3x4xf32>, tensor<4xf32>) outs(%e : tensor<1x3x3x4xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    memref.store %i0, %log[] : memref<f32>
    %r = arith.mulf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<1x3x3x4xf32>
  return %z : tensor<1x3x3x4xf32>
}
