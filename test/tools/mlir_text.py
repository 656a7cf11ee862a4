# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Just enough of MLIR's text format to find functions and their signatures.

It reads what mlir-opt, fuse-opt and torch-mlir print, knows nothing of MLIR's
libraries (so it can check them) and raises MlirTextError on what it does not
understand.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

OPENING = {"(": ")", "[": "]", "{": "}", "<": ">"}
CLOSING = set(OPENING.values())


class MlirTextError(ValueError):
    """The text is not in the subset of MLIR understood here."""


def mask(text: str) -> str:
    """`text` with comments and the insides of strings blanked, same length."""

    def blanked(match: re.Match[str]) -> str:
        found = match.group()
        if found.startswith('"'):
            return '"' + " " * (len(found) - 2) + '"'
        return " " * len(found)

    return re.sub(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*', blanked, text)


def is_bracket(masked: str, position: int) -> bool:
    """Whether the character is a bracket: not part of `->`, `>=` or `<=`."""
    char = masked[position]
    if char == ">":
        before = masked[position - 1 : position]
        return before != "-" and masked[position + 1 : position + 2] != "="
    if char == "<":
        return masked[position + 1 : position + 2] != "="
    return char in OPENING or char in CLOSING


def matching(masked: str, start: int) -> int:
    """Position of the bracket closing the one at `start` of a masked text."""
    depth = 0
    for match in re.compile(r"[][(){}<>]").finditer(masked, start):
        position = match.start()
        if not is_bracket(masked, position):
            continue
        depth += 1 if match.group() in OPENING else -1
        if depth == 0:
            return position
    line = masked.count("\n", 0, start) + 1
    raise MlirTextError(f"line {line}: bracket {masked[start]!r} is never closed")


def split_top(text: str, separator: str = ",") -> list[str]:
    """Split at separators outside brackets and strings; strips the parts."""
    masked = mask(text)
    parts: list[str] = []
    depth = begin = 0
    for position, char in enumerate(masked):
        if char == separator and depth == 0:
            parts.append(text[begin:position].strip())
            begin = position + 1
        elif (char in OPENING or char in CLOSING) and is_bracket(masked, position):
            depth += 1 if char in OPENING else -1
    last = text[begin:].strip()
    return parts + [last] if last or parts else []


def type_end(masked: str, start: int) -> int:
    """Where the type at `start` ends: the first blank outside brackets."""
    depth = 0
    for position in range(start, len(masked)):
        char = masked[position]
        if depth == 0 and (char.isspace() or char == ","):
            return position
        if (char in OPENING or char in CLOSING) and is_bracket(masked, position):
            depth += 1 if char in OPENING else -1
            if depth < 0:
                return position
    return len(masked)


@dataclass
class Function:
    """A `func.func`; positions are offsets into the text it was read from."""

    name: str
    start: int
    name_start: int
    visibility: str
    argument_names: list[str]
    argument_types: list[str]
    result_types: list[str]
    body_start: int | None
    end: int

    @property
    def is_declaration(self) -> bool:
        """True without a body."""
        return self.body_start is None


HEAD = re.compile(
    r"\bfunc\.func\s+(?:(public|private|nested)\s+)?@(\"[^\"]*\"|[\w.$-]+)\s*\("
)


def type_aliases(text: str) -> dict[str, str]:
    """The module's type aliases, `!name` to its type."""
    masked = mask(text)
    return {
        match.group(1): text[match.end() : type_end(masked, match.end())]
        for match in re.finditer(r"^(![\w.$-]+)\s*=\s*", masked, re.MULTILINE)
    }


def _without_attributes(text: str) -> str:
    """A type, from `type {attributes} loc(...)`."""
    return text[: type_end(mask(text), 0)]


def _arguments(text: str) -> tuple[list[str], list[str]]:
    names: list[str] = []
    types: list[str] = []
    for part in split_top(text):
        name, colon, rest = part.partition(":")
        named = bool(colon) and name.strip().startswith("%")
        names.append(name.strip() if named else "")
        types.append(_without_attributes(rest.strip() if named else part))
    return names, types


def functions(text: str) -> list[Function]:
    """All `func.func` operations in program order; raises MlirTextError."""
    masked = mask(text)
    aliases = type_aliases(text)
    found: list[Function] = []
    for match in HEAD.finditer(masked):
        paren = match.end() - 1
        close = matching(masked, paren)
        names, types = _arguments(text[paren + 1 : close])
        position = close + 1
        results: list[str] = []
        arrow = re.compile(r"\s*->\s*").match(masked, position)
        if arrow:
            position = arrow.end()
            if masked[position] == "(":
                end = matching(masked, position)
                results = [
                    _without_attributes(part)
                    for part in split_top(text[position + 1 : end])
                ]
                position = end + 1
            else:
                end = type_end(masked, position)
                results = [text[position:end]]
                position = end
        attributes = re.compile(r"\s*attributes\s*\{").match(masked, position)
        if attributes:
            position = matching(masked, attributes.end() - 1) + 1
        body = re.compile(r"\s*\{").match(masked, position)
        body_start = body.end() - 1 if body else None
        end = position if body_start is None else matching(masked, body_start) + 1
        found.append(
            Function(
                name=text[match.start(2) : match.end(2)].strip('"'),
                start=match.start(),
                name_start=match.start(2) - 1,
                visibility=match.group(1) or "public",
                argument_names=names,
                argument_types=[aliases.get(one, one) for one in types],
                result_types=[aliases.get(one, one) for one in results],
                body_start=body_start,
                end=end,
            )
        )
    return found


@dataclass
class ShapedType:
    """`tensor<2x?xf32>`: kind "tensor" or "memref"; None is a dynamic extent."""

    kind: str
    shape: list[int | None]
    element: str
    rest: str  # layout, memory space or encoding, without its leading comma

    @property
    def elements(self) -> int | None:
        """The number of elements, None if an extent is dynamic."""
        product = 1
        for extent in self.shape:
            if extent is None:
                return None
            product *= extent
        return product


def parse_shaped(text: str) -> ShapedType | None:
    """A ranked tensor or memref type; None for any other type."""
    match = re.fullmatch(r"(tensor|memref|vector)<(.*)>", text.strip(), re.DOTALL)
    if not match:
        return None
    parts = split_top(match.group(2))
    dims = re.match(
        r"((?:(?:\d+|\?)x)*)(?!\*)(.+)", parts[0] if parts else "", re.DOTALL
    )
    if not dims or parts[0].startswith("*"):
        return None
    extents = dims.group(1).split("x")[:-1]
    return ShapedType(
        kind=match.group(1),
        shape=[None if one == "?" else int(one) for one in extents],
        element=dims.group(2),
        rest=", ".join(parts[1:]),
    )


def strip_dialect(text: str, dialect: str) -> str:
    """`text` without the discardable attributes of a dialect.

    Removes `dialect.name` and `dialect.name = value` entries of attribute
    dictionaries and aliases of the dialect's attributes. Operations and types
    of the dialect stay.
    """
    masked = mask(text)
    cuts: list[tuple[int, int]] = []
    alias = re.compile(rf"^#[\w.$-]+\s*=\s*#{dialect}\.\w+(<)?", re.MULTILINE)
    for match in alias.finditer(masked):
        end = match.end()
        cuts.append((match.start(), matching(masked, end - 1) + 1 if match[1] else end))
    entry = re.compile(rf"([{{,])(\s*){dialect}\.\w+(\s*=)?")
    position = 0
    while match := entry.search(masked, position):
        end = _entry_end(masked, match.end())
        first = match.group(1) == "{"
        # Of a run of entries each takes along the comma before it, but the
        # first of a dictionary takes the comma behind it.
        start = match.start() + 1 if first else match.start()
        position = end
        if first and masked[end] == ",":
            end += 1
            masked = f"{masked[: end - 1]}{{{masked[end:]}"
            position = end - 1
        cuts.append((start, end))
    kept, begin = [], 0
    for start, end in sorted(cuts):
        kept.append(text[begin:start])
        begin = end
    return "".join(kept) + text[begin:]


def _entry_end(masked: str, start: int) -> int:
    """Where a dictionary entry ends: its comma or the closing brace."""
    depth = 0
    for position in range(start, len(masked)):
        char = masked[position]
        if depth == 0 and char in ",}":
            return position
        if (char in OPENING or char in CLOSING) and is_bracket(masked, position):
            depth += 1 if char in OPENING else -1
    raise MlirTextError("an attribute dictionary is never closed")
