#!/usr/bin/env python3
# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How far the greedy plan is from the optimum, on pieces of the exports.

Usage: planner_gap.py --fuse-opt=TOOL [--models=NAME,NAME] [--operators=12]
                      [--objectives=time,bytes] [--target=sm_80]
                      [--limit-ms=5000] [--most=1.05] [--check]

Each export, with batch norms folded, is cut into windows of that many
consecutive operators, none of which overlap (the last one may be shorter); what a window reads becomes an
argument, what others read of it a result. Each is planned greedily and exactly.
A line for each model says on how many windows the optimum was proved, and how
far the greedy plan is from it at worst.
Exit status: 0, 1 with --check if a greedy plan is more than --most times a
proved optimum, 2 if something cannot be run or read.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "test" / "tools"))

from kernel_text import Op, functions, parse  # noqa: E402
from mlir_text import MlirTextError  # noqa: E402

MODELS = ROOT / "benchmarks" / "models"
REMARK = re.compile(r"plan of @(\w+): greedy (\S+) \w+(?:, exact (\S+) \w+)?, optimum (not )?proved")


class GapError(RuntimeError):
    """A program that cannot be cut or planned."""


@dataclass
class Gap:
    """The windows of one model under one objective."""

    windows: int = 0
    proved: int = 0
    factors: list[float] = field(default_factory=list)  # greedy over exact, of the proved


def run(command: list[str]) -> subprocess.CompletedProcess[str]:
    """A finished command; raises GapError."""
    try:
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=1200)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise GapError(str(error)) from None
    if done.returncode != 0:
        raise GapError(f"status {done.returncode}: {done.stderr[:2000]}")
    return done


def used(op: Op) -> list[str]:
    """Values that an operation and its regions use."""
    return [*op.operands, *(name for one in op.body for name in used(one))]


class Cutter:
    """Cuts @main of a module in generic form."""

    def __init__(self, text: str) -> None:
        self.lines = text.splitlines()
        main = functions(parse(text))["main"]
        self.types = dict(zip(main.arguments, main.argument_types, strict=True))
        self.ops = main.body
        ends = [one.line for one in self.ops[1:]] + [self.ops[-1].line + 1]
        self.texts = [self.lines[one.line - 1 : end - 1] for one, end in zip(self.ops, ends, strict=True)]
        self.makers: dict[str, int] = {}
        self.frozen = set(main.arguments[1:])
        for index, one in enumerate(self.ops):
            for name, kind in zip(one.results, one.result_types, strict=True):
                self.makers[name] = index
                self.types[name] = kind
            if one.name != "func.return" and all(name in self.frozen for name in used(one) if name in self.types):
                self.frozen.update(one.results)

    def is_operator(self, index: int) -> bool:
        """True for what computes: fuse-boundary gives it a number."""
        return "fuse.id = " in " ".join(self.texts[index]) and self.ops[index].name != "linalg.fill"

    def window(self, name: str, members: list[int]) -> str:
        """A function of the operators `members` with the glue that they need."""
        first = members[0]
        kept = set(members)
        worklist = list(members)
        arguments: list[str] = []
        while worklist:
            for value in used(self.ops[worklist.pop()]):
                maker = self.makers.get(value)
                if value not in self.types or maker in kept:
                    continue
                if maker is not None and not self.is_operator(maker) and (maker > first or self.is_free(maker)):
                    kept.add(maker)
                    worklist.append(maker)
                elif value not in arguments:
                    arguments.append(value)
        results = [
            value
            for index in members
            for value in self.ops[index].results
            if any(value in used(one) for other, one in enumerate(self.ops) if other not in kept)
        ]
        kinds, made = [self.types[one] for one in arguments], [self.types[one] for one in results]
        marks = ", ".join("{fuse.param}" if one in self.frozen else "{}" for one in arguments)
        listed = ", ".join(f"{one}: {kind}" for one, kind in zip(arguments, kinds, strict=True))
        body = [line for index in sorted(kept) for line in self.texts[index]]
        ending = f'"func.return"({", ".join(results)}) : ({", ".join(made)}) -> ()'
        head = f"function_type = ({', '.join(kinds)}) -> ({', '.join(made)}), sym_name = \"{name}\""
        lines = [f'"func.func"() <{{{head}, arg_attrs = [{marks}]}}> ({{', f"^bb0({listed}):", *body, ending]
        return "\n".join([*lines, "}) : () -> ()"])

    def is_free(self, index: int) -> bool:
        """True for constants, empty tensors and fills: each window has its own."""
        return self.ops[index].name in ("arith.constant", "tensor.empty", "linalg.fill")

    def windows(self, size: int) -> list[str]:
        """All windows, in order."""
        operators = [index for index in range(len(self.ops)) if self.is_operator(index)]
        starts = range(0, len(operators), size)
        return [self.window(f"w{start}", operators[start : start + size]) for start in starts]


def measure(name: str, objective: str, options: argparse.Namespace) -> Gap:
    """The windows of a model, planned both ways."""
    passes = ["--fuse-mark-params=args=1-", f"--fuse-boundary=target={options.target}", "--fuse-conv-bn"]
    printing = ["--mlir-print-op-generic", "--mlir-print-local-scope", "--mlir-elide-resource-strings-if-larger=8"]
    text = run([options.fuse_opt, str(MODELS / f"{name}.linalg.mlir"), *passes, *printing]).stdout
    windows = Cutter(text).windows(options.operators)
    gap = Gap(windows=len(windows))
    with tempfile.TemporaryDirectory(prefix="fuse-gap-") as scratch:
        source = Path(scratch) / "windows.mlir"
        source.write_text("\n".join(windows) + "\n")
        plan = f"--fuse-plan=objective={objective} planner=exact exact-limit-ms={options.limit_ms}"
        flags = [f"--fuse-boundary=target={options.target}", plan, "-o", "/dev/null"]
        done = run([options.fuse_opt, str(source), *flags])
    found = REMARK.findall(done.stderr)
    if len(found) != len(windows):
        raise GapError(f"{name}: {len(found)} remarks for {len(windows)} windows\n{done.stderr[:500]}")
    for _, greedy, exact, unproved in found:
        if not unproved:
            gap.proved += 1
            gap.factors.append(float(greedy) / float(exact) if float(exact) else 1.0)
    return gap


def main(arguments: list[str]) -> int:
    """Command line; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fuse-opt", required=True)
    parser.add_argument("--models", default="")
    parser.add_argument("--operators", type=int, default=12)
    parser.add_argument("--objectives", default="time,bytes")
    parser.add_argument("--target", default="sm_80")
    parser.add_argument("--limit-ms", type=int, default=5000)
    parser.add_argument("--most", type=float, default=1.05)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args(arguments)
    every = sorted(one.name.removesuffix(".linalg.mlir") for one in MODELS.glob("*.linalg.mlir"))
    names = [one for one in options.models.split(",") if one] or [one for one in every if ".const" not in one]
    print(f"{'model':<16} {'objective':<9} {'windows':>7} {'proved':>6} {'worst':>6} {'beyond':>6}")
    status, windows, proved = 0, 0, 0
    try:
        for name in names:
            for objective in options.objectives.split(","):
                gap = measure(name, objective, options)
                beyond = sum(one > options.most for one in gap.factors)
                worst = max(gap.factors, default=1.0)
                counts = f"{gap.windows:>7} {gap.proved:>6} {worst:>6.3f} {beyond:>6}"
                print(f"{name:<16} {objective:<9} {counts}", flush=True)
                windows, proved = windows + gap.windows, proved + gap.proved
                status |= int(options.check and beyond > 0)
    except (GapError, MlirTextError, KeyError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(f"{'all':<26} {windows:>7} {proved:>6}")
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
