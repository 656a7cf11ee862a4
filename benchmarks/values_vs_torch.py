#!/usr/bin/env python3
# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compare results of fuse-run with PyTorch's, on the same inputs and weights.

Usage: values_vs_torch.py --fuse-run=TOOL [--models=NAME,NAME] [--threads=1]
                          [--modes=off,fold-only,full]

The module that an export of benchmarks/models was made of is built again, its
input and weights are written as .npy, and fuse-run runs the export on them.
The rule is that of test/tools/compare.py; what fails names the largest
difference.

Exit status: 0; 1 if a result differs or fuse-run fails. Without torch the
models are skipped by name, with status 0.
"""

from __future__ import annotations

import argparse
import importlib.util
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MODELS = ROOT / "benchmarks" / "models"
sys.path += [str(MODELS), str(ROOT / "test" / "tools")]


def compare_model(name: str, mode: str, options: argparse.Namespace) -> str:
    """What differs; empty if nothing does."""
    import numpy as np
    import torch
    from compare import compare_arrays
    from torch_models import build, functionalize

    module, inputs = build(name)
    _, weights = functionalize(module)
    with torch.no_grad():
        expected = module(*inputs).numpy()
    with tempfile.TemporaryDirectory(prefix="fuse-torch-") as scratch:
        folder = Path(scratch)
        files = []
        for number, tensor in enumerate((*inputs, *weights)):
            files.append(folder / f"{number}.npy")
            np.save(files[-1], tensor.contiguous().numpy())
        command = [options.fuse_run, str(MODELS / f"{name}.linalg.mlir"), "--params=1-", f"--mode={mode}"]
        command += [f"--threads={options.threads}", "--repeat=0", f"--save-outputs={folder / 'out'}"]
        command.append(f"--inputs={','.join(map(str, files))}")
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            return f"fuse-run: status {done.returncode}: {done.stderr[:300]}"
        results = sorted((folder / "out").glob("*.npy"))
        if len(results) != 1:
            return f"found {len(results)} results, expected 1"
        # Sums are as long as a row of a weight.
        longest = max((weight[0].numel() for weight in weights if weight.dim() > 1), default=0)
        difference = compare_arrays(name, expected, np.load(results[0]), longest)
    print(f"{name:<16} {mode:<10} {difference.d_acc:>10.3g} {difference.used:>8.3f}", flush=True)
    return "" if difference.used <= 1 else f"{difference.used:.3g} times the tolerance"


def main(arguments: list[str]) -> int:
    """Command line; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fuse-run", required=True)
    parser.add_argument("--models", default="resnet18,mobilenetv2,bert_layer,gpt2_block")
    parser.add_argument("--modes", default="off,fold-only,full")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args(arguments)
    if not importlib.util.find_spec("torch"):
        print(f"skipped: {options.models}: torch is not installed")
        return 0
    print(f"{'model':<16} {'mode':<10} {'difference':>10} {'of tol.':>8}")
    status = 0
    for name in options.models.split(","):
        for mode in options.modes.split(","):
            problem = compare_model(name, mode, options)
            if problem:
                print(f"error: {name} {mode}: {problem}", file=sys.stderr)
                status = 1
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
