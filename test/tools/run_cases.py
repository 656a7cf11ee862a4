#!/usr/bin/env python3
# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Run hard cases with fuse-run in every mode and compare with numpy.

Usage: run_cases.py [CASE...] [--fuse-run=TOOL] [--target=TARGET] [--modes=off,full] [--jobs=N]

CASE is a file of test/Cases or its number; default: all. What `@main` of a
case prints is saved in full precision instead (see libfuse_test_runtime.so in
run_mlir.py) and compared by the rule of compare.py with the arrays of
refs/NNN.py, which know nothing of MLIR. Cases without such a file have
nothing to compare and are named as skipped. With a --target that is a GPU, what
fuse-run says that it has no code for is named as refused.
Exit status: 0 if all are right, 1 if not, 2 for misuse.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from itertools import count, product
from pathlib import Path

import numpy as np
from check_case import Case, find_case, load_cases
from compare import CompareError, compare_arrays
from run_mlir import runner_libraries

MODES = ("off", "fold-only", "full")
#: Ends of diagnostics on programs that a GPU has no code for.
REFUSALS = ("expected work on tensors inside of kernels", "expected work on tensors")


def saving(text: str) -> str:
    """The program with each printMemref replaced by a save of array 0, 1, ..."""
    text = re.sub(r"@printMemref(\w+)\(([^)%]*)\)", r"@fuseSave\1(\2, i64, i64)", text)
    numbers = count()

    def call(found: re.Match[str]) -> str:
        number = next(numbers)
        operands = ", ".join([found[3], f"%save{number}", "%save_kind"])
        kind = "%save_kind = arith.constant 0 : i64\n" if number == 0 else ""
        return (
            f"{kind}%save{number} = arith.constant {number} : i64\n"
            f"{found[1]}call @fuseSave{found[2]}({operands}) : ({found[4]}, i64, i64)"
        )

    pattern = r"((?:func\.)?)call @printMemref(\w+)\((%[^)]*)\) : \(([^)]*)\)"
    return re.sub(pattern, call, text)


def mismatch(case: Case, saved: Path) -> str:
    """What is wrong with the saved arrays, "" if nothing."""
    files = sorted(saved.glob("result*.npy"), key=lambda one: int(one.stem[6:]))
    want = case.reference
    if len(files) != len(want):
        return f"expected {len(want)} arrays, found {len(files)}"
    for file, flat in zip(files, want, strict=True):
        got = np.load(file, allow_pickle=False)
        if got.size != flat.size:
            return f"{file.stem}: expected {flat.size} elements, found {got.size}"
        reference = flat.astype(got.dtype).reshape(got.shape)
        match = not np.isfinite(flat).all()
        try:
            found = compare_arrays(file.stem, reference, got, match=match)
        except CompareError as error:
            return str(error)
        if not found.equal:
            return (
                f"{file.stem}: {found.used:.3g} of the tolerance,"
                f" expected {flat.tolist()}, found {got.ravel().tolist()}"
            )
    return ""


class Refused(Exception):
    """A program that there is no code for, with the diagnostic."""


def refusal_in(text: str) -> str:
    """The diagnostic that there is no code, "" if there is none."""
    for line in text.splitlines():
        if ": error: " in line and line.endswith(REFUSALS):
            return line.split(": error: ", 1)[1]
    return ""


def check(options: argparse.Namespace, case: Case, mode: str) -> str:
    """What is wrong with the case in this mode, "" if nothing."""
    with tempfile.TemporaryDirectory(prefix="fuse-case-") as name:
        scratch = Path(name)
        program = scratch / case.path.name
        program.write_text(saving(case.path.read_text()))
        command = [options.fuse_run, str(program), f"--mode={mode}", "--repeat=0"]
        if options.target:
            command.append(f"--target={options.target}")
        command.append(f"--shared-libs={','.join(runner_libraries())}")
        env = os.environ | {"FUSE_SAVE_DIR": name}
        try:
            done = subprocess.run(
                command,
                check=False,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=options.timeout,
                env=env,
            )
        except subprocess.TimeoutExpired:
            return f"takes more than {options.timeout:g} s"
        if options.target and (refusal := refusal_in(done.stderr)):
            raise Refused(refusal)
        if done.returncode != 0:
            return f"exit status {done.returncode}: {done.stderr.strip()}"
        return mismatch(case, scratch)


def verdict(options: argparse.Namespace, case: Case, mode: str) -> str:
    """What is printed of a run: ok, refused or WRONG, and why."""
    try:
        wrong = check(options, case, mode)
    except Refused as refusal:
        return f"refused: {refusal}"
    return f"WRONG: {wrong}" if wrong else "ok"


def main(arguments: list[str]) -> int:
    """Command line; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", metavar="CASE")
    parser.add_argument("--fuse-run", default="fuse-run")
    parser.add_argument("--target", default="", help="of fuse-run, default the CPU")
    parser.add_argument("--modes", default=",".join(MODES), help="default all")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--timeout", type=float, default=600.0, help="seconds")
    options = parser.parse_args(arguments)
    known = load_cases()
    try:
        cases = [find_case(name, known) for name in options.cases or known]
    except KeyError as error:
        parser.error(str(error.args[0]))
    numeric = [case for case in cases if case.numeric]
    modes = options.modes.split(",")
    if unknown := [mode for mode in modes if mode not in MODES]:
        parser.error(f"unknown mode {unknown[0]}, known are {', '.join(MODES)}")
    runs = list(product(numeric, modes))
    counts: Counter[str] = Counter()
    with ThreadPoolExecutor(options.jobs) as pool:
        verdicts = pool.map(lambda run: verdict(options, *run), runs)
        for (case, mode), text in zip(runs, verdicts, strict=True):
            counts[text.split(":")[0]] += 1
            print(f"{case.path.stem} {mode}: {text}", flush=True)
    for case in cases:
        if not case.numeric:
            print(f"{case.path.stem}: skipped, it has no reference values")
    refused = f", {counts['refused']} refused" if options.target else ""
    print(f"{counts['ok']} of {len(runs)} runs right{refused}, {len(cases) - len(numeric)} cases skipped")
    return 1 if counts["WRONG"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
