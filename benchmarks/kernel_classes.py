#!/usr/bin/env python3
# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rates of each kernel class beside what the machine reaches with plain loops.

Usage: kernel_classes.py --fuse-run=TOOL [--models=NAME,NAME] [--threads=1]
                         [--repeat=20]

Runs models of benchmarks/models with fuse-run and sums the kernels of a class:
GFLOP/s beside f32 multiply-adds in registers, GB/s beside a sum and a triad
over as many bytes, both measured in the same run. `bound` is the time that
these allow, as a share of the p50.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path

MODELS = Path(__file__).resolve().parent / "models"
DEFAULT = "softmax,layernorm,gelu_chain,rms_rope,mlp,bert_layer,conv_bn_relu_b1,residual_block,resnet18"


def bandwidth(limits: dict, size: float) -> float:
    """Bytes per second for a working set of this size."""
    table = [(one["bytes"], one["bytes_per_second"]) for one in limits["bandwidth"]]
    for (low, fast), (high, slow) in itertools.pairwise(table):
        if low <= size < high:
            return fast + (slow - fast) * math.log(size / low) / math.log(high / low)
    return table[0][1] if size < table[0][0] else table[-1][1]


def run(tool: str, name: str, threads: int, repeat: int) -> dict:
    with tempfile.TemporaryDirectory() as scratch:
        report = Path(scratch) / "report.json"
        command = [tool, str(MODELS / f"{name}.linalg.mlir"), "--params=1-", f"--threads={threads}"]
        command += [f"--repeat={repeat}", f"--json={report}"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(command)}: {done.stderr[:500]}")
        return json.loads(report.read_text())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fuse-run", required=True)
    parser.add_argument("--models", default=DEFAULT)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeat", type=int, default=20)
    options = parser.parse_args()
    print(f"{'model':16} {'class':12} kernels    p50 us  GFLOP/s  of peak    GB/s  of probe  bound")
    for name in options.models.split(","):
        report = run(options.fuse_run, name, options.threads, options.repeat)
        limits = report["limits"]
        classes: dict[str, list[dict]] = {}
        for kernel in report["program"]["kernels"]:
            classes.setdefault(kernel["class"], []).append(kernel)
        for kind, kernels in sorted(classes.items()):
            seconds = sum(one["p50_us"] for one in kernels) * 1e-6
            flops = sum(one.get("flops", 0) for one in kernels)
            moved = sum(one.get("bytes", 0) for one in kernels)
            least = sum(one.get("bytes", 0) / bandwidth(limits, one.get("bytes", 0)) for one in kernels)
            bound = sum(
                max(
                    one.get("bytes", 0) / bandwidth(limits, one.get("bytes", 0)),
                    one.get("flops", 0) / limits["flops_per_second"],
                )
                for one in kernels
            )
            print(
                f"{name:16} {kind:12} {len(kernels):7} {seconds * 1e6:9.1f} {flops / seconds * 1e-9:8.1f}"
                f" {flops / seconds / limits['flops_per_second']:8.0%} {moved / seconds * 1e-9:7.1f}"
                f" {least / seconds:9.0%} {bound / seconds:6.0%}"
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
