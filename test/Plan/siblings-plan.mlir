// RUN: fuse-opt %s --fuse-verify-plan -split-input-file -verify-diagnostics

// A hand-written plan may put siblings into one kernel; what shares nothing it may not.
func.func @shared(%x: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  %e = tensor.empty() : tensor<64x64xf32>
  %a = linalg.exp {fuse.group = #fuse.group<id = 0, kernel = "siblings", root>} ins(%x : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %b = linalg.abs {fuse.group = #fuse.group<id = 0, kernel = "siblings">} ins(%x : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %a, %b : tensor<64x64xf32>, tensor<64x64xf32>
}

// -----

func.func @apart(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  %e = tensor.empty() : tensor<64x64xf32>
  // expected-error @+1 {{no kernel class holds it: profile: nothing is read in common}}
  %a = linalg.exp {fuse.group = #fuse.group<id = 0, kernel = "siblings", root>} ins(%x : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %b = linalg.abs {fuse.group = #fuse.group<id = 0, kernel = "siblings">} ins(%y : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %a, %b : tensor<64x64xf32>, tensor<64x64xf32>
}
