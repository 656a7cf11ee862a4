# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Write generated conv-BN programs (conv_bn_numpy.Program) as MLIR."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable

import numpy as np
from conv_bn_convolution import WIDER, convolution, convolve
from conv_bn_numpy import ACTIVATIONS, TAILS, Array, Norm, Program
from conv_bn_text import Body, Operand, Value, literal, loops

#: Axes of the channels along the value that is normalised.
Axes = tuple[int, ...]


def result_element(program: Program) -> str:
    """The element type of the results."""
    return WIDER[program.element] if program.marked("mixed precision", "cast before") else program.element


def _relayout(body: Body, y: Value, axes: Axes) -> tuple[Value, Axes]:
    """The change of layout, and the channels after it."""
    program = body.program
    shape = y.shape or ()
    if program.layout == "shuffle":
        dim = axes[0]
        order = [*range(dim), dim + 1, dim, *range(dim + 2, len(shape))]
        init = body.empty(Value("", tuple(shape[one] for one in order), y.element))
        text = f"linalg.transpose ins({y.name} : {y.type}) outs({init.name} : {init.type}) permutation = {order}"
        return body.collapse(body.value(text, init.shape, y.element), dim, 2), (dim,)
    if program.layout == "split":
        (dim,) = axes
        groups = [[one] for one in range(dim)] + [[dim, dim + 1]] + [[one + 1] for one in range(dim + 1, len(shape))]
        new = (*shape[:dim], *program.split, *shape[dim + 1 :])
        text = f"tensor.expand_shape {y.name} {groups} output_shape {list(new)} : {y.type} into {{T}}"
        return body.value(text, new, y.element), (dim, dim + 1)
    if program.layout == "flat":
        first, count = program.result_axes().index(program.kind.positions[0]), len(program.kind.positions)
        return body.collapse(y, first, count), tuple(dim - count + 1 if dim > first else dim for dim in axes)
    permutation = program.permutation(len(shape))
    dynamic = frozenset(permutation.index(dim) for dim in y.dynamic)
    like = Value("", tuple(shape[dim] for dim in permutation), y.element, dynamic)
    moved = tuple(permutation.index(dim) for dim in axes)
    if program.layout == "read":
        return like, moved
    init = body.empty(like)
    if program.number % 2:
        text = f"linalg.transpose ins({y.name} : {y.type}) outs({init.name} : {init.type}) permutation = {permutation}"
        return body.value(text, like.shape, like.element, dynamic), moved
    read = [f"d{permutation.index(dim)}" for dim in range(len(shape))]
    lines = [f"%z = arith.constant -0.0 : {y.element}", f"%r = arith.addf %b0, %z : {y.element}"]
    if program.number % 4:
        return body.generic([(y, read)], (init, loops(len(shape))), lines), moved
    return body.copy(y, read, init), moved


def _names(expression: str) -> set[str]:
    """The parameters that an expression reads."""
    return set(re.findall(r"\b[gbmv]\b", expression))


def _normalise(body: Body, norm: Norm, y: Value, axes: Axes, first: bool = True) -> tuple[list[Value], Axes]:
    """The values after each step, and where the channels are then."""
    program, spelling = body.program, norm.spelling
    small = _statistics(body, y, axes) if program.marked("batch statistics") else {}
    forms: dict[str, Callable[[Array], Array]] = {
        "split": lambda values: values.reshape(program.split),
        "shuffle": lambda values: values.transpose().reshape(-1),
    }
    form = forms.get(program.layout) if first else None
    diagonal = program.marked("diagonal parameters")
    used = _names(" ".join([*spelling.steps, *(text for _, text in spelling.small)]))
    for key in "gbmv":
        if key in used and key not in small:
            values = form(norm.values[key]) if form else norm.values[key]
            values = np.diag(values - 7.0) + 7.0 if diagonal else values
            small[key] = body.weight(values, y.element, scalar=norm.style == "scalar")
    eps = literal(norm.eps)

    def compute(like: Value, operands: dict[str, Operand]) -> None:
        for name, expression in spelling.small:
            shaped = like if like.name else operands[name][0]
            result = body.apply(expression.replace("eps", eps), operands, shaped)
            operands[name] = result, loops(len(shaped.shape or ()))

    operands = {key: (value, loops(len(value.shape or ()))) for key, value in small.items()}
    if not spelling.late:
        compute(Value("", None, y.element), operands)
    stages = []
    placed: dict[str, Operand] = {}
    for index, step in enumerate(spelling.steps):
        changes = first and program.layout_at == index
        like, source, read = y, y, loops(len(y.shape or ()))
        permutation = program.permutation(len(read)) if changes and program.layout == "written" else None
        if changes and program.layout not in ("", "written"):
            like, axes = _relayout(body, y, axes)
            placed = {}
            source = like if like.name else y
            if not like.name:
                order = program.permutation(len(read))
                read = [f"d{order.index(dim)}" for dim in range(len(read))]
            else:
                read = loops(len(like.shape or ()))
        needed = [key for key in operands if key in _names(step)]
        for key in needed:
            if key not in placed:
                placed[key] = body.spread(operands[key][0], axes, like, norm.style)
                if diagonal:
                    placed[key] = operands[key][0], [f"d{dim}" for dim in (*axes, *axes)]
        if spelling.late:
            for name, expression in spelling.small:
                if name in needed:
                    value, map_ = placed[name]
                    same = {name: (value, loops(len(value.shape or ())))}
                    way = norm.way if norm.style == "broadcast" else "generic"
                    placed[name] = body.apply(expression.replace("eps", eps), same, value, way), map_
        text = step.replace("eps", eps)
        way = norm.way
        if program.marked("activation in the body") and index + 1 == len(spelling.steps):
            text, way = TAILS[program.choice % len(TAILS)].format(text), "generic"
        if program.unit_zero and not y.dynamic and len(read) > 1:
            read = ["0" if extent == 1 else one for one, extent in zip(read, source.shape or (), strict=True)]
            way = "generic"
        names = {"y": (source, read), **{key: placed[key] for key in needed}}
        in_place = norm.in_place and source is like and not permutation and read == loops(len(read))
        y = body.apply(text, names, like, "generic" if permutation else way, in_place, permutation)
        if permutation:
            axes = tuple(permutation.index(dim) for dim in axes)
            placed = {}
        stages.append(y)
    return stages, axes


def _statistics(body: Body, y: Value, axes: Axes) -> dict[str, Value]:
    """Mean and variance of `y` along all dimensions but the channels."""
    shape, rank = y.shape or (), len(y.shape or ())
    like = Value("", tuple(shape[dim] for dim in axes), y.element)
    channel, reduced = [f"d{dim}" for dim in axes], frozenset(range(rank)) - set(axes)
    count = 1
    for dim in reduced:
        count *= shape[dim]

    def mean(operands: list[Operand], lines: list[str]) -> Value:
        total = body.generic(operands, (body.fill(like, 0.0), channel), lines, reduced)
        return body.apply(f"y / {literal(count)}", {"y": (total, loops(len(axes)))}, like)

    whole = (y, loops(rank))
    m = mean([whole], [f"%r = arith.addf %b0, %b1 : {y.element}"])
    square = [f"%d = arith.subf %b0, %b1 : {y.element}", f"%q = arith.mulf %d, %d : {y.element}"]
    v = mean([whole, (m, channel)], [*square, f"%r = arith.addf %q, %b2 : {y.element}"])
    return {"m": m, "v": v}


def _relu(body: Body, y: Value) -> Value:
    body.kept += 1
    return body.apply("max(y, 0.0)", {"y": (y, loops(len(y.shape or ())))}, y)


def _add(body: Body, y: Value, other: Value, axes: Axes | None = None) -> Value:
    """`y` plus a tensor of its shape or, with `axes`, of values per channel."""
    body.kept += 1
    rank = len(y.shape or ())
    operand = (other, loops(rank)) if axes is None else body.spread(other, axes, y, "map")
    return body.apply("y + b", {"y": (y, loops(rank)), "b": operand}, y)


def _nested(body: Body, write: Callable[[], Value], head: str, yielded: str, tail: str) -> Value:
    """An operation with a region that holds what `write` writes."""
    outside, body.lines = body.lines, []
    result = write()
    inside, body.lines = body.lines, outside
    if body.program.choice % 2:
        body.lines += [one for one in inside if " = arith.constant" in one.partition("\n")[0]]
        inside = [one for one in inside if one not in body.lines]
    text = textwrap.indent("\n".join([*inside, f"{yielded} {result.name} : {result.type}"]), "  ")
    return body.value(f"{head.replace('{T}', result.type)} {{\n{text}\n}}{tail}", result.shape, result.element)


def _chain(body: Body, x: Value, w: Value) -> None:
    """Everything behind the first convolution, and the results."""
    program, norms = body.program, body.program.norms
    axes = program.channel_axes()
    conv = y = convolution(body, x, w)
    if program.marked("cast of the shape"):
        body.batch = body.value(f"arith.constant {(y.shape or ())[0]} : index", None, "index").name
        y = body.cast(y, frozenset({0}))
    if program.marked("residual before"):
        y = _add(body, y, body.argument(program.extra, y.element))
    if program.marked("activation before", "no batch norm"):
        text = ACTIVATIONS[program.choice if program.marked("activation before") else 0]
        y = body.apply(text, {"y": (y, loops(len(y.shape or ())))}, y)
    if program.marked("no batch norm"):
        body.results.append(_relayout(body, y, axes)[0] if program.layout else y)
        return
    if program.marked("cast before"):
        wide = result_element(program)
        init = body.empty(y, wide)
        lines = [f"%r = arith.extf %b0 : {y.element} to {wide}"]
        y = body.generic([(y, loops(len(y.shape or ())))], (init, loops(len(y.shape or ()))), lines)
    if program.marked("other block"):
        _other_block(body, y, x)
        return
    stages, after = _normalise(body, norms[0], y, axes)
    stages.insert(0, y)
    y = stages[-1]
    body.kept += program.marked("activation in the body")
    if program.marked("two in a row"):
        y = _normalise(body, norms[1], y, axes, first=False)[0][-1]
    if program.marked("relu", "stacked"):
        y = _relu(body, y)
    if program.marked("residual after"):
        y = _add(body, y, body.argument(program.extra, y.element))
    if program.marked("run-time shift behind"):
        y = _add(body, y, body.argument(program.extra, y.element), after)
    if program.marked("other axis behind"):
        body.kept += 1
        scale = body.spread(body.constant(program.extra, y.element), (program.axis,), y, norms[0].style)
        y = body.apply("y * g", {"y": (y, loops(len(y.shape or ()))), "g": scale}, y, norms[0].way)
    if program.marked("stacked"):
        second = body.weight(program.filters[1], y.element, "filter")
        out = list(y.shape or ())
        for dim, letter in enumerate(program.kind.out):
            if letter == "f":
                out[dim] = program.filters[1].shape[program.kind.w.index("f")]
        ones = tuple(1 for _ in program.strides)
        y = convolve(body, y, second, body.fill(Value("", tuple(out), y.element), 0.0), ones, ones)
        y = _normalise(body, norms[1], y, axes, first=False)[0][-1]
    body.results.append(y)
    if program.marked("read twice behind"):
        body.results.append(_relu(body, y))
    if program.marked("second consumer", "early consumer", "late consumer"):
        stage = stages[program.stage]
        body.results.append(_relu(body, stage) if program.choice % 2 else stage)
    if program.marked("two readers"):
        body.results.append(_normalise(body, norms[1], conv, axes, first=False)[0][-1])
    if program.marked("shared filter", "filter also bare"):
        other = convolution(body, body.argument(program.extra, x.element), w)
        body.kept += program.marked("filter also bare") and (
            program.bias == "add" or (program.bias == "init" and program.choice % 2 == 1)
        )
        if program.marked("shared filter"):
            other = _normalise(body, norms[1], other, axes, first=False)[0][-1]
        body.results.append(other)


def _other_block(body: Body, y: Value, x: Value) -> None:
    """The normalisation under a condition that holds."""
    zero = body.value("arith.constant 0 : index", None, "index").name
    indices = ", ".join(zero for _ in x.shape or ())
    first = body.value(f"tensor.extract {x.name}[{indices}] : {x.type}", None, x.element).name
    condition = body.value(f"arith.cmpf ord, {first}, {first} : {x.element}", None, "i1").name
    norm, axes = body.program.norms[0], body.program.channel_axes()
    other = body.fill(y, 0.0)
    tail = f" else {{\n  scf.yield {other.name} : {other.type}\n}}"
    body.results.append(
        _nested(
            body, lambda: _normalise(body, norm, y, axes)[0][-1], f"scf.if {condition} -> ({{T}})", "scf.yield", tail
        )
    )


def _loop(body: Body, x: Value, w: Value) -> None:
    """The chain twice, its results added."""
    bounds = [body.value(f"arith.constant {one} : index", None, "index").name for one in (0, 2, 1)]

    def write() -> Value:
        _chain(body, x, w)
        y = body.results.pop()
        return _add(body, y, Value("%sum", y.shape, y.element))

    head = "scf.for %step = {} to {} step {} iter_args(%sum = %start) -> ({{T}})".format(*bounds)
    y = _nested(body, write, head, "scf.yield", "")
    loop = body.lines.pop()
    start = body.fill(y, 0.0)
    body.lines.append(loop.replace("%start", start.name, 1))
    body.results.append(y)


def kernel(program: Program) -> Body:
    """The body of the program's function."""
    body = Body(program)
    x = body.argument(program.x, program.element)
    w = body.weight(program.filters[0], program.element, "filter")
    if program.marked("dynamic batch"):
        x = body.cast(x, frozenset({0}))
        body.ask_batch(x)
    if program.marked("in front"):
        x = _normalise(body, program.norms[0], x, program.channel_axes())[0][-1]
        body.results.append(convolution(body, x, w))
    else:
        (_loop if program.marked("loop") else _chain)(body, x, w)
    body.results = [body.cast(one, frozenset()) for one in body.results]
    return body
