#!/usr/bin/env python3
# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Count the FLOPs and bytes of every linalg operation from a module's text.

Usage: count_flops_bytes.py MODEL.mlir

An own count that shares nothing with the compiler, to check its facts with.
Prints one tab-separated line for each operation in program order:

    index opname flops bytes_read bytes_written transcendentals

FLOPs are the arithmetic operations of the body times the iteration space.
Bytes are those of the elements that the indexing maps really touch, found by
enumerating the values of the maps. Each distinct value is read once; an
operand whose block argument is unused is not read, nor is a scalar; an init is
read only if it carries data (it is no tensor.empty, fill or splat constant).
A value read through several maps counts with the largest of them. A count
that depends on a dynamic extent is printed as `?`.

Exit status: 0, or 2 with a message (an operation that is not understood).
"""

from __future__ import annotations

import argparse
import itertools
import math
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from linalg_text import CountError, Extent, LinalgOp, Parser, loops_in
from mlir_text import MlirTextError, parse_shaped

#: The largest number of index tuples to enumerate for one operand.
MOST_TUPLES = 5_000_000

#: MLIR's affine operators in Python's spelling.
OPERATORS = {"floordiv": "//", "mod": "%"}


@dataclass
class Counts:
    """The counts of one operation; None where an extent is dynamic."""

    flops: Extent
    bytes_read: Extent
    bytes_written: Extent
    transcendentals: Extent


def times(*factors: Extent) -> Extent:
    """The product; zero if a factor is, else None if one is not known."""
    if 0 in factors:
        return 0
    if None in factors:
        return None
    return math.prod(one for one in factors if one is not None)


def plus(terms: list[Extent]) -> Extent:
    """The sum, None if a term is not known."""
    if None in terms:
        return None
    return sum(one for one in terms if one is not None)


def element_bytes(element: str) -> int:
    """Bytes of one element in memory; raises CountError."""
    if element == "index":
        return 8
    match = re.fullmatch(r"(?:[su]?i|b?f|tf)(\d+)(?:E\w+)?", element)
    if match:
        return max(1, math.ceil(int(match.group(1)) / 8))
    match = re.fullmatch(r"complex<(.*)>", element)
    if match:
        return 2 * element_bytes(match.group(1))
    raise CountError(f"element type '{element}' has no known size")


def to_python(expression: str) -> str:
    """An affine expression in Python's spelling; raises CountError."""
    tokens = re.findall(r"\d+|\w+|[()+*-]", expression)
    if "ceildiv" in tokens:
        raise CountError(f"ceildiv in the affine expression '{expression}'")
    return " ".join(OPERATORS.get(one, one) for one in tokens)


def touched(results: list[str], extents: dict[str, Extent]) -> Extent:
    """How many distinct elements a map with these results reaches."""
    groups: list[tuple[set[str], list[str]]] = []
    for result in results:
        loops, members = set(loops_in(result)), [result]
        rest = []
        for other_loops, other_members in groups:
            if loops & other_loops:
                loops |= other_loops
                members = other_members + members
            else:
                rest.append((other_loops, other_members))
        groups = [*rest, (loops, members)]
    return times(*(_distinct(members, loops, extents) for loops, members in groups))


def _distinct(
    members: list[str], loops: set[str], extents: dict[str, Extent]
) -> Extent:
    """Distinct tuples of the expressions as their loops run."""
    order = sorted(loops)
    sizes = [extents[one] for one in order]
    if any(one is None for one in sizes):
        plain = len(members) == 1 and members[0] in extents
        return extents[members[0]] if plain else None
    if all(one in extents for one in members):
        return math.prod(extents[one] or 0 for one in dict.fromkeys(members))
    if math.prod(one or 0 for one in sizes) > MOST_TUPLES:
        raise CountError(f"too many index tuples to enumerate: {', '.join(members)}")
    code = [compile(to_python(one), "<affine>", "eval") for one in members]
    seen = set()
    for point in itertools.product(*(range(one or 0) for one in sizes)):
        names = dict(zip(order, point, strict=True))
        seen.add(tuple(eval(one, {"__builtins__": {}}, names) for one in code))
    return len(seen)


def _operand_bytes(op: LinalgOp, number: int, kind: str) -> Extent:
    shaped = parse_shaped(kind)
    if shaped is None:
        return 0  # a scalar, passed in a register
    return times(touched(op.maps[number], op.extents), element_bytes(shaped.element))


def count(op: LinalgOp) -> Counts:
    """The counts of one operation."""
    iterations = times(*op.extents.values()) if op.extents else 1
    read: dict[str, Extent] = {}
    for number, (name, kind) in enumerate([*op.ins, *op.outs]):
        is_init = number >= len(op.ins)
        if not op.used[number] or (is_init and name in op.data_free):
            continue
        found = _operand_bytes(op, number, kind)
        before = read.get(name, 0)
        read[name] = None if None in (found, before) else max(found or 0, before or 0)
    written = [
        _operand_bytes(op, len(op.ins) + number, kind)
        for number, (_, kind) in enumerate(op.outs)
    ]
    return Counts(
        flops=times(op.flops_each, iterations),
        bytes_read=plus(list(read.values())),
        bytes_written=plus(written),
        transcendentals=times(op.transcendentals_each, iterations),
    )


def longest_reduction(text: str) -> int:
    """Elements of the longest reduction of a module, 0 without (or dynamic).

    Operations that are not understood are ignored; raises MlirTextError.
    """
    longest = 0
    try:
        ops = Parser(text).operations()
    except CountError:
        return 0
    for op in ops:
        if op.reductions:
            longest = max(
                longest, times(*(op.extents[one] for one in op.reductions)) or 0
            )
    return longest


def shown(value: Extent) -> str:
    """A count as text, `?` if it is not known."""
    return "?" if value is None else str(value)


def rows(text: str) -> list[tuple[str, Counts]]:
    """(operation name, counts) in program order; raises CountError."""
    return [(op.name, count(op)) for op in Parser(text).operations()]


def main(arguments: list[str]) -> int:
    """Command line; returns the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", type=Path)
    options = parser.parse_args(arguments)
    try:
        found = rows(options.model.read_text())
    except (CountError, MlirTextError, OSError, UnicodeDecodeError) as error:
        print(f"error: {options.model}: {error}", file=sys.stderr)
        return 2
    for index, (name, counts) in enumerate(found):
        values = (
            counts.flops,
            counts.bytes_read,
            counts.bytes_written,
            counts.transcendentals,
        )
        print(index, f"linalg.{name}", *map(shown, values), sep="\t")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
