#!/usr/bin/env python3
# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Run a GPU program on the emulator and compare what it saves with numpy.

Usage: emulate.py FILE [--reference=NAME] [--rtol=R] [--passes=FLAGS] [--chip=sm_80]
                  [--format=llvm] [--library=NAME]
       emulate.py FILE --lower-only

FILE (`-`: stdin) is lowered by the stock `mlir-opt --gpu-lower-to-nvvm-pipeline` and run by
`mlir-runner`. NAME is a function of emulator_references.py: from the arrays that the program saved as arguments it
computes what must be in result0.npy. Exit status: 0; 1 when the arrays differ; 3 when the lowering failed; otherwise
that of the run.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import emulator_references
import numpy as np

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("FUSE_BUILD_DIR", ROOT / "build"))
LLVM_BIN = Path(os.environ.get("FUSE_LLVM_BIN", "/usr/lib/llvm-22/bin"))
PTX = {"sm_80": "+ptx80", "sm_86": "+ptx80", "sm_90": "+ptx80"}


def lower(text: str, options: argparse.Namespace) -> str:
    pipeline = f"cubin-format={options.format} cubin-chip={options.chip} cubin-features={PTX[options.chip]}"
    command = [LLVM_BIN / "mlir-opt", *options.passes.split(), f"--gpu-lower-to-nvvm-pipeline={pipeline}"]
    done = subprocess.run(command, input=text.encode(), capture_output=True)
    if done.returncode != 0:
        errors = [line for line in done.stderr.decode().splitlines() if "error:" in line]
        print("\n".join(errors) or done.stderr.decode(), file=sys.stderr)
        sys.exit(3)
    return done.stdout.decode(errors="surrogateescape")


def run(lowered: str, options: argparse.Namespace, folder: str) -> int:
    libraries = [
        BUILD / "lib" / f"lib{options.library}.so",
        BUILD / "lib" / "libfuse_test_runtime.so",
        LLVM_BIN.parent / "lib" / "libmlir_runner_utils.so",
        LLVM_BIN.parent / "lib" / "libmlir_c_runner_utils.so",
    ]
    command = [LLVM_BIN / "mlir-runner", "--entry-point-result=void", "--shared-libs=" + ",".join(map(str, libraries))]
    data = lowered.encode(errors="surrogateescape")
    start = time.monotonic()
    done = subprocess.run(command, input=data, env={**os.environ, "FUSE_SAVE_DIR": folder}, timeout=options.timeout)
    if options.times:
        print(f"ran {time.monotonic() - start:.2f} s", file=sys.stderr)
    return done.returncode


def load(folder: str, kind: str) -> list[np.ndarray]:
    arrays = []
    while (path := Path(folder, f"{kind}{len(arrays)}.npy")).exists():
        arrays.append(np.load(path))
    return arrays


def compare(folder: str, options: argparse.Namespace) -> int:
    expected = getattr(emulator_references, options.reference)(*load(folder, "argument"))
    results = load(folder, "result")
    if not results or results[0].shape != expected.shape:
        print(f"different: {[r.shape for r in results]} saved, expected {expected.shape}")
        return 1
    result = results[0].astype(np.float64)
    if np.isnan(result).any():
        print(f"different: {int(np.isnan(result).sum())} of {result.size} elements are not a number")
        return 1
    scale = max(float(np.abs(expected).max()), 1e-30)
    error = float(np.abs(result - expected).max()) / scale
    print(f"{'equal' if error <= options.rtol else 'different'}: {result.size} elements")
    if error > options.rtol:
        print(f"largest difference {error:.3g} of the largest element, allowed {options.rtol:.3g}", file=sys.stderr)
    return 0 if error <= options.rtol else 1


def main() -> int:
    parser = argparse.ArgumentParser(description="Run a GPU program on the emulator.")
    parser.add_argument("file")
    parser.add_argument("--reference", default="")
    parser.add_argument("--rtol", type=float, default=0)
    parser.add_argument("--passes", default="")
    parser.add_argument("--chip", choices=sorted(PTX), default="sm_80")
    parser.add_argument("--format", choices=["llvm", "isa"], default="llvm")
    parser.add_argument("--library", default="fuse_emulator")
    parser.add_argument("--timeout", type=float, default=100)
    parser.add_argument("--times", action="store_true")
    parser.add_argument("--lower-only", action="store_true")
    options = parser.parse_args()
    lowered = lower(sys.stdin.read() if options.file == "-" else Path(options.file).read_text(), options)
    if options.lower_only:
        sys.stdout.buffer.write(lowered.encode(errors="surrogateescape"))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        status = run(lowered, options, folder)
        if status == 0 and options.reference:
            status = compare(folder, options)
    return status


if __name__ == "__main__":
    sys.exit(main())
