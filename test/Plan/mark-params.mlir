// RUN: fuse-opt %s --fuse-mark-params=args=1- | FileCheck %s --check-prefix=FROM1
// RUN: fuse-opt %s --fuse-mark-params=args=0,2-3 | FileCheck %s --check-prefix=LIST
// RUN: fuse-opt %s --fuse-mark-params="args=0 function=helper" | FileCheck %s --check-prefix=HELPER
// RUN: not fuse-opt %s --fuse-mark-params="args=0 function=nowhere" 2>&1 | FileCheck %s --check-prefix=NOWHERE

// FROM1: @main(%{{.*}}: tensor<4xf32>, %{{.*}}: tensor<4xf32> {fuse.param}, %{{.*}}: tensor<4xf32> {fuse.param}, %{{.*}}: tensor<4xf32> {fuse.param})
// FROM1: @helper(%{{.*}}: tensor<4xf32>)
// LIST: @main(%{{.*}}: tensor<4xf32> {fuse.param}, %{{.*}}: tensor<4xf32>, %{{.*}}: tensor<4xf32> {fuse.param}, %{{.*}}: tensor<4xf32> {fuse.param})
// HELPER: @main(%{{.*}}: tensor<4xf32>, %{{.*}}: tensor<4xf32>,
// HELPER: @helper(%{{.*}}: tensor<4xf32> {fuse.param})
// NOWHERE: error: fuse-mark-params: there is no function 'nowhere' with a body
func.func @main(%x: tensor<4xf32>, %a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>) { return }
func.func private @helper(%x: tensor<4xf32>) { return }
