#!/usr/bin/env python3
# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Run hard cases through passes and compare what they print with numpy.

Usage: check_case.py CASE... [--fuse-opt=TOOL] [--passes="FLAGS"]
       check_case.py CASE --printed=FILE

CASE is a file of test/Cases or its number; `all` is every case. A case with a
numeric check is transformed by `TOOL CASE FLAGS` (default: $MLIR_OPT, else
mlir-opt, without flags), lowered without fusion, run, and compared with the
arrays of refs/NNN.py. The other cases must only pass through the flags
without a crash or a hang; a malformed one may also be refused with an error.
Exit status: 0 if all are right, 1 if not, 2 for misuse.
"""

from __future__ import annotations

import argparse
import csv
import re
import runpy
import shlex
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from run_mlir import Runner, StageError, default_opt

CASES = Path(__file__).resolve().parents[1] / "Cases"


@dataclass
class Case:
    """A line of decisions.tsv."""

    number: str
    path: Path
    kind: str
    decision: str  # fuse, refuse, fold, fuse+refuse, either
    reason: str  # RAW WAR WAW side-effect multi-consumer shape numerics ...
    numeric: bool
    tolerance: float  # absolute; relative at least 1e-4

    @property
    def reference(self) -> list[np.ndarray]:
        """The arrays that the case must print, in order, as flat f64."""
        refs = self.path.parent / "refs"
        sys.path.insert(0, str(refs))
        try:
            arrays = runpy.run_path(str(refs / f"{self.number}.py"))["out"]
        finally:
            sys.path.remove(str(refs))
        return [np.asarray(one, np.float64).ravel() for one in arrays]


def load_cases(directory: Path = CASES) -> dict[str, Case]:
    """All cases by number."""
    with (directory / "decisions.tsv").open(newline="") as table:
        return {
            row["id"]: Case(
                number=row["id"],
                path=directory / row["file"],
                kind=row["kind"],
                decision=row["decision"],
                reason=row["reason"],
                numeric=row["numeric"] == "yes",
                tolerance=float(row["tolerance"]),
            )
            for row in csv.DictReader(table, delimiter="\t")
        }


def find_case(name: str, cases: dict[str, Case]) -> Case:
    """The case of a file name or number; raises KeyError."""
    number = Path(name).name[:3]
    if number not in cases:
        raise KeyError(f"no case '{name}'; there are {', '.join(cases)}")
    return cases[number]


def printed_arrays(text: str) -> list[np.ndarray]:
    """The arrays that printMemref wrote, flat, as f64."""
    number = re.compile(r"[-+]?(?:nan|inf|\d+\.?\d*(?:e[-+]?\d+)?)")
    found: list[np.ndarray] = []
    for part in text.split("Unranked Memref")[1:]:
        data = part.partition("data =")[2]
        data = data[: data.rfind("]") + 1] if "]" in data else data
        found.append(np.array([float(one) for one in number.findall(data)]))
    return found


def mismatch(case: Case, printed: str) -> str:
    """What is wrong with the printed arrays, "" if nothing."""
    want, got = case.reference, printed_arrays(printed)
    if len(want) != len(got):
        return f"expected {len(want)} arrays, found {len(got)}"
    relative = max(case.tolerance, 1e-4)
    for index, (a, b) in enumerate(zip(want, got, strict=True)):
        if a.size != b.size:
            return f"array {index}: expected {a.size} elements, found {b.size}"
        if not np.allclose(a, b, rtol=relative, atol=case.tolerance, equal_nan=True):
            return f"array {index}: expected {a.tolist()}, found {b.tolist()}"
    return ""


def check(case: Case, runner: Runner, flags: list[str]) -> str:
    """What is wrong with the case under these flags, "" if nothing."""
    try:
        if case.numeric:
            return mismatch(case, runner.run(case.path, flags))
        with tempfile.TemporaryDirectory(prefix="fuse-case-") as scratch:
            runner.passes(case.path, flags, Path(scratch) / "out.mlir")
    except StageError as error:
        diagnosed = error.status == 1 and "error:" in error.stderr
        if case.kind == "malformed" and not case.numeric and diagnosed:
            return ""
        return str(error)
    return ""


def main(arguments: list[str]) -> int:
    """Command line; returns the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("cases", nargs="+", metavar="CASE")
    parser.add_argument("--fuse-opt", default=default_opt())
    parser.add_argument("--passes", default="", help="flags, as in a shell")
    parser.add_argument("--printed", type=Path, help="compare this, run nothing")
    parser.add_argument("--timeout", type=float, default=120.0, help="seconds")
    options = parser.parse_args(arguments)
    known = load_cases()
    names = list(known) if options.cases == ["all"] else options.cases
    try:
        cases = [find_case(name, known) for name in names]
    except KeyError as error:
        parser.error(str(error.args[0]))
    if options.printed and not (len(cases) == 1 and cases[0].numeric):
        parser.error("--printed takes one case that has a numeric check")
    runner = Runner(opt=options.fuse_opt, opt_level=0, timeout=options.timeout)
    status = 0
    for case in cases:
        wrong = (
            mismatch(case, options.printed.read_text())
            if options.printed
            else check(case, runner, shlex.split(options.passes))
        )
        status |= bool(wrong)
        print(f"{case.path.stem}: {'WRONG: ' + wrong if wrong else 'ok'}", flush=True)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
