#!/usr/bin/env python3
# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Check that the passes print the same bytes whoever runs them, and are idempotent.

Usage: check_determinism.py --plugin=FusePlugin.so [--fuse-opt=fuse-opt] MODEL...

For each model: fuse-opt twice, without threads, and mlir-opt with the plugin must print the same; each pass run on
its own output must change nothing; the output must survive bytecode. Exit status: 0 if all do, 1 otherwise.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

LLVM_BIN = os.environ.get("FUSE_LLVM_BIN", "/usr/lib/llvm-22/bin")

#: Each is run on the model and then on its own output.
PIPELINES = (
    "fuse-annotate",
    "fuse-boundary",
    "fuse-boundary{policy=strict target=x86-avx512}",
    "fuse-mark-params{args=1-}",
    "fuse-conv-bn{weights=always}",
    "fuse-boundary,fuse-conv-bn",
    "fuse-mark-params{args=1-},fuse-boundary,fuse-conv-bn",
)


def run(command: list[str], text: bytes) -> bytes:
    """Standard output of `command` on `text`."""
    done = subprocess.run(command, input=text, capture_output=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} failed:\n{done.stderr.decode()[:2000]}")
    return done.stdout


def check(model: Path, fuse_opt: str, plugin: str) -> list[str]:
    """What differs for one model, empty if nothing does."""
    text = model.read_bytes()
    problems = []
    stock = [f"{LLVM_BIN}/mlir-opt", f"--load-dialect-plugin={plugin}", f"--load-pass-plugin={plugin}"]
    for pipeline in PIPELINES:
        option = f"--pass-pipeline=builtin.module({pipeline})"
        once = run([fuse_opt, option], text)
        others = {
            "a second run": run([fuse_opt, option], text),
            "no threads": run([fuse_opt, option, "--mlir-disable-threading"], text),
            "stock mlir-opt": run([*stock, option], text),
            "its own output": run([fuse_opt, option], once),
            "bytecode": run([fuse_opt], run([fuse_opt, "--emit-bytecode"], once)),
        }
        problems += [f"{pipeline}: {name} differs" for name, other in others.items() if other != once]
    return problems


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", type=Path, metavar="MODEL")
    parser.add_argument("--plugin", required=True)
    parser.add_argument("--fuse-opt", default="fuse-opt")
    args = parser.parse_args()
    failures = 0
    for model in args.models:
        problems = check(model, args.fuse_opt, args.plugin)
        failures += bool(problems)
        print(f"{model.name}: {'; '.join(problems) if problems else 'ok'}")
    print(f"{len(args.models)} models, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
