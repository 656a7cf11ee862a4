#!/usr/bin/env python3
# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Run the exports of benchmarks/models with fuse-run and compare with the unfused program.

Usage: run_models.py --target=TARGET [--models=NAME,NAME | --large] [--numerics=NUMERICS]
                     [--objective=time|bytes] [--fuse-run=TOOL] [--fuse-opt=TOOL]
                     [--jobs=N]

Every argument but the first is a parameter. With an objective, fuse-opt plans for it, for the device behind the
target's colon if there is one, and fuse-run runs what it planned. The three networks of the size of ResNet run
with --large alone; default are all others.
Exit status: 0 if all values are right, 1 if not, 2 for misuse.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

MODELS = Path(__file__).resolve().parents[2] / "benchmarks" / "models"
SUFFIX = ".linalg.mlir"
LARGE = ("resnet18", "mobilenetv2", "resnet50")


def plan(options: argparse.Namespace, path: Path, scratch: str) -> Path:
    """The program as it is planned for the objective."""
    planned = Path(scratch) / path.name
    device = options.target.partition(":")[2] or options.target
    passes = ["--fuse-mark-params=args=1-", f"--fuse-boundary=target={device}", "--fuse-conv-bn"]
    passes.append(f"--fuse-greedy=objective={options.objective}")
    subprocess.run([options.fuse_opt, str(path), *passes, "-o", str(planned)], check=True)
    return planned


def check(options: argparse.Namespace, path: Path) -> str:
    """What fuse-run says of each result; begins with WRONG if one is not equal."""
    with tempfile.TemporaryDirectory(prefix="fuse-models-") as scratch:
        return run(options, plan(options, path, scratch) if options.objective else path)


def run(options: argparse.Namespace, path: Path) -> str:
    """What fuse-run says of the results of the program in `path`."""
    command = [
        options.fuse_run,
        str(path),
        "--params=1-",
        f"--target={options.target}",
        f"--numerics={options.numerics}",
        "--compare",
        "--repeat=0",
    ]
    done = subprocess.run(command, check=False, capture_output=True, text=True, errors="replace")
    results = [line for line in done.stdout.splitlines() if line.startswith("result ")]
    wrong = [line for line in results if ": equal, " not in line]
    if done.returncode or wrong or not results:
        return f"WRONG: exit status {done.returncode}: {' '.join(wrong)} {done.stderr.strip()}"
    return "; ".join(results)


def main(arguments: list[str]) -> int:
    """Command line; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", required=True)
    parser.add_argument("--models", default="")
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--numerics", default="strict")
    parser.add_argument("--objective", choices=("time", "bytes"))
    parser.add_argument("--fuse-run", default="fuse-run")
    parser.add_argument("--fuse-opt", default="fuse-opt")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args(arguments)
    known = {path.name.removesuffix(SUFFIX): path for path in sorted(MODELS.glob(f"*{SUFFIX}"))}
    names = options.models.split(",") if options.models else [n for n in known if (n in LARGE) == options.large]
    if unknown := [name for name in names if name not in known]:
        parser.error(f"unknown model {unknown[0]}, known are {', '.join(known)}")
    right = 0
    with ThreadPoolExecutor(options.jobs) as pool:
        verdicts = pool.map(lambda name: check(options, known[name]), names)
        for name, verdict in zip(names, verdicts, strict=True):
            right += not verdict.startswith("WRONG")
            print(f"{name}: {verdict}", flush=True)
    print(f"{right} of {len(names)} models right")
    return 0 if right == len(names) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
