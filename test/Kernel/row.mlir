// RUN: fuse-opt %s --fuse-boundary --fuse-plan --fuse-explain -o /dev/null 2>&1 | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#col = affine_map<(d0, d1) -> (d1)>

// Maximum, subtraction, exponential, sum, division along one row each.
// CHECK-LABEL: function @softmax:
// CHECK: kernel 0 row (planned): reduce(maximumf), generic(subf, exp), reduce(addf), generic(divf)
// CHECK-NEXT: function @sum_of_columns
func.func @softmax(%x: tensor<512x1024xf32>) -> tensor<512x1024xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x1024xf32>
  %e1 = tensor.empty() : tensor<512xf32>
  %f = linalg.fill ins(%z : f32) outs(%e1 : tensor<512xf32>) -> tensor<512xf32>
  %m = linalg.reduce { arith.maximumf } ins(%x : tensor<512x1024xf32>) outs(%f : tensor<512xf32>) dimensions = [1]
  %s = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %m : tensor<512x1024xf32>, tensor<512xf32>) outs(%e : tensor<512x1024xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %r = arith.subf %p, %q : f32
    %t = math.exp %r : f32
    linalg.yield %t : f32
  } -> tensor<512x1024xf32>
  %n = linalg.reduce { arith.addf } ins(%s : tensor<512x1024xf32>) outs(%f : tensor<512xf32>) dimensions = [1]
  %d = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%s, %n : tensor<512x1024xf32>, tensor<512xf32>) outs(%e : tensor<512x1024xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %r = arith.divf %p, %q : f32
    linalg.yield %r : f32
  } -> tensor<512x1024xf32>
  return %d : tensor<512x1024xf32>
}

// The same with the sum along columns: a block that owns a row has no column, so only one of the two reductions can join.
// CHECK: #0 reduce(maximumf) -> #1 generic(subf, exp):1
// CHECK: plan: profile: operators do not share their rows
// CHECK: kernel 0 row (planned): reduce(maximumf)
// CHECK-NEXT: kernel 1 row (planned): generic(subf, exp), reduce(addf)
func.func @sum_of_columns(%x: tensor<512x512xf32>) -> tensor<512xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x512xf32>
  %e1 = tensor.empty() : tensor<512xf32>
  %f = linalg.fill ins(%z : f32) outs(%e1 : tensor<512xf32>) -> tensor<512xf32>
  %m = linalg.reduce { arith.maximumf } ins(%x : tensor<512x512xf32>) outs(%f : tensor<512xf32>) dimensions = [1]
  %s = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %m : tensor<512x512xf32>, tensor<512xf32>) outs(%e : tensor<512x512xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %r = arith.subf %p, %q : f32
    %t = math.exp %r : f32
    linalg.yield %t : f32
  } -> tensor<512x512xf32>
  %n = linalg.reduce { arith.addf } ins(%s : tensor<512x512xf32>) outs(%f : tensor<512xf32>) dimensions = [0]
  return %n : tensor<512xf32>
}

// A statistic of each row goes back to its row. Read as a vector along the row it would need all rows first: what made the
// row's elements stays outside, and the subtraction runs down the column that belongs to the statistic.
// CHECK-LABEL: function @back_to_its_row:
// CHECK: kernel 0 row (planned): exp, reduce(addf), generic(subf)
// CHECK-LABEL: function @across:
// CHECK: #0 exp -> #1 reduce(addf):0
// CHECK: plan: profile: operators do not share their rows
// CHECK: #0 exp -> #2 generic(subf):0
// CHECK: plan: {{joined groups would wait for an operator between them|profile: operators do not share their rows}}
// CHECK: kernel 0 pointwise (planned): exp
// CHECK-NEXT: kernel 1 row (planned): reduce(addf), generic(subf)
func.func @back_to_its_row(%x: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x512xf32>
  %e1 = tensor.empty() : tensor<512xf32>
  %f = linalg.fill ins(%z : f32) outs(%e1 : tensor<512xf32>) -> tensor<512xf32>
  %a = linalg.exp ins(%x : tensor<512x512xf32>) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
  %m = linalg.reduce { arith.addf } ins(%a : tensor<512x512xf32>) outs(%f : tensor<512xf32>) dimensions = [1]
  %s = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%a, %m : tensor<512x512xf32>, tensor<512xf32>) outs(%e : tensor<512x512xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %r = arith.subf %p, %q : f32
    linalg.yield %r : f32
  } -> tensor<512x512xf32>
  return %s : tensor<512x512xf32>
}
func.func @across(%x: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x512xf32>
  %e1 = tensor.empty() : tensor<512xf32>
  %f = linalg.fill ins(%z : f32) outs(%e1 : tensor<512xf32>) -> tensor<512xf32>
  %a = linalg.exp ins(%x : tensor<512x512xf32>) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
  %m = linalg.reduce { arith.addf } ins(%a : tensor<512x512xf32>) outs(%f : tensor<512xf32>) dimensions = [1]
  %s = linalg.generic {indexing_maps = [#id, #col, #id], iterator_types = ["parallel", "parallel"]} ins(%a, %m : tensor<512x512xf32>, tensor<512xf32>) outs(%e : tensor<512x512xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %r = arith.subf %p, %q : f32
    linalg.yield %r : f32
  } -> tensor<512x512xf32>
  return %s : tensor<512x512xf32>
}

// Half of each row, put back in the other order (rotary embedding); half of the rows.
// CHECK-LABEL: function @slice_along:
// CHECK: #1 generic(mulf) -> #2 add:1 via extract_slice, concat
// CHECK: kernel 0 row (planned): reduce(addf), generic(mulf), add
// CHECK-LABEL: function @slice_across:
// CHECK: #0 reduce(addf) -> #1 generic(mulf):1
// CHECK: plan: profile: operators do not share their rows
// CHECK: kernel 0 row (planned): reduce(addf)
func.func @slice_along(%x: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x512xf32>
  %e1 = tensor.empty() : tensor<512xf32>
  %f = linalg.fill ins(%z : f32) outs(%e1 : tensor<512xf32>) -> tensor<512xf32>
  %m = linalg.reduce { arith.addf } ins(%x : tensor<512x512xf32>) outs(%f : tensor<512xf32>) dimensions = [1]
  %s = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %m : tensor<512x512xf32>, tensor<512xf32>) outs(%e : tensor<512x512xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %r = arith.mulf %p, %q : f32
    linalg.yield %r : f32
  } -> tensor<512x512xf32>
  %a = tensor.extract_slice %s[0, 0] [512, 256] [1, 1] : tensor<512x512xf32> to tensor<512x256xf32>
  %b = tensor.extract_slice %s[0, 256] [512, 256] [1, 1] : tensor<512x512xf32> to tensor<512x256xf32>
  %c = tensor.concat dim(1) %b, %a : (tensor<512x256xf32>, tensor<512x256xf32>) -> tensor<512x512xf32>
  %y = linalg.add ins(%s, %c : tensor<512x512xf32>, tensor<512x512xf32>) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %y : tensor<512x512xf32>
}
func.func @slice_across(%x: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x512xf32>
  %e1 = tensor.empty() : tensor<512xf32>
  %f = linalg.fill ins(%z : f32) outs(%e1 : tensor<512xf32>) -> tensor<512xf32>
  %m = linalg.reduce { arith.addf } ins(%x : tensor<512x512xf32>) outs(%f : tensor<512xf32>) dimensions = [1]
  %s = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %m : tensor<512x512xf32>, tensor<512xf32>) outs(%e : tensor<512x512xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %r = arith.mulf %p, %q : f32
    linalg.yield %r : f32
  } -> tensor<512x512xf32>
  %a = tensor.extract_slice %s[0, 0] [256, 512] [1, 1] : tensor<512x512xf32> to tensor<256x512xf32>
  %b = tensor.extract_slice %s[256, 0] [256, 512] [1, 1] : tensor<512x512xf32> to tensor<256x512xf32>
  %c = tensor.concat dim(0) %b, %a : (tensor<256x512xf32>, tensor<256x512xf32>) -> tensor<512x512xf32>
  %y = linalg.add ins(%s, %c : tensor<512x512xf32>, tensor<512x512xf32>) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %y : tensor<512x512xf32>
}
