# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Run an attention of a dynamic batch on five matrices, against NumPy.

Usage: attention_dynamic.py --fuse-run=TOOL FILE

`@main(q, k, v)` is exp(q * k), divided by its sums along rows, times v. Prints
what fuse-run prints and how far the result is off.
Exit status: 0; 1 if fuse-run fails or the result differs.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from compare import compare_arrays


def main(arguments: list[str]) -> int:
    """Command line; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fuse-run", required=True)
    parser.add_argument("file")
    options = parser.parse_args(arguments)
    random = np.random.default_rng(1)
    shapes = ((5, 64, 32), (5, 32, 128), (5, 128, 32))
    q, k, v = (random.standard_normal(shape).astype(np.float32) * np.float32(0.3) for shape in shapes)
    with tempfile.TemporaryDirectory(prefix="fuse-attention-") as scratch:
        folder = Path(scratch)
        for name, array in (("q", q), ("k", k), ("v", v)):
            np.save(folder / f"{name}.npy", array)
        files = ",".join(str(folder / f"{name}.npy") for name in "qkv")
        command = [options.fuse_run, options.file, f"--inputs={files}", "--repeat=1"]
        command.append(f"--save-outputs={folder / 'out'}")
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        print(done.stdout, done.stderr, sep="")
        if done.returncode != 0:
            return 1
        [result] = (folder / "out").glob("*.npy")
        weights = np.exp(q @ k)
        expected = weights / weights.sum(axis=-1, keepdims=True) @ v
        difference = compare_arrays("attention", expected, np.load(result), k.shape[-1])
    word = "within" if difference.used <= 1 else "beyond"
    print(f"{difference.d_acc:.3g} off, {word} the tolerance")
    return int(difference.used > 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
