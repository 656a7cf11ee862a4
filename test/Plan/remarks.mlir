// Remarks: filtered by category, by kind, as YAML; none without a filter.
// RUN: fuse-opt %s --fuse-boundary --remarks-filter="fuse-boundary" --remark-format=yaml --remarks-output-file=%t.yaml -o /dev/null
// RUN: FileCheck %s --check-prefix=YAML --input-file=%t.yaml
// RUN: fuse-opt %s --fuse-boundary --remarks-filter-missed="fuse-boundary" --remark-format=emitRemark -o /dev/null 2>&1 | grep "remark:" | FileCheck %s --check-prefix=MISSED --implicit-check-not=Passed
// RUN: fuse-opt %s --fuse-boundary --remarks-filter="fuse-plan" --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=NONE --allow-empty
// RUN: fuse-opt %s --fuse-boundary=emit=attrs --remarks-filter="fuse-boundary" --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=NONE --allow-empty
// RUN: fuse-opt %s --fuse-boundary --remarks-filter="fuse-boundary" --remark-policy=final --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=FINAL

// YAML: --- !Passed
// YAML-NEXT: Pass:{{ *}}fuse-boundary
// YAML-NEXT: Name:{{ *}}'edge {{[0-9a-f]+}}#0'
// YAML: Function:{{ *}}f
// YAML: Verdict:{{ *}}fuse
// YAML: --- !Missed
// YAML: Reason:{{ *}}'override: kept by hint'
// MISSED: remark: [Missed] edge {{[0-9a-f]+}}#0 | Category:fuse-boundary | Function=f | {{.*}}Verdict=keep
// NONE-NOT: remark
// Both edges of the add have one location and one category: the key keeps them apart.
// FINAL-COUNT-3: remark: [{{Passed|Missed}}] edge {{[0-9a-f]+}}#0 |
// FINAL-NOT: remark:
func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %p = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %q = linalg.negf {fuse.hint = "never"} ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %s = linalg.add ins(%p, %q : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %t = linalg.abs ins(%s : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %t : tensor<8xf32>
}
