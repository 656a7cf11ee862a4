// RUN: fuse-opt %s --fuse-mark-params=args=1- | FileCheck %s --check-prefix=FROM1
// RUN: fuse-opt %s --fuse-mark-params=args=0,2-3 | FileCheck %s --check-prefix=LIST
// RUN: fuse-opt %s --fuse-mark-params="args=0 function=helper" | FileCheck %s --check-prefix=HELPER
// RUN: not fuse-opt %s --fuse-mark-params="args=0 function=nowhere" 2>&1 | FileCheck %s --check-prefix=NOWHERE
// RUN: fuse-opt %s --fuse-mark-params="args=1- function=helper" | FileCheck %s --check-prefix=NONE
// RUN: not fuse-opt %s --fuse-mark-params="args=9- function=helper" 2>&1 | FileCheck %s --check-prefix=BEYOND
// RUN: not fuse-opt %s --fuse-mark-params 2>&1 | FileCheck %s --check-prefix=EMPTY

// NONE-NOT: fuse.param
// BEYOND: error: fuse-mark-params: argument 9 does not exist, 'helper' has 1 arguments
// EMPTY: error: fuse-mark-params: no arguments given, expected args= with numbers and ranges such as 3, 1- or 2-5
// FROM1: @main(%{{.*}}: tensor<4xf32>, %{{.*}}: tensor<4xf32> {fuse.param}, %{{.*}}: tensor<4xf32> {fuse.param}, %{{.*}}: tensor<4xf32> {fuse.param})
// FROM1: @helper(%{{.*}}: tensor<4xf32>)
// LIST: @main(%{{.*}}: tensor<4xf32> {fuse.param}, %{{.*}}: tensor<4xf32>, %{{.*}}: tensor<4xf32> {fuse.param}, %{{.*}}: tensor<4xf32> {fuse.param})
// HELPER: @main(%{{.*}}: tensor<4xf32>, %{{.*}}: tensor<4xf32>,
// HELPER: @helper(%{{.*}}: tensor<4xf32> {fuse.param})
// NOWHERE: error: fuse-mark-params: there is no function 'nowhere' with a body
func.func @main(%x: tensor<4xf32>, %a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>) { return }
func.func private @helper(%x: tensor<4xf32>) { return }
