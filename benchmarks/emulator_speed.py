#!/usr/bin/env python3
# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Time the emulator on an f16 matmul by mma.sync.

Usage: emulator_speed.py [--sizes=M,N,K] [--repeats=R] [--max-seconds=S]

The program is that of test/tools/gen_mma_matmul.py, lowered by the stock pipeline and run by mlir-runner; a time is
that of the whole run, with compilation and inputs, without the lowering. The first run is checked against numpy.
Exit status: 0; 1 if the median is above --max-seconds, or the result is wrong.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "test" / "tools"))

import emulate  # noqa: E402
import gen_mma_matmul  # noqa: E402


def settings(reference: str) -> argparse.Namespace:
    return argparse.Namespace(
        reference=reference,
        rtol=1e-5,
        passes="",
        chip="sm_80",
        format="llvm",
        library="fuse_emulator",
        timeout=600,
        times=False,
    )


def main() -> int:
    parser = argparse.ArgumentParser(description="Time the emulator on an f16 matmul.")
    parser.add_argument("--sizes", default="1024,1024,1024")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--max-seconds", type=float, default=0)
    options = parser.parse_args()
    m, n, k = (int(size) for size in options.sizes.split(","))
    with tempfile.TemporaryDirectory() as folder:
        lowered = emulate.lower(gen_mma_matmul.program(m, n, k), settings(""))
        if emulate.run(lowered, settings(""), folder) or emulate.compare(folder, settings("matmul")):
            return 1
    lowered = emulate.lower(gen_mma_matmul.program(m, n, k, saves=False), settings(""))
    times = []
    for _ in range(options.repeats):
        start = time.monotonic()
        if emulate.run(lowered, settings(""), "."):
            return 1
        times.append(time.monotonic() - start)
    median = statistics.median(times)
    threads = os.environ.get("FUSE_EMULATOR_THREADS", os.cpu_count())
    print(f"{m} x {n} x {k}: median {median:.2f} s of {len(times)}, {2e-9 * m * n * k / median:.2f} GFLOP/s,", end=" ")
    print(f"{threads} host threads")
    return 1 if 0 < options.max_seconds < median else 0


if __name__ == "__main__":
    sys.exit(main())
