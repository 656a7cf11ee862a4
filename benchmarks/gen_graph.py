#!/usr/bin/env python3
# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Write a linalg program of N operations on tensor<64x64xf32>.

Usage: gen_graph.py KIND N [-o FILE]

  chain         each operation is elementwise on the one before
  chain-matmul  the same, but every 8th is a matmul
  dag           each operation reads two earlier ones: the last one and one of
                those before it, chosen by a fixed rule
  inputs        one elementwise operation that reads N function arguments
  siblings      matmuls that all read the one input, each with weights of its own
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

TYPE = "tensor<64x64xf32>"
KINDS = ("chain", "chain-matmul", "dag", "inputs", "siblings")

#: One-operand bodies, taken in turn, that keep values bounded.
UNARY = (
    "%r = math.tanh %a : f32",
    "%r = arith.mulf %a, %half : f32",
    "%r = arith.negf %a : f32",
    "%r = arith.addf %a, %half : f32",
)


def _generic(result: str, operands: list[str], body: str) -> Iterator[str]:
    """The lines of an elementwise operation; `%a`, `%b`... are its inputs."""
    maps = ", ".join(["#map"] * (len(operands) + 1))
    types = ", ".join([TYPE] * len(operands))
    names = [f"%{chr(97 + index)}" for index in range(len(operands))]
    if len(operands) > 2:
        names = [f"%a{index}" for index in range(len(operands))]
    arguments = ", ".join(f"{one}: f32" for one in [*names, "%out"])
    yield (
        f"    {result} = linalg.generic {{indexing_maps = [{maps}],"
        ' iterator_types = ["parallel", "parallel"]}'
        f" ins({', '.join(operands)} : {types}) outs(%e : {TYPE}) {{"
    )
    yield f"    ^bb0({arguments}):"
    for line in body.splitlines():
        yield f"      {line}"
    yield "      linalg.yield %r : f32"
    yield f"    }} -> {TYPE}"


def _matmul(result: str, operand: str, weights: str = "%w") -> str:
    return (
        f"    {result} = linalg.matmul ins({operand}, {weights} : {TYPE}, {TYPE})"
        f" outs(%zero : {TYPE}) -> {TYPE}"
    )


def _sum(count: int) -> str:
    """A body that adds the inputs `%a0` ... `%a<count - 1>`."""
    lines = ["%s0 = arith.mulf %a0, %half : f32"]
    for index in range(1, count):
        name = "%r" if index == count - 1 else f"%s{index}"
        lines.append(f"{name} = arith.addf %s{index - 1}, %a{index} : f32")
    return "\n".join(lines)


def operations(kind: str, number: int) -> Iterator[str]:
    """The lines of the operations `%0` ... `%<number - 1>`."""
    for index in range(number):
        before = f"%{index - 1}" if index else "%x"
        if kind == "chain-matmul" and index % 8 == 7:
            yield _matmul(f"%{index}", before)
        elif kind == "siblings":
            yield _matmul(f"%{index}", "%x", f"%w{index}")
        elif kind == "dag" and index >= 2:
            span = min(index - 1, 1 + (index * 7) % 61)
            other = f"%{index - 1 - span}"
            body = "%s = arith.addf %a, %b : f32\n%r = math.tanh %s : f32"
            yield from _generic(f"%{index}", [before, other], body)
        else:
            yield from _generic(f"%{index}", [before], UNARY[index % len(UNARY)])


def program(kind: str, number: int) -> Iterator[str]:
    """The lines of the module; raises ValueError."""
    if kind not in KINDS or number < 1:
        raise ValueError(f"expected one of {', '.join(KINDS)} and a positive number")
    if kind == "inputs" and number < 3:
        raise ValueError("kind inputs needs at least 3 inputs")
    arguments = ["%x", "%w"]
    if kind == "inputs":
        arguments = [f"%x{index}" for index in range(number)]
    if kind == "siblings":
        arguments = ["%x", *(f"%w{index}" for index in range(number))]
    results = range(number - 1, number)
    if kind == "siblings":
        results = range(number)
    elif kind == "inputs":
        results = range(1)
    yield "#map = affine_map<(d0, d1) -> (d0, d1)>"
    yield "module {"
    listed = ", ".join(f"{one}: {TYPE}" for one in arguments)
    types = ", ".join([TYPE] * len(results))
    yield f"  func.func @main({listed}) -> ({types}) {{"
    yield "    %half = arith.constant 5.000000e-01 : f32"
    yield f"    %e = tensor.empty() : {TYPE}"
    if kind in ("chain-matmul", "siblings"):
        yield "    %nil = arith.constant 0.000000e+00 : f32"
        yield f"    %zero = linalg.fill ins(%nil : f32) outs(%e : {TYPE}) -> {TYPE}"
    if kind == "inputs":
        yield from _generic("%0", arguments, _sum(number))
    else:
        yield from operations(kind, number)
    yield f"    return {', '.join(f'%{index}' for index in results)} : {types}"
    yield "  }"
    yield "}"


def main(arguments: list[str]) -> int:
    """Command line; returns the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("number", type=int)
    parser.add_argument("-o", dest="output", default="-", help="default: stdout")
    options = parser.parse_args(arguments)
    try:
        text = "\n".join(program(options.kind, options.number)) + "\n"
    except ValueError as error:
        parser.error(str(error))
    if options.output == "-":
        sys.stdout.write(text)
    else:
        Path(options.output).write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
