// RUN: fuse-opt %s --fuse-boundary --fuse-explain -o /dev/null 2>&1 | FileCheck %s
// RUN: fuse-opt %s --fuse-boundary --fuse-explain=file=%t.txt -o /dev/null
// RUN: FileCheck %s --input-file=%t.txt
// RUN: fuse-opt %s --fuse-boundary --fuse-explain="json file=%t.json" -o /dev/null
// RUN: %python -c "import json,sys; print(json.dumps(json.load(open(sys.argv[1])), sort_keys=True))" %t.json | FileCheck %s --check-prefix=JSON
// RUN: fuse-opt %s --fuse-explain -o /dev/null 2>&1 | FileCheck %s

// Changes nothing.
// RUN: fuse-opt %s -o %t.plain.mlir
// RUN: fuse-opt %s --fuse-explain=file=%t.txt -o %t.explained.mlir
// RUN: diff %t.plain.mlir %t.explained.mlir

// CHECK: fuse: target sm_80, policy cost, boundary 1
// CHECK-NEXT: function @f: 3 operators, 2 edges
// CHECK-NEXT:   #0 exp -> #1 negf:0 via collapse_shape  conditional dependency: multiple consumers; right if the kernel has several results
// CHECK-NEXT:       consumers=2, tile=1024, registers=32, bytes_removed=32, gain_us=0.901111
// CHECK-NEXT:       flips with: leave one reader of the intermediate
// CHECK-NEXT:       memory-bound yes, sole reader no, fits yes, parallelism lost 0%
// CHECK-NEXT:   #1 negf -> #2 abs:0                     fuse        can fuse
// CHECK-NEXT:       tile=1024, registers=24, bytes_removed=64, gain_us=0.902223
// CHECK-NEXT:       memory-bound yes, sole reader yes, fits yes, parallelism lost 0%
// CHECK-NEXT: safe fusion list:
// CHECK-NEXT:   [[KEY:[0-9a-f]+]]#0  @f  #1 negf -> #2 abs:0
// CHECK-NEXT: summary: 2 edges, 1 fusable, 1 conditional, kept by dependency 0, shape 0, numerics 0, profile 0, resource 0, profit 0, override 0; batch norms folded 0 of 0 found
// JSON: "edges": [{"answers": {"fits": true, "lost_parallelism": 0, "memory_bound": true, "sole_reader": false}, "consumer": 1, "consumer_op": "negf", "flip": "leave one reader of the intermediate", "function": "f", "gate": "dependency", "key": "{{[0-9a-f]+}}#0", "numbers": {"bytes_removed": 32, "consumers": 2, "gain_us": 0.90111{{[0-9]+}}, "registers": 32, "tile": 1024}, "numeric": "bit_exact", "operand": 0, "producer": 0, "producer_op": "exp", "reason": "dependency: multiple consumers", "verdict": "conditional", "via": ["tensor.collapse_shape"], "when": "the kernel has several results"}
// JSON-SAME: "safe": ["{{[0-9a-f]+}}#0"]
// JSON-SAME: "version": 1
func.func @f(%x: tensor<2x4xf32>) -> (tensor<8xf32>, tensor<2x4xf32>) {
  %e = tensor.empty() : tensor<2x4xf32>
  %p = linalg.exp ins(%x : tensor<2x4xf32>) outs(%e : tensor<2x4xf32>) -> tensor<2x4xf32>
  %c = tensor.collapse_shape %p [[0, 1]] : tensor<2x4xf32> into tensor<8xf32>
  %e2 = tensor.empty() : tensor<8xf32>
  %q = linalg.negf ins(%c : tensor<8xf32>) outs(%e2 : tensor<8xf32>) -> tensor<8xf32>
  %r = linalg.abs ins(%q : tensor<8xf32>) outs(%e2 : tensor<8xf32>) -> tensor<8xf32>
  return %r, %p : tensor<8xf32>, tensor<2x4xf32>
}
