# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The linalg operations of a module's text: operands, maps, loops and bodies.

Reads linalg.generic and the named operations listed here, in the form that
mlir-opt, fuse-opt and torch-mlir print, and shares nothing with the compiler.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from mlir_text import (
    functions,
    mask,
    matching,
    parse_shaped,
    split_top,
    type_aliases,
    type_end,
)

#: Operations of the linalg dialect that are parts of another one.
PARTS = {"yield", "index"}

#: Body operations that cost 2, or nothing; all other arith and math ones cost 1.
DOUBLE = {"math.fma"}
FREE = re.compile(
    r"arith\.(constant|ext\w+|trunc\w+|\w+to\w+|bitcast|index_cast\w*|"
    r"scaling_\w+|convertf)|linalg\.(yield|index)|tensor\.\w+|memref\.\w+"
)

#: math operations that are not transcendental.
PLAIN_MATH = {
    *("absf", "absi", "ceil", "floor", "round", "roundeven", "trunc"),
    *("copysign", "fma", "ctlz", "cttz", "ctpop", "clampf"),
    *("isfinite", "isinf", "isnan", "isnormal"),
}

#: Named elementwise operations: (FLOPs, transcendentals) for each element.
ELEMENTWISE = {
    **dict.fromkeys(("copy",), (0, 0)),
    **dict.fromkeys(("add", "sub", "mul", "div", "div_unsigned", "max", "min"), (1, 0)),
    **dict.fromkeys(("abs", "negf", "ceil", "floor", "round", "square"), (1, 0)),
    **dict.fromkeys(("reciprocal", "select"), (1, 0)),
    **dict.fromkeys(("exp", "log", "sqrt", "rsqrt", "tanh", "erf", "powf"), (1, 1)),
}

Extent = int | None


class CountError(ValueError):
    """An operation is not understood; the message names it and its line."""


@dataclass
class LinalgOp:
    """One operation: operands, maps (one for each operand) and body facts."""

    name: str
    line: int
    start: int
    end: int
    ins: list[tuple[str, str]]  # SSA name, type
    outs: list[tuple[str, str]]
    maps: list[list[str]] = field(default_factory=list)  # results of each map
    used: list[bool] = field(default_factory=list)  # is the block argument used
    moves_only: bool = False  # yields an operand (or nothing new) unchanged
    flops_each: int = 0
    transcendentals_each: int = 0
    extents: dict[str, Extent] = field(default_factory=dict)  # of the loops
    reductions: set[str] = field(default_factory=set)
    data_free: set[str] = field(default_factory=set)  # inits that hold no data


#: Operators of affine expressions that look like names.
WORDS = {"floordiv", "ceildiv", "mod"}


def loops_in(expression: str) -> list[str]:
    """The loop dimensions in an expression, each once."""
    names = re.findall(r"\b[a-z]\w*", expression)
    return [one for one in dict.fromkeys(names) if one not in WORDS]


def map_aliases(masked: str) -> dict[str, str]:
    """`#map` to its text, `affine_map<...>`."""
    pattern = re.compile(r"^(#[\w.$-]+)\s*=\s*(affine_map<)", re.MULTILINE)
    return {
        match.group(1): masked[match.start(2) : matching(masked, match.end() - 1) + 1]
        for match in pattern.finditer(masked)
    }


def parse_map(text: str, aliases: dict[str, str]) -> tuple[list[str], list[str]]:
    """(loops, results) of an affine map or alias of one; raises CountError."""
    text = aliases.get(text.strip(), text.strip())
    match = re.fullmatch(r"affine_map<\(([^)]*)\)\s*->\s*\((.*)\)>", text, re.DOTALL)
    if not match:
        raise CountError(f"not an affine map: '{text}'")
    return split_top(match.group(1)), split_top(match.group(2))


@dataclass
class Named:
    """Maps of a named operation and the cost of one iteration."""

    maps: list[list[str]]
    used: list[bool]
    flops: int
    transcendentals: int = 0


def _window(
    letters: str, strides: list[int], dilations: list[int]
) -> tuple[str, str, list[str], list[str]]:
    """(input letters, filter letters, spatial letters, map of the input)."""
    source, _, kernel = letters.partition("_")
    spatial = [one for one in source if one in "dhw"]
    step = dict(zip(spatial, strides or [1] * len(spatial), strict=True))
    dilate = dict(zip(spatial, dilations or [1] * len(spatial), strict=True))
    reads = [
        f"o{one} * {step[one]} + k{one} * {dilate[one]}" if one in spatial else one
        for one in source
    ]
    return source, kernel, spatial, reads


def _convolution(name: str, strides: list[int], dilations: list[int]) -> Named | None:
    match = re.fullmatch(r"(depthwise_conv|conv)_(\d)d(?:_([a-z]+_[a-z]+))?", name)
    if not match:
        return None
    kind, rank = match.group(1), int(match.group(2))
    letters = match.group(3) or "dhw"[3 - rank :] + "_" + "dhw"[3 - rank :]
    source, kernel, spatial, reads = _window(letters, strides, dilations)
    weights = [f"k{one}" if one in spatial else one for one in kernel]
    extra = [one for one in kernel if one not in source]  # f of conv, m of depthwise
    if kind == "depthwise_conv":
        out = [f"o{one}" if one in spatial else one for one in source] + extra
    elif "c" in source:
        out = [f"o{one}" if one in spatial else one.replace("c", "f") for one in source]
    else:
        out = [f"o{one}" for one in source]
    return Named([reads, weights, out], [True, True, True], flops=2)


def _pooling(name: str, strides: list[int], dilations: list[int]) -> Named | None:
    match = re.fullmatch(r"pooling_([a-z]+)_(sum|max|min)(?:_unsigned)?", name)
    if not match:
        return None
    source, _, spatial, reads = _window(match.group(1), strides, dilations)
    window = [f"k{one}" for one in spatial]
    out = [f"o{one}" if one in spatial else one for one in source]
    return Named([reads, window, out], [True, False, True], flops=1)


CONTRACTIONS = {
    "matmul": [["m", "k"], ["k", "n"], ["m", "n"]],
    "batch_matmul": [["b", "m", "k"], ["b", "k", "n"], ["b", "m", "n"]],
    "batch_reduce_matmul": [["b", "m", "k"], ["b", "k", "n"], ["m", "n"]],
    "matvec": [["m", "n"], ["n"], ["m"]],
    "vecmat": [["m"], ["m", "n"], ["n"]],
    "batch_matvec": [["b", "m", "k"], ["b", "k"], ["b", "m"]],
    "batch_vecmat": [["b", "k"], ["b", "k", "n"], ["b", "n"]],
    "dot": [["m"], ["m"], []],
}


def _data_movement(op: LinalgOp, text: str, every: list[str]) -> Named:
    """A transpose or broadcast to the loops `every`; raises CountError."""
    key = "permutation" if op.name == "transpose" else "dimensions"
    match = re.search(rf"\b{key}\s*=\s*\[([^\]]*)\]", text)
    if not match:
        raise CountError(f"linalg.{op.name} without {key}")
    order = [int(one) for one in split_top(match.group(1))]
    if op.name == "broadcast":
        reads = [one for index, one in enumerate(every) if index not in order]
    else:
        reads = [every[order.index(one)] for one in range(len(every))]
    return Named([reads, every], [True, False], 0)


def named(op: LinalgOp, text: str, aliases: dict[str, str]) -> Named | None:
    """The description of a named operation, None if it has none."""
    every = [f"d{one}" for one in range(_rank(op.outs[0][1]))]
    if op.name == "fill":
        return Named([[], every], [False, False], 0)
    if op.name in ("transpose", "broadcast"):
        return _data_movement(op, text, every)
    contraction = CONTRACTIONS.get(op.name)
    maps = re.search(r"\bindexing_maps\s*=\s*\[", mask(text))
    if contraction or op.name == "contract":
        if maps:
            inside = text[maps.end() : matching(mask(text), maps.end() - 1)]
            contraction = [parse_map(one, aliases)[1] for one in split_top(inside)]
        return Named(contraction or [], [True, True, True], 2)
    if op.name in ELEMENTWISE and not maps:
        flops, transcendentals = ELEMENTWISE[op.name]
        reads = [every for _ in op.ins]
        used = [True] * len(op.ins) + [False]
        return Named([*reads, every], used, flops, transcendentals)
    steps = _dense(text, "strides"), _dense(text, "dilations")
    return _convolution(op.name, *steps) or _pooling(op.name, *steps)


def _dense(text: str, key: str) -> list[int]:
    """A `key = dense<...>` attribute's integers; a splat is repeated."""
    match = re.search(
        rf"\b{key}\s*=\s*dense<([^>]*)>\s*:\s*(?:vector|tensor)<(\d+)xi64>", text
    )
    if not match:
        return []
    values = [int(one) for one in re.findall(r"-?\d+", match.group(1))]
    return values * int(match.group(2)) if len(values) == 1 else values


def _rank(text: str) -> int:
    shaped = parse_shaped(text)
    if shaped is None:
        raise CountError(f"expected a ranked tensor or memref, found '{text}'")
    return len(shaped.shape)


def _operands(text: str, aliases: dict[str, str]) -> list[tuple[str, str]]:
    """`%a, %b : type, type` as (name, type) pairs."""
    names, _, types = text.partition(":")
    found = split_top(types)
    return [
        (name, aliases.get(one, one))
        for name, one in zip(split_top(names), found, strict=True)
    ]


def _clause(masked: str, text: str, word: str, start: int, stop: int) -> str:
    """The inside of `word(...)` between two positions, "" without it."""
    match = re.compile(rf"\b{word}\s*\(").search(masked, start, stop)
    if not match:
        return ""
    return text[match.end() : matching(masked, match.end() - 1)]


def _body_facts(op: LinalgOp, body: str) -> None:
    """Count the body's operations and see which block arguments it uses."""
    head = re.search(r"\^\w+\s*\(", body)
    if not head:
        raise CountError(f"line {op.line}: linalg.{op.name} without block arguments")
    close = matching(body, head.end() - 1)
    names = re.findall(r"%[\w.$-]+", body[head.end() : close])
    code = body[close:]
    op.used = [
        re.search(rf"{re.escape(one)}(?![\w.$-])", code) is not None for one in names
    ]
    operations = re.findall(r"=\s*\"?([a-z_]\w*\.\w+)", code)
    op.moves_only = not operations
    for one in operations:
        if one in DOUBLE:
            op.flops_each += 2
        elif FREE.fullmatch(one):
            continue
        elif one.startswith(("arith.", "math.")):
            op.flops_each += 1
        else:
            raise CountError(f"line {op.line}: {one} in a body has no known cost")
        if one.startswith("math.") and one.removeprefix("math.") not in PLAIN_MATH:
            op.transcendentals_each += 1


def _loops(op: LinalgOp) -> None:
    """Find the extent of each loop in a shape that it indexes alone."""
    names = dict.fromkeys(
        loop for results in op.maps for result in results for loop in loops_in(result)
    )
    op.extents = {**dict.fromkeys(names), **op.extents}
    known = set()
    for (_, kind), results in zip([*op.ins, *op.outs], op.maps, strict=True):
        shaped = parse_shaped(kind)
        shape = shaped.shape if shaped else []
        for result, extent in zip(results, shape, strict=True):
            if result in op.extents and (extent is not None or result not in known):
                known.add(result)
                op.extents[result] = extent
    missing = [one for one in op.extents if one not in known]
    if missing:
        raise CountError(
            f"line {op.line}: linalg.{op.name}: no operand gives the extent of"
            f" {', '.join(missing)}"
        )


class Parser:
    """Finds the linalg operations of a module and what defines their inits."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.masked = mask(text)
        self.maps = map_aliases(self.masked)
        self.types = type_aliases(text)

    def operations(self) -> list[LinalgOp]:
        """All operations in program order; raises CountError."""
        spans = [
            (one.body_start, one.end)
            for one in functions(self.text)
            if one.body_start is not None
        ]
        ops: list[LinalgOp] = []
        for start, end in spans:
            ops += self._function(start, end)
        return ops

    def _function(self, start: int, end: int) -> list[LinalgOp]:
        ops: list[LinalgOp] = []
        definitions: dict[str, bool] = {}  # SSA name: does it hold no data
        token = re.compile(
            r"(?:(%[\w$-]+)(?::\d+)?\s*=\s*)?\b([a-z_]\w*)\.([a-z_][\w.]*)"
        )
        operands = re.compile(r"\s*(?:[{(\[]|ins|outs|indexing_maps|dimensions)")
        position = start
        while match := token.search(self.masked, position, end):
            position = match.end()
            dialect, name = match.group(2), match.group(3)
            is_op = dialect == "linalg" and name not in PARTS
            if match.group(1):
                definitions[match.group(1)] = self._holds_no_data(
                    f"{dialect}.{name}", match.end()
                )
            if is_op and operands.match(self.masked, match.end()):
                op = self._operation(name, match.start(2), end)
                op.data_free = {
                    one for one, _ in op.outs if definitions.get(one, False)
                }
                ops.append(op)
                position = op.end
        return ops

    def _holds_no_data(self, op: str, position: int) -> bool:
        """Whether a result of this operation can be made again for nothing."""
        if op == "arith.constant":
            rest = self.text[position : position + 200]
            return re.match(r"\s*(\{[^}]*\}\s*)?dense<(?!\[|\"|>)", rest) is not None
        return op in ("tensor.empty", "linalg.fill", "bufferization.alloc_tensor")

    def _operation(self, name: str, start: int, limit: int) -> LinalgOp:
        line = self.text.count("\n", 0, start) + 1
        outs = re.compile(r"\bouts\s*\(").search(self.masked, start, limit)
        if not outs:
            raise CountError(f"line {line}: linalg.{name} without outs(...)")
        end = matching(self.masked, outs.end() - 1) + 1
        op = LinalgOp(
            name=name,
            line=line,
            start=start,
            end=end,
            ins=_operands(
                _clause(self.masked, self.text, "ins", start, outs.start()), self.types
            ),
            outs=_operands(self.text[outs.end() : end - 1], self.types),
        )
        region = self._tail(op)
        try:
            if name == "generic":
                self._generic(op, start, outs.start(), region)
            else:
                self._named(op)
            _loops(op)
        except (CountError, ValueError) as error:
            message = str(error)
            prefix = "" if message.startswith("line ") else f"line {line}: "
            raise CountError(f"{prefix}{message}") from None
        return op

    def _tail(self, op: LinalgOp) -> tuple[int, int] | None:
        """Move `op.end` past attributes, region and type; returns the region."""
        pattern = re.compile(
            r"\s*(?:attrs\s*=\s*(?P<attrs>\{)|(?:permutation|dimensions)\s*=\s*"
            r"(?P<list>\[)|(?P<brace>\{)|->\s*(?P<type>\S))"
        )
        region = None
        while match := pattern.match(self.masked, op.end):
            if match.group("type"):
                start = match.start("type")
                many = self.masked[start] == "("
                op.end = (
                    matching(self.masked, start) + 1
                    if many
                    else type_end(self.masked, start)
                )
                break
            opening = match.end() - 1
            op.end = matching(self.masked, opening) + 1
            if match.group("brace"):
                inside = self.masked[opening + 1 : op.end - 1]
                if re.match(r"\s*\^\w+", inside):
                    region = (opening + 1, op.end - 1)
        return region

    def _generic(
        self, op: LinalgOp, start: int, stop: int, region: tuple[int, int] | None
    ) -> None:
        maps = re.compile(r"\bindexing_maps\s*=\s*\[").search(self.masked, start, stop)
        kinds = re.compile(r"\biterator_types\s*=\s*\[").search(
            self.masked, start, stop
        )
        if not maps or not kinds or region is None:
            raise CountError("linalg.generic without maps, iterator types or region")
        inside = self.text[maps.end() : matching(self.masked, maps.end() - 1)]
        parsed = [parse_map(one, self.maps) for one in split_top(inside)]
        op.maps = [results for _, results in parsed]
        loops = parsed[0][0]
        op.extents = dict.fromkeys(loops)
        types = split_top(
            self.text[kinds.end() : matching(self.masked, kinds.end() - 1)]
        )
        op.reductions = {
            loop for loop, kind in zip(loops, types, strict=True) if "reduction" in kind
        }
        _body_facts(op, self.masked[region[0] : region[1]])

    def _named(self, op: LinalgOp) -> None:
        found = named(op, self.text[op.start : op.end], self.maps)
        if found is None or len(found.maps) != len(op.ins) + len(op.outs):
            raise CountError(f"linalg.{op.name} is not understood")
        op.maps, op.used = found.maps, found.used
        op.moves_only = op.name in ("fill", "copy", "transpose", "broadcast")
        op.flops_each, op.transcendentals_each = found.flops, found.transcendentals
        every = {loop for one in op.maps for result in one for loop in loops_in(result)}
        op.reductions = every - {loop for one in op.maps[-1] for loop in loops_in(one)}
