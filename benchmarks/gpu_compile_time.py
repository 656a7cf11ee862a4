#!/usr/bin/env python3
# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Time to compile ResNet-50 for one chip: planning and lowering to PTX, and the same to a cubin by ptxas.

Usage: gpu_compile_time.py [--fuse-opt=TOOL] [--chips=sm_80,sm_90] [--model=resnet50] [--limit=60]

Prints a line for each chip and format: seconds of wall clock and of processors, and the limit. Exit status: 0; 1 if one
takes longer than the limit; 2 if it cannot be compiled. Without ptxas the cubin is left out, which is said.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

MODELS = Path(__file__).resolve().parent / "models"
NO_PTXAS = "needs ptxas"


def measure(fuse_opt: str, model: Path, chip: str, form: str) -> tuple[float, float, str]:
    """Seconds of wall clock and of processors of one compilation, and its errors."""
    command = [
        fuse_opt,
        str(model),
        "--fuse-mark-params=args=1-",
        f"--fuse-boundary=target={chip}",
        "--fuse-conv-bn",
        "--fuse-greedy",
        f"--fuse-to-nvvm=chip={chip} format={form}",
        "-o",
        os.devnull,
    ]
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, check=False, capture_output=True, text=True, errors="replace")
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall, used, done.stderr.strip() if done.returncode else ""


def main(arguments: list[str]) -> int:
    """Command line; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fuse-opt", default="fuse-opt")
    parser.add_argument("--chips", default="sm_80,sm_90")
    parser.add_argument("--model", default="resnet50")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds")
    options = parser.parse_args(arguments)
    model = MODELS / f"{options.model}.linalg.mlir"
    cores = len(os.sched_getaffinity(0))
    slow = 0
    for chip in options.chips.split(","):
        for form, what in (("isa", "PTX"), ("bin", "cubin")):
            wall, used, errors = measure(options.fuse_opt, model, chip, form)
            if form == "bin" and NO_PTXAS in errors:
                print(f"{options.model} {chip} {what}: skipped, ptxas is not found")
                continue
            if errors:
                print(f"{options.model} {chip}: {errors[:2000]}", file=sys.stderr)
                return 2
            verdict = "slow" if wall > options.limit else "ok"
            slow += wall > options.limit
            print(
                f"{options.model} {chip} {what}: {wall:.1f} s, {used:.1f} s of processors on {cores} cores, "
                f"limit {options.limit:.0f} s: {verdict}",
                flush=True,
            )
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
