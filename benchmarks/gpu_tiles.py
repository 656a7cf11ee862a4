#!/usr/bin/env python3
# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compare the resources that the contraction class predicts with those that ptxas finds, over tiles.

Usage: gpu_tiles.py --fuse-opt=build/bin/fuse-opt [--chip=sm_80]

Forces each tile on a product of f32, one of f16 with f32 sums and a 3 x 3 convolution, all with an epilogue, and prints
a line per tile: predicted and actual registers and shared memory, spills. Then Kendall's tau-b of the registers, the
distribution of their errors, and how many tiles have exactly the predicted shared memory. Exits with 1 if a kernel that
was predicted to fit spills, shared memory differs or tau-b is below 0.8; says so and exits with 0 without ptxas.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys

SIMT = [
    (128, 128, 256),
    (128, 64, 128),
    (64, 128, 128),
    (64, 64, 64),
    (64, 32, 128),
    (32, 64, 128),
    (32, 32, 64),
    (16, 16, 64),
]
LEAST_TAU = 0.8
TENSOR = [(128, 128, 128), (128, 64, 128), (64, 128, 128), (64, 64, 64), (64, 32, 64), (32, 64, 64), (32, 32, 32)]
PRODUCT = """
func.func @main(%a: tensor<512x512x{t}>, %b: tensor<512x512x{t}>, %c: tensor<512xf32>) -> tensor<512x512xf32> {{
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x512xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
  %m = linalg.matmul ins(%a, %b : tensor<512x512x{t}>, tensor<512x512x{t}>)
      outs(%f : tensor<512x512xf32>) -> tensor<512x512xf32>
  %r = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>,
      affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}}
      ins(%m, %c : tensor<512x512xf32>, tensor<512xf32>)
      outs(%e : tensor<512x512xf32>) {{
  ^bb0(%x: f32, %y: f32, %o: f32):
    %s = arith.addf %x, %y : f32
    %t = arith.maximumf %s, %z : f32
    linalg.yield %t : f32
  }} -> tensor<512x512xf32>
  return %r : tensor<512x512xf32>
}}
"""
CONVOLUTION = """
func.func @main(%a: tensor<1x64x58x58xf32>, %w: tensor<64x64x3x3xf32>, %c: tensor<64xf32>) -> tensor<1x64x56x56xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x64x56x56xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x64x56x56xf32>) -> tensor<1x64x56x56xf32>
  %m = linalg.conv_2d_nchw_fchw ins(%a, %w : tensor<1x64x58x58xf32>, tensor<64x64x3x3xf32>)
      outs(%f : tensor<1x64x56x56xf32>) -> tensor<1x64x56x56xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(n, f, i, j) -> (n, f, i, j)>, affine_map<(n, f, i, j) -> (f)>,
      affine_map<(n, f, i, j) -> (n, f, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%m, %c : tensor<1x64x56x56xf32>, tensor<64xf32>) outs(%e : tensor<1x64x56x56xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<1x64x56x56xf32>
  return %r : tensor<1x64x56x56xf32>
}
"""


def run(fuse_opt: str, arguments: list[str], program: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([fuse_opt, *arguments], input=program, capture_output=True, text=True, check=False)


def measure(fuse_opt: str, chip: str, formed: str, tile: str) -> tuple[int, int, int, int, int] | None:
    """Registers and shared memory, predicted and actual, and spills of the formed kernel with another tile."""
    program, count = re.subn(r"tile\(<.*?>\)", f"tile(<{tile}>)", formed)
    assert count == 1, "one kernel"
    text = run(fuse_opt, [f"--fuse-resources=chip={chip}", "-o", "/dev/null"], program)
    line = re.search(
        r"^kernel_\d+_contraction +contraction +\d+ +(\d+) +(\d+) +(\d+) +(\d+) +(\d+)", text.stdout + text.stderr, re.M
    )
    if not line:
        return None
    registers, actual, shared, used, spill = map(int, line.groups())
    return registers, actual, shared, used, spill


def kendall(pairs: list[tuple[int, int]]) -> float:
    """Kendall's tau-b: 1 if both orders agree, 0 if they do not depend on each other (Kendall, 1945)."""
    agree = left = right = 0
    for i, (a, b) in enumerate(pairs):
        for c, d in pairs[:i]:
            product = (a > c) - (a < c), (b > d) - (b < d)
            agree += product[0] * product[1]
            left += product[0] != 0
            right += product[1] != 0
    return agree / (left * right) ** 0.5 if left and right else 0.0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fuse-opt", required=True)
    parser.add_argument("--chip", default="sm_80")
    options = parser.parse_args()
    cases = [
        ("f32", PRODUCT.format(t="f32"), SIMT, (8, 16)),
        ("f16", PRODUCT.format(t="f16"), TENSOR, (32,)),
        ("conv", CONVOLUTION, SIMT, (8, 16)),
    ]
    pairs: list[tuple[int, int]] = []
    exact = total = failures = 0
    print(f"{'case':6}{'tile':>16}{'threads':>9}{'registers':>11}{'actual':>8}{'shared':>9}{'actual':>8}{'spill':>7}")
    for name, program, tiles, depths in cases:
        formed = run(options.fuse_opt, [f"--fuse-boundary=target={options.chip}", "--fuse-greedy"], program).stdout
        for depth in depths:
            for m, n, threads in tiles:
                found = measure(
                    options.fuse_opt, options.chip, formed, f"sizes = [{m}, {n}, {depth}], threads = {threads}"
                )
                if not found:
                    print("skipped: no ptxas, or the kernel has another class")
                    return 0
                registers, actual, shared, used, spill = found
                tile = f"{m} x {n} x {depth}"
                print(f"{name:6}{tile:>16}{threads:>9}{registers:>11}{actual:>8}{shared:>9}{used:>8}{spill:>7}")
                pairs.append((registers, actual))
                total += 1
                exact += shared == used
                failures += spill > 0 or shared != used
    errors = sorted(abs(predicted - actual) / actual for predicted, actual in pairs)
    print(
        f"registers: Kendall tau-b {kendall(pairs):.2f}, relative error p50 {errors[len(errors) // 2]:.2f}, "
        f"p90 {errors[len(errors) * 9 // 10]:.2f}, largest {errors[-1]:.2f}"
    )
    print(f"shared memory: {exact} of {total} tiles exact; {failures} failures")
    return 1 if failures or kendall(pairs) < LEAST_TAU else 0


if __name__ == "__main__":
    sys.exit(main())
