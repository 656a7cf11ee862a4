// RUN: fuse-opt %s --fuse-boundary --fuse-plan | FileCheck %s
// RUN: fuse-opt %s --fuse-boundary=register-limit=48 --fuse-plan | FileCheck %s --check-prefix=FEW
// RUN: fuse-opt %s --fuse-boundary=target=x86-avx2 --fuse-plan | FileCheck %s --check-prefix=CPU
// RUN: fuse-opt %s --fuse-boundary=boundary=0.3 --fuse-plan | FileCheck %s --check-prefix=SHARE

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// Where a row is kept while it is reduced and used again is the third size of the tile: 0 in registers, 1 in the cache of a CPU's
// core, 2 nowhere (it is read once per pass). A short row fits registers, one of 64 KiB only if a thread may use many; one of 4 MB
// never fits. `boundary` is the share of the limits that a kernel may use: 0.3 of 255 registers hold no row of 64 KiB.

// CHECK-LABEL: func.func @short
// CHECK: #fuse.tile<sizes = [{{[0-9]+}}, 1024, 0], threads = 256>
// FEW-LABEL: func.func @short
// FEW: #fuse.tile<sizes = [{{[0-9]+}}, 1024, 0], threads = 256>
func.func @short(%x: tensor<512x1024xf32>) -> tensor<512x1024xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x1024xf32>
  %e1 = tensor.empty() : tensor<512xf32>
  %f = linalg.fill ins(%z : f32) outs(%e1 : tensor<512xf32>) -> tensor<512xf32>
  %m = linalg.reduce { arith.addf } ins(%x : tensor<512x1024xf32>) outs(%f : tensor<512xf32>) dimensions = [1]
  %s = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %m : tensor<512x1024xf32>, tensor<512xf32>) outs(%e : tensor<512x1024xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %r = arith.subf %p, %q : f32
    linalg.yield %r : f32
  } -> tensor<512x1024xf32>
  return %s : tensor<512x1024xf32>
}

// CHECK-LABEL: func.func @long
// CHECK: #fuse.tile<sizes = [1, 16384, 0], threads = 256>
// FEW-LABEL: func.func @long
// FEW: #fuse.tile<sizes = [{{[0-9]+}}, 16384, 2], threads = 256>
// CPU-LABEL: func.func @long
// CPU: #fuse.tile<sizes = [{{[0-9]+}}, 16384, 1], threads = 1>
// SHARE-LABEL: func.func @long
// SHARE: #fuse.tile<sizes = [{{[0-9]+}}, 16384, 2], threads = 256>
func.func @long(%x: tensor<512x16384xf32>) -> tensor<512x16384xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x16384xf32>
  %e1 = tensor.empty() : tensor<512xf32>
  %f = linalg.fill ins(%z : f32) outs(%e1 : tensor<512xf32>) -> tensor<512xf32>
  %m = linalg.reduce { arith.addf } ins(%x : tensor<512x16384xf32>) outs(%f : tensor<512xf32>) dimensions = [1]
  %s = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %m : tensor<512x16384xf32>, tensor<512xf32>) outs(%e : tensor<512x16384xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %r = arith.subf %p, %q : f32
    linalg.yield %r : f32
  } -> tensor<512x16384xf32>
  return %s : tensor<512x16384xf32>
}

// CHECK-LABEL: func.func @huge
// CHECK: #fuse.tile<sizes = [{{[0-9]+}}, 1000000, 2], threads = 256>
func.func @huge(%x: tensor<512x1000000xf32>) -> tensor<512x1000000xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x1000000xf32>
  %e1 = tensor.empty() : tensor<512xf32>
  %f = linalg.fill ins(%z : f32) outs(%e1 : tensor<512xf32>) -> tensor<512xf32>
  %m = linalg.reduce { arith.addf } ins(%x : tensor<512x1000000xf32>) outs(%f : tensor<512xf32>) dimensions = [1]
  %s = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %m : tensor<512x1000000xf32>, tensor<512xf32>) outs(%e : tensor<512x1000000xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %r = arith.subf %p, %q : f32
    linalg.yield %r : f32
  } -> tensor<512x1000000xf32>
  return %s : tensor<512x1000000xf32>
}

// A streamed row is read once per pass: the bytes are those of two reads and one write.
// RUN: fuse-opt %s --fuse-boundary --fuse-plan --remarks-filter=fuse-plan 2>&1 | FileCheck %s --check-prefix=BYTES
// BYTES: Function=short | Bytes=4194304,
// BYTES: Function=long | Bytes=67108864,
// BYTES: Function=huge | Bytes=6144000000,
