#!/usr/bin/env python3
# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Registers, shared memory and spills of all GPU kernels of benchmarks/models.

Usage: gpu_resources.py [--fuse-opt=TOOL] [--models=NAME,NAME] [--chips=sm_80,sm_90]
                        [--objective=time|bytes] [--quiet]

Plans each export for each chip and prints what fuse-resources prints: per kernel
its class, threads, registers and bytes of shared memory (predicted, and as ptxas
says), bytes spilled, stack, occupancy, and why it has the plain schedule if it
has. Then a line for each model; --quiet prints that alone.
Exit status: 0, also without ptxas, which is said; 1 if a kernel spills; 2 if
something cannot be run or read.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

MODELS = Path(__file__).resolve().parent / "models"
SUFFIX = ".linalg.mlir"
NO_PTXAS = "ptxas is not found"
ROW = re.compile(
    r"^(?P<name>\S+) +(?P<kind>\S+) +(?P<threads>\d+) +(?P<predicted>[\d-]+) +(?P<actual>[\d-]+)"
    r" +[\d-]+ +[\d-]+ +(?P<spill>[\d-]+) +[\d-]+ +\d+%(?P<plain>  plain: .*?)?"
    r"(?:  part of a chain: .*?)?(?:  apart: .*)?$"
)


@dataclass
class Table:
    """What fuse-resources prints for one program."""

    lines: list[str]
    kernels: int = 0
    spills: int = 0
    plain: int = 0
    ratios: list[float] | None = None  # actual registers / predicted


def read_table(text: str) -> Table:
    """The table in the output of fuse-opt."""
    table = Table([], ratios=[])
    for line in text.splitlines():
        row = ROW.match(line)
        if row:
            table.kernels += 1
            table.plain += row["plain"] is not None
            table.spills += row["spill"] not in ("-", "0")
            if row["actual"] != "-" and row["predicted"] != "-":
                table.ratios.append(int(row["actual"]) / int(row["predicted"]))
        if row or line.startswith("kernel "):
            table.lines.append(line)
    return table


def plan(fuse_opt: str, model: Path, chip: str, objective: str) -> tuple[str, int]:
    """Standard error and exit status of fuse-opt."""
    command = [
        fuse_opt,
        str(model),
        "--fuse-mark-params=args=1-",
        f"--fuse-boundary=target={chip}",
        "--fuse-conv-bn",
        f"--fuse-greedy=objective={objective}",
        f"--fuse-resources=chip={chip}",
        "-o",
        "/dev/null",
    ]
    done = subprocess.run(command, check=False, capture_output=True, text=True, errors="replace")
    return done.stderr, done.returncode


def summary(name: str, chip: str, table: Table) -> str:
    """One line for a model."""
    text = f"{name} {chip}: {table.kernels} kernels, {table.spills} spill, {table.plain} plain"
    if table.ratios:
        near = sum(0.75 <= ratio <= 1.25 for ratio in table.ratios)
        text += f", registers within 25% of the prediction: {near} of {len(table.ratios)}"
    return text


def main(arguments: list[str]) -> int:
    """Command line; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fuse-opt", default="fuse-opt")
    parser.add_argument("--models", default="", help="names, default all")
    parser.add_argument("--chips", default="sm_80,sm_90")
    parser.add_argument("--objective", default="time", choices=("time", "bytes"), help="of the plan")
    parser.add_argument("--quiet", action="store_true")
    options = parser.parse_args(arguments)
    known = {path.name.removesuffix(SUFFIX): path for path in sorted(MODELS.glob(f"*{SUFFIX}"))}
    names = options.models.split(",") if options.models else list(known)
    if unknown := [name for name in names if name not in known]:
        parser.error(f"unknown model {unknown[0]}, known are {', '.join(known)}")
    spills = 0
    for name in names:
        for chip in options.chips.split(","):
            text, status = plan(options.fuse_opt, known[name], chip, options.objective)
            table = read_table(text)
            if not table.kernels:
                print(f"{name} {chip}: {text.strip()}", file=sys.stderr)
                return 2
            if status and not table.spills:
                print(f"{name} {chip}: exit status {status}: {text.strip()}", file=sys.stderr)
                return 2
            if NO_PTXAS in text:
                print(f"{name} {chip}: skipped, {NO_PTXAS}: resources are estimates")
            if not options.quiet:
                print("\n".join(table.lines))
            print(summary(name, chip, table), flush=True)
            spills += table.spills
    return 1 if spills else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
