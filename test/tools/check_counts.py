#!/usr/bin/env python3
# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Check `fuse-opt --fuse-annotate` against the independent count.

Usage: check_counts.py --fuse-opt=TOOL [--glue-without-cost] MODEL...
       check_counts.py --annotated=FILE [--glue-without-cost] MODEL

Every linalg operation of each model, in program order, must carry a
`fuse.cost` whose flops, read, written and transcendentals are those of
count_flops_bytes.py on the unannotated text. --annotated takes a saved output
of the pass instead of running it. --glue-without-cost lets operations that
compute nothing (fills, transposes, broadcasts, copies) go without. A count that is not known (`?`) is not
compared. Exit status: 0 if all agree, 1 if not, 2 if something cannot be read
or run.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path

from count_flops_bytes import count, shown
from linalg_text import CountError, Parser
from mlir_text import MlirTextError, mask, matching, split_top

KEYS = ("flops", "read", "written", "transcendentals")


class CheckError(RuntimeError):
    """The annotated text could not be produced or read."""


def annotate(tool: str, model: Path, timeout: float) -> str:
    """What TOOL prints for `--fuse-annotate`; raises CheckError."""
    try:
        done = subprocess.run(
            [tool, str(model), "--fuse-annotate"],
            check=False,
            capture_output=True,
            text=True,
            timeout=timeout,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CheckError(str(error)) from None
    if done.returncode != 0:
        raise CheckError(f"{tool}: status {done.returncode}\n{done.stderr.strip()}")
    return done.stdout


def costs(text: str) -> list[tuple[str, dict[str, str] | None]]:
    """(operation, its `fuse.cost` fields or None) in program order."""
    attribute = r"(?:#fuse\.cost(<)|(#[\w.$-]+))"
    masked = mask(text)
    aliases = {
        match.group(1): _fields(text, masked, match.end() - 1)
        for match in re.finditer(
            r"^(#[\w.$-]+)\s*=\s*#fuse\.cost<", masked, re.MULTILINE
        )
    }
    found: list[tuple[str, dict[str, str] | None]] = []
    for op in Parser(text).operations():
        pattern = re.compile(rf"\bfuse\.cost\s*=\s*{attribute}")
        match = pattern.search(masked, op.start, op.end)
        if match and match.group(1):
            found.append((op.name, _fields(text, masked, match.end() - 1)))
        else:
            found.append((op.name, aliases.get(match.group(2)) if match else None))
    return found


def _fields(text: str, masked: str, bracket: int) -> dict[str, str]:
    """`key = value` pairs between the bracket at a position and its end."""
    inside = split_top(text[bracket + 1 : matching(masked, bracket)])
    pairs = [one.partition("=") for one in inside]
    return {key.strip(): value.strip() for key, _, value in pairs}


def check(
    model_text: str, annotated: str, glue_without_cost: bool = False
) -> tuple[int, list[str]]:
    """(operations compared, disagreements in words); raises CountError."""
    ops = Parser(model_text).operations()
    stated = costs(annotated)
    if len(ops) != len(stated):
        raise CheckError(f"{len(ops)} operations became {len(stated)}")
    wrong: list[str] = []
    compared = len(ops)
    for index, (op, (name, fields)) in enumerate(zip(ops, stated, strict=True)):
        where = f"operation {index}, linalg.{op.name} (line {op.line})"
        if fields is None and glue_without_cost and op.moves_only:
            compared -= 1
            continue
        if op.name != name or fields is None:
            wrong.append(f"{where}: no fuse.cost")
            continue
        counts = count(op)
        values = (
            counts.flops,
            counts.bytes_read,
            counts.bytes_written,
            counts.transcendentals,
        )
        for key, value in zip(KEYS, values, strict=True):
            if value is not None and fields.get(key) != shown(value):
                wrong.append(
                    f"{where}: {key}: expected {shown(value)},"
                    f" found {fields.get(key, 'nothing')}"
                )
    return compared, wrong


def main(arguments: list[str]) -> int:
    """Command line; returns the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("models", type=Path, nargs="+", metavar="MODEL")
    parser.add_argument("--fuse-opt")
    parser.add_argument("--annotated", type=Path)
    parser.add_argument("--glue-without-cost", action="store_true")
    parser.add_argument("--timeout", type=float, default=120.0, help="seconds")
    parser.add_argument("--most", type=int, default=20, help="lines to print")
    options = parser.parse_args(arguments)
    if (options.fuse_opt is None) == (options.annotated is None):
        parser.error("give either --fuse-opt or --annotated")
    status = 0
    for model in options.models:
        try:
            annotated = (
                options.annotated.read_text()
                if options.annotated
                else annotate(options.fuse_opt, model, options.timeout)
            )
            number, wrong = check(
                model.read_text(), annotated, options.glue_without_cost
            )
        except (CheckError, CountError, MlirTextError, OSError, ValueError) as error:
            print(f"error: {model}: {error}", file=sys.stderr)
            return 2
        for line in wrong[: options.most]:
            print(f"{model.name}: {line}")
        print(f"{model.name}: {number} operations compared, {len(wrong)} disagreements")
        if wrong or number == 0:
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
