# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Write the convolution of a generated conv-BN program as MLIR."""

from __future__ import annotations

import ast

from conv_bn_numpy import BODIES
from conv_bn_text import Body, Operand, Value, loops, scalar_code

#: The type that mixed precision accumulates in.
WIDER = {"f16": "f32", "bf16": "f32", "f32": "f64"}
#: One number for each position, or the dimensions of the channels.
Axes = tuple[int, ...]


def _pad(body: Body, x: Value) -> Value:
    """The input with its border, if there is one."""
    program = body.program
    if not program.low:
        return x
    kind, rank = program.kind, len(program.kind.x)
    places = [kind.positions.find(one) for one in kind.x]
    low = [program.low[one] if one >= 0 else 0 for one in places]
    high = [program.high[one] if one >= 0 else 0 for one in places]
    value = body.scalar(program.pad_value, x.element)
    indices = ", ".join(f"%i{dim}: index" for dim in range(rank))
    shape = tuple(a + b + c for a, b, c in zip(x.shape or (), low, high, strict=True))
    return body.value(
        f"tensor.pad {x.name} low{low} high{high} {{\n^bb0({indices}):\n"
        f"  tensor.yield {value.name} : {x.element}\n}} : {x.type} to {{T}}",
        shape,
        x.element,
        x.dynamic,
    )


def _generic_convolution(body: Body, x: Value, w: Value, init: Value, strides: Axes, dilations: Axes) -> Value:
    """The convolution as a generic operation, its operands swapped in one form."""
    kind = body.program.kind
    order = kind.out + "".join(one for one in kind.w if one not in kind.out)
    loop = {letter: f"d{index}" for index, letter in enumerate(order)}

    def read(letter: str) -> str:
        if not letter.isupper():
            return loop[letter]
        place = kind.positions.index(letter)
        return f"{loop[letter]} * {strides[place]} + {loop[letter.lower()]} * {dilations[place]}"

    operands: list[Operand] = [(x, [read(one) for one in kind.x]), (w, [loop[one] for one in kind.w])]
    if body.program.form == "generic swapped":
        operands.reverse()
    lines, names = [], ["%b0", "%b1"]
    element = init.element
    if x.element != element:
        lines = [f"%e{i} = arith.extf %b{i} : {x.element} to {element}" for i in range(2)]
        names = ["%e0", "%e1"]
    if body.program.marked("body is not linear"):
        tree = ast.parse(BODIES[body.program.choice % len(BODIES)], mode="eval").body
        lines = scalar_code(tree, {"x": "%b0", "w": "%b1", "a": "%b2"}, element)
    elif body.program.number % 3 == 0:
        lines.append(f"%r = math.fma {names[0]}, {names[1]}, %b2 : {element}")
    else:
        names = names[:: 1 if body.program.number % 2 else -1]
        lines.append(f"%p = arith.mulf {names[0]}, {names[1]} : {element}")
        lines.append(f"%r = arith.addf {'%b2, %p' if body.program.number % 4 else '%p, %b2'} : {element}")
    reduced = frozenset(range(len(kind.out), len(order)))
    return body.generic(operands, (init, loops(len(kind.out))), lines, reduced)


def convolve(body: Body, x: Value, w: Value, init: Value, strides: Axes, dilations: Axes) -> Value:
    """The convolution, named or generic."""
    program = body.program
    if program.form != "named":
        return _generic_convolution(body, x, w, init, strides, dilations)
    attributes = []
    if program.kind.x != program.kind.positions:
        form = "tensor" if program.number % 2 else "vector"
        for name, values in (("strides", strides), ("dilations", dilations)):
            attributes.append(f"{name} = dense<{list(values)}> : {form}<{len(values)}xi64>")
    if program.marked("hint never"):
        attributes.append('fuse.hint = "never"')
    elif program.weights == "run-time hinted":
        attributes.append('fuse.hint = "always"')
    text = f" {{{', '.join(attributes)}}}" if attributes else ""
    return body.value(
        f"linalg.{program.kind.name}{text} ins({x.name}, {w.name} : {x.type}, {w.type})"
        f" outs({init.name} : {init.type}) -> {{T}}",
        init.shape,
        init.element,
        init.dynamic,
    )


def convolution(body: Body, x: Value, w: Value) -> Value:
    """Padding, convolution, bias and collapse."""
    program, kind = body.program, body.program.kind
    element = program.element if not program.marked("mixed precision") else WIDER[program.element]
    x = _pad(body, x)
    extents = dict(zip(kind.w, w.shape or (), strict=True)) | {"n": (x.shape or (1,))[0]}
    for one, stride, dilation in zip(kind.positions, program.strides, program.dilations, strict=True):
        extent = (x.shape or ())[kind.x.index(one)]
        extents[one] = (extent - (extents[one.lower()] - 1) * dilation - 1) // stride + 1
    batch = frozenset({0}) if x.dynamic else frozenset()
    like = Value("", tuple(extents[one] for one in kind.out), element, batch)
    if program.bias == "init":
        source = body.weight(program.bias_value, element)
        if program.choice % 2:
            init = body.copy(source, [f"d{dim}" for dim in kind.channels], body.empty(like))
        else:
            init, _ = body.spread(source, kind.channels, like, "broadcast")
    elif program.bias == "fill":
        init = body.fill(like, float(program.bias_value))
    elif program.marked("initial value per element"):
        init = body.argument(program.extra, element)
        if init.shape != like.shape:
            init, _ = body.spread(init, (program.axis,), like, "broadcast")
    else:
        init = body.fill(like, 0.0)
    y = convolve(body, x, w, init, program.strides, program.dilations)
    if y.dynamic and program.choice % 2:
        body.ask_batch(y)
    bias: Operand | None = None
    if program.bias == "add" and (program.choice % 2 or not program.collapse):
        source = body.weight(program.bias_value, element)
        bias = body.spread(source, kind.channels, y, program.norms[0].style)
        y = body.apply("y + b", {"y": (y, loops(len(kind.out))), "b": bias}, y, program.norms[0].way)
    if program.collapse:
        first = kind.out.index("g")
        y = body.collapse(y, first, 2)
    if program.bias == "add" and not bias:
        source = body.weight(program.bias_value.reshape(-1), element)
        bias = body.spread(source, (first,), y, "map")
        y = body.apply("y + b", {"y": (y, loops(len(y.shape or ()))), "b": bias}, y)
    return y
