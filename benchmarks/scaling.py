#!/usr/bin/env python3
# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Time passes on generated programs of growing size.

Usage: scaling.py --fuse-opt=TOOL [--passes=--fuse-boundary] [--kinds=K,K]
                  [--sizes=N,N] [--repeats=R] [--max-growth=X] [--json=FILE]

For each program of gen_graph.py, `TOOL FILE PASSES -o /dev/null --mlir-timing`
is run R times. MLIR's own timer tells the passes from what is around them:
`around` is the median (p50) of parsing and printing together, `pass` the least
and the median of all passes together, `us/op` the median for each operation
(for kind inputs: each input). `growth` is the time for each operation over that
at the smallest size of the kind whose pass time is at least 5 ms, `grow ar.`
the same of parsing and printing: 1 is linear.

Exit status: 0; 1 if a growth exceeds --max-growth; 2 if a command fails.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import statistics
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

from gen_graph import KINDS, program

#: Seconds below which a difference of two runs is noise, no base for growth.
LEAST_BASE = 0.005


#: A line of the timing report: seconds, share, name.
ROW = re.compile(r"^\s+(\d+\.\d+) \(\s*\d+\.\d+%\)\s+(\S.*)$", re.MULTILINE)

#: Lines of the report that are no pass: the sums, and what stands around passes.
SUMS = {"root", "Rest", "Total"}
AROUND = {"Parser", "Output"}


@dataclass
class Timing:
    """Times of one program; seconds unless the name says otherwise."""

    kind: str
    number: int
    around_p50: float
    pass_min: float
    pass_p50: float
    microseconds_each: float  # pass_p50 over the number of operations
    growth: float | None = None
    growth_around: float | None = None


def run(command: list[str], timeout: float) -> tuple[float, float]:
    """Seconds around the passes and in them; raises RuntimeError on failure."""
    timed = [*command, "--mlir-timing", "--mlir-timing-display=list"]
    try:
        done = subprocess.run(
            timed, check=False, capture_output=True, text=True, timeout=timeout
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RuntimeError(str(error)) from None
    rows = [(name, float(value)) for value, name in ROW.findall(done.stderr)]
    if done.returncode != 0 or not rows:
        shown = shlex.join(timed)
        raise RuntimeError(f"{shown}: status {done.returncode}\n{done.stderr[:2000]}")
    around = sum(value for name, value in rows if name in AROUND)
    passes = sum(value for name, value in rows if name not in SUMS | AROUND)
    return around, passes


def measure(
    tool: str, flags: list[str], kind: str, number: int, repeats: int, timeout: float
) -> Timing:
    """Time one program after one warm-up; raises RuntimeError."""
    with tempfile.TemporaryDirectory(prefix="fuse-scaling-") as scratch:
        source = Path(scratch) / "graph.mlir"
        source.write_text("\n".join(program(kind, number)) + "\n")
        command = [tool, str(source), *flags, "-o", os.devnull]
        run(command, timeout)
        times = [run(command, timeout) for _ in range(repeats)]
    around = [one for one, _ in times]
    passes = [one for _, one in times]
    return Timing(
        kind=kind,
        number=number,
        around_p50=statistics.median(around),
        pass_min=min(passes),
        pass_p50=statistics.median(passes),
        microseconds_each=statistics.median(passes) / number * 1e6,
    )


LAYOUT = "{:<13} {:>6} {:>10} {:>10} {:>10} {:>9} {:>7} {:>8}"
HEADER = (
    "kind",
    "N",
    "around p50",
    "pass min",
    "pass p50",
    "us/op",
    "growth",
    "grow ar.",
)


def cells(one: Timing) -> list[str]:
    """A line of the table; seconds."""
    times = (one.around_p50, one.pass_min, one.pass_p50)
    return [
        one.kind,
        str(one.number),
        *(f"{value:.4f}" for value in times),
        f"{one.microseconds_each:.2f}",
        "-" if one.growth is None else f"{one.growth:.2f}",
        "-" if one.growth_around is None else f"{one.growth_around:.2f}",
    ]


def compare(one: Timing, base: Timing) -> None:
    """Fill in the growths of `one` over the smallest size."""
    one.growth = one.microseconds_each / base.microseconds_each
    before = base.around_p50 / base.number
    one.growth_around = one.around_p50 / one.number / before


def main(arguments: list[str]) -> int:
    """Command line; returns the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--fuse-opt", required=True)
    parser.add_argument("--passes", default="--fuse-boundary")
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--sizes", default="1000,3000,10000,30000")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--timeout", type=float, default=120.0, help="seconds")
    parser.add_argument("--max-growth", type=float)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    flags = shlex.split(options.passes)
    sizes = sorted(int(one) for one in options.sizes.split(","))
    timings: list[Timing] = []
    status = 0
    print(LAYOUT.format(*HEADER))
    for kind in options.kinds.split(","):
        base: Timing | None = None
        for number in sizes:
            try:
                one = measure(
                    options.fuse_opt,
                    flags,
                    kind,
                    number,
                    options.repeats,
                    options.timeout,
                )
            except (RuntimeError, ValueError) as error:
                print(f"error: {kind} {number}: {error}", file=sys.stderr)
                return 2
            if base is None and one.pass_p50 >= LEAST_BASE:
                base = one
            if base is not None:
                compare(one, base)
            timings.append(one)
            print(LAYOUT.format(*cells(one)), flush=True)
    if options.json:
        report = {"version": 1, "timings": [asdict(one) for one in timings]}
        options.json.write_text(json.dumps(report, indent=1) + "\n")
    for one in timings:
        if options.max_growth and (one.growth or 0.0) > options.max_growth:
            print(
                f"error: {one.kind} {one.number}: {one.growth:.2f} times the time for"
                f" each operation of the smallest size, at most"
                f" {options.max_growth:g} allowed",
                file=sys.stderr,
            )
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
