#!/usr/bin/env python3
"""Compare the copies that fuse-annotate reports with MLIR's One-Shot analysis.

check_copies.py FILE... [--own-inits] [--function=REGEX]

Both tools print the module; the operations are compared in order. An operand counts where One-Shot marks it "false" and
where `fuse.dep` has a `copy` entry. With --own-inits each use of a `linalg.fill` or `tensor.empty` first gets one
of its own (exports share them, which makes One-Shot report copies that are none), and both must report nothing.
"""

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

LLVM_BIN = os.environ.get("FUSE_LLVM_BIN", "/usr/lib/llvm-22/bin")
ONE_SHOT = "--one-shot-bufferize=test-analysis-only allow-unknown-ops"


def run(command: list[str], text: str) -> str:
    """Standard output of `command` on `text`; exits with its error otherwise."""
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} failed:\n{done.stderr[:2000]}")
    return done.stdout


def operations(text: str) -> list[tuple[str, str, str]]:
    """(function, operation name, line) of each operation that can carry a mark, in order."""
    found = []
    function = ""
    for line in text.splitlines():
        if match := re.search(r"func\.func (?:private )?@(\w+)", line):
            function = match.group(1)
        if match := re.match(r"\s*(?:%[\w:]+(?:, %\w+)* = )?((?:linalg|tensor)\.\w+)", line):
            found.append((function, match.group(1), line))
    return found


def one_shot_copies(line: str) -> set[int]:
    """Operand numbers that One-Shot analysis marks as not in place."""
    match = re.search(r"__inplace_operands_attr__ = \[(.*?)\]", line)
    marks = re.findall(r'"(\w+)"', match.group(1)) if match else []
    return {i for i, mark in enumerate(marks) if mark == "false"}


def fuse_copies(line: str) -> set[int]:
    """Operand numbers that fuse-annotate reports a copy for."""
    return {int(n) for n in re.findall(r"#fuse\.dep<copy, operand = (\d+)", line)}


def with_own_inits(text: str) -> str:
    """Give every use of a fill or an empty tensor in an `outs` a definition of its own."""
    definitions: dict[str, str] = {}
    lines = []
    count = 0
    for line in text.splitlines():
        if match := re.match(r"\s*(%\w+) = (tensor\.empty\(\).*|linalg\.fill .*)$", line):
            definitions[match.group(1)] = match.group(2)
            continue
        copies: list[str] = []

        def clone(name: str, copies: list[str] = copies) -> str:
            nonlocal count
            body = definitions[name]
            if inner := re.search(r"outs\((%\w+)", body):
                body = body.replace(f"outs({inner.group(1)} ", f"outs({clone(inner.group(1), copies)} ")
            count += 1
            copies.append(f"    %own{count} = {body}")
            return f"%own{count}"

        def replace(match: re.Match[str]) -> str:
            return clone(match.group(0)) if match.group(0) in definitions else match.group(0)

        line = re.sub(r"%[\w]+(?![\w#:])", replace, line)
        lines += [*copies, line]
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--own-inits", action="store_true")
    parser.add_argument("--function", default=".*", help="compare only functions that match")
    parser.add_argument("--fuse-opt", default="fuse-opt")
    args = parser.parse_args()
    failures = 0
    for path in args.files:
        text = run([f"{LLVM_BIN}/mlir-opt"], path.read_text())
        if args.own_inits:
            text = with_own_inits(text)
        expected = operations(run([f"{LLVM_BIN}/mlir-opt", ONE_SHOT], text))
        actual = operations(run([args.fuse_opt, "--fuse-annotate"], text))
        if [op[:2] for op in expected] != [op[:2] for op in actual]:
            sys.exit(f"{path}: the two tools print different operations")
        copies = 0
        for (function, name, want), (_, _, got) in zip(expected, actual, strict=True):
            if not re.fullmatch(args.function, function):
                continue
            copies += len(fuse_copies(got))
            if one_shot_copies(want) != fuse_copies(got) or (args.own_inits and fuse_copies(got)):
                failures += 1
                print(f"{path}: @{function} {name}: One-Shot {one_shot_copies(want)}, fuse {fuse_copies(got)}")
        print(f"{path.name}: {copies} copies, {'equal' if not failures else 'DIFFERENT'}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
