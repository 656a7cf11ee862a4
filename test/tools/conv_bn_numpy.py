# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a generated conv-BN program consists of, and its values by numpy.

Dimensions of a convolution's tensors are letters: n batch, g group, c input
channel, f output channel, D H W positions, d h w positions in the filter.
Everything here is computed in f64 from the definitions; nothing knows MLIR.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Array = np.ndarray


@dataclass(frozen=True)
class Kind:
    """A convolution of linalg: the letters of its input, filter and result."""

    name: str
    x: str
    w: str
    out: str

    @property
    def positions(self) -> str:
        """The letters of the positions, upper case."""
        return "".join(one for one in self.x if one.isupper())

    @property
    def channels(self) -> tuple[int, ...]:
        """The dimensions of the result that index the filter."""
        return tuple(dim for dim, letter in enumerate(self.out) if letter in "gf")


KINDS = [
    Kind("conv_2d_nchw_fchw", "ncHW", "fchw", "nfHW"),
    Kind("conv_2d_nhwc_hwcf", "nHWc", "hwcf", "nHWf"),
    Kind("conv_2d_nhwc_fhwc", "nHWc", "fhwc", "nHWf"),
    Kind("conv_2d_ngchw_gfchw", "ngcHW", "gfchw", "ngfHW"),
    Kind("conv_2d_ngchw_fgchw", "ngcHW", "fgchw", "ngfHW"),
    Kind("conv_2d_nhwgc_gfhwc", "nHWgc", "gfhwc", "nHWgf"),
    Kind("conv_2d", "HW", "hw", "HW"),
    Kind("conv_1d_nwc_wcf", "nWc", "wcf", "nWf"),
    Kind("conv_1d_ncw_fcw", "ncW", "fcw", "nfW"),
    Kind("conv_3d_ndhwc_dhwcf", "nDHWc", "dhwcf", "nDHWf"),
    Kind("conv_3d_ncdhw_fcdhw", "ncDHW", "fcdhw", "nfDHW"),
    Kind("depthwise_conv_1d_nwc_wc", "nWg", "wg", "nWg"),
    Kind("depthwise_conv_1d_ncw_cw", "ngW", "gw", "ngW"),
    Kind("depthwise_conv_1d_nwc_wcm", "nWg", "wgf", "nWgf"),
    Kind("depthwise_conv_2d_nchw_chw", "ngHW", "ghw", "ngHW"),
    Kind("depthwise_conv_2d_nhwc_hwc", "nHWg", "hwg", "nHWg"),
    Kind("depthwise_conv_2d_nhwc_hwcm", "nHWg", "hwgf", "nHWgf"),
    Kind("depthwise_conv_3d_ndhwc_dhwc", "nDHWg", "dhwg", "nDHWg"),
    Kind("depthwise_conv_3d_ndhwc_dhwcm", "nDHWg", "dhwgf", "nDHWgf"),
]


@dataclass(frozen=True)
class Spelling:
    """A way to write y -> (y - m) / sqrt(v + eps) * g + b or a part of it.

    `small` are computed on parameters (name, expression), before or after they
    take the shape that `style` says; `steps` are operations on y.
    """

    formula: str
    steps: tuple[str, ...]
    small: tuple[tuple[str, str], ...] = ()
    style: str = "map"  # map, torch, unit, broadcast, scalar: see spread()
    late: bool = False  # small is computed in the new shape

    def scaled(self, count: int) -> bool:
        """Whether y has been scaled after `count` steps."""
        return any(set("*/f").intersection(one) or one in ("b - y", "m - y", "-y") for one in self.steps[:count])


FULL = "(y - m) / sqrt(v + eps) * g + b"
AFFINE = "y * g + b"
STEPS = ("y - m", "y * v", "y * g", "y + b")
RSQRT = (("v", "v + eps"), ("v", "rsqrt(v)"))

SPELLINGS = {
    "torch-mlir": Spelling(FULL, STEPS, (("v", "v + wide(eps)"), ("v", "rsqrt(v)")), "torch"),
    "one operation": Spelling(FULL, ("(y - m) * rsqrt(v + eps) * g + b",)),
    "one operation, division": Spelling(FULL, ("g * (y - m) / sqrt(v + eps) + b",)),
    "StableHLO": Spelling(AFFINE, ("y * g", "y + b"), style="broadcast"),
    "StableHLO norm": Spelling(
        FULL, ("y - m", "y / v", "y * g", "y + b"), (("v", "v + eps"), ("v", "sqrt(v)")), "broadcast", late=True
    ),
    "TOSA": Spelling(FULL, STEPS, RSQRT, "unit", late=True),
    "ONNX": Spelling(AFFINE, (AFFINE,)),
    "ONNX, two operations": Spelling(AFFINE, ("y * g", "b + y")),
    "scale and shift computed": Spelling(
        FULL, ("y * g", "y + b"), (*RSQRT, ("g", "g * v"), ("m", "m * g"), ("b", "b - m"))
    ),
    "scale only": Spelling("y * g", ("g * y",)),
    "division": Spelling("y / sqrt(v + eps) * g", ("y / sqrt(v + eps)", "y * g")),
    "negated": Spelling("b - y * g", ("b - y * g",)),
    "negated, in steps": Spelling("(m - y) * g", ("m - y", "y * g")),
    "negf": Spelling("-y * g + b", ("-y", "y * g + b")),
    "fma": Spelling(AFFINE, ("fma(y, g, b)",)),
    "scalar": Spelling(AFFINE, ("y * g", "y + b"), style="scalar"),
}


@dataclass
class Norm:
    """A batch normalisation: its spelling, its parameters g b m v, and eps."""

    name: str
    style: str
    way: str  # generic, named, map, elementwise: the operations on y
    values: dict[str, Array]
    eps: float
    in_place: bool = False

    @property
    def spelling(self) -> Spelling:
        """How it is written."""
        return SPELLINGS[self.name]


@dataclass
class Program:
    """Everything about a program; `twist` names what is special about it."""

    number: int
    kind: Kind
    element: str
    twist: str
    weights: str
    mode: str  # of --fuse-conv-bn=weights
    norms: list[Norm]
    form: str = "named"  # or generic, generic swapped
    x: Array = field(default_factory=lambda: np.zeros(0))
    filters: list[Array] = field(default_factory=list)
    extra: Array = field(default_factory=lambda: np.zeros(0))  # x2, residual, ...
    strides: tuple[int, ...] = ()
    dilations: tuple[int, ...] = ()
    low: tuple[int, ...] = ()
    high: tuple[int, ...] = ()
    pad_value: float = 0.0
    bias: str = "none"  # add, init, fill
    bias_value: Array = field(default_factory=lambda: np.zeros(0))
    collapse: bool = False
    layout: str = ""  # transpose, read, written (by the step itself), flat, split, shuffle
    layout_at: int = 0  # before this step of the first norm, or in it
    split: tuple[int, int] = (1, 1)  # the channels as two dimensions
    axis: int = 0  # another than the channel
    unit_zero: bool = False  # y is read with a constant 0 along extents of 1
    stage: int = 0  # of the value that has a second consumer
    choice: int = 0  # of one of several forms of the twist

    def marked(self, *twists: str) -> bool:
        """Whether the twist is one of these."""
        return self.twist in twists

    def result_axes(self) -> str:
        """The letters of the value that is normalised; C is channels collapsed."""
        letters = self.kind.out
        return letters.replace("gf", "C") if self.collapse else letters

    def channel_axes(self) -> tuple[int, ...]:
        """Where the parameters lie along that value, or along the wrong axis."""
        if self.marked("wrong axis"):
            return (self.axis,)
        if self.norms[0].name == "scalar":
            return ()
        if self.marked("in front"):
            return tuple(dim for dim, letter in enumerate(self.kind.x) if letter in "gc")
        return tuple(dim for dim, letter in enumerate(self.result_axes()) if letter in "gfC")

    def permutation(self, rank: int) -> list[int]:
        """The layout `transpose`: result dimension to the one it comes from."""
        forms = [list(range(rank))[::-1], [*range(0, rank, 2), *range(1, rank, 2)], [0, *range(2, rank), 1]]
        return forms[self.choice % 3] if rank > 1 else [0]


#: What accumulates in a convolution that is linear in its filter in part only, or not at all.
BODIES = ("a + max(x * w, 0.0)", "a + x * w * w", "a + (x * w + x)", "max(a, x * w)")


def convolve(
    kind: Kind, x: Array, w: Array, strides: tuple[int, ...], dilations: tuple[int, ...], body: str = ""
) -> Array:
    """The convolution of `x`, padded already, by its definition, or with another body."""
    small = kind.positions.lower()
    inputs = _ordered(x, kind.x, "ngc" + kind.positions)
    weights = _ordered(w, kind.w, "gfc" + small)
    kernel = weights.shape[3:]
    window = [(k - 1) * dilation for k, dilation in zip(kernel, dilations, strict=True)]
    extents = [
        (extent - more - 1) // stride + 1
        for extent, more, stride in zip(inputs.shape[3:], window, strides, strict=True)
    ]
    out = np.zeros((inputs.shape[0], weights.shape[0], weights.shape[1], *extents))
    for point in np.ndindex(*kernel):
        part = inputs
        for dim, offset in enumerate(point):
            start = offset * dilations[dim]
            stop = start + (extents[dim] - 1) * strides[dim] + 1
            part = part.take(range(start, stop, strides[dim]), axis=3 + dim)
        if not body:
            out += np.einsum("ngc...,gfc->ngf...", part, weights[(..., *point)])
            continue
        for c in range(part.shape[2]):
            w_c = weights[(slice(None), slice(None), c, *point)]
            w_c = w_c.reshape(1, *w_c.shape, *(1 for _ in extents))
            out = evaluate(body, {"a": out, "x": part[:, :, c : c + 1], "w": w_c})
    order = ["ngf".find(one) if one in "ngf" else 3 + kind.positions.find(one) for one in kind.out]
    missing = [dim for dim in range(out.ndim) if dim not in order]
    return out.transpose(order + missing).reshape([out.shape[dim] for dim in order])


def _ordered(array: Array, letters: str, wanted: str) -> Array:
    """`array` with its dimensions as in `wanted`, of extent 1 where missing."""
    present = [letters.index(one) for one in wanted if one in letters]
    shape = [array.shape[letters.index(one)] if one in letters else 1 for one in wanted]
    return array.astype(np.float64).transpose(present).reshape(shape)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "sqrt": np.sqrt,
    "rsqrt": lambda v: 1 / np.sqrt(v),
    "wide": lambda v: v,
    "fma": lambda a, b, c: a * b + c,
    "max": np.maximum,
    "abs": np.abs,
    "tanh": np.tanh,
}


def evaluate(expression: str, names: dict[str, Any]) -> Array:
    """An expression over arrays."""
    return eval(expression, {"__builtins__": {}}, {**FUNCTIONS, **names})


def along(values: Array, axes: tuple[int, ...], rank: int) -> Array:
    """Parameters as an array that broadcasts along the other dimensions."""
    shape = [1] * rank
    for dim, extent in zip(axes, values.shape, strict=True):
        shape[dim] = extent
    return values.reshape(shape)


def normalise(norm: Norm, y: Array, axes: tuple[int, ...]) -> list[Array]:
    """The values after each step, the last one by the formula."""
    names: dict[str, Any] = {key: along(value, axes, y.ndim) for key, value in norm.values.items()}
    names["eps"] = norm.eps
    whole = evaluate(norm.spelling.formula, {**names, "y": y})
    for name, expression in norm.spelling.small:
        names[name] = evaluate(expression, names)
    stages = []
    for step in norm.spelling.steps:
        names["y"] = y = evaluate(step, {**names, "y": y})
        stages.append(y)
    if not np.allclose(stages[-1], whole, rtol=1e-10, atol=1e-10 * np.abs(whole).max()):
        raise AssertionError(f"the steps of '{norm.name}' are not its formula")
    stages[-1] = whole
    return stages


ACTIVATIONS = ("max(y, 0.0)", "y * y", "abs(y)", "y * max(y, 0.0)", "tanh(y)")
#: Behind a normalisation `{}` in the body of its last step.
TAILS = ("max({}, 0.0)", "(z := {}) * max(z, 0.0)", "(z := {}) * (z + 1.0)")


def relayout(program: Program, y: Array) -> Array:
    """The change of layout, if there is one."""
    if program.layout == "split":
        (dim,) = program.channel_axes()
        return y.reshape(*y.shape[:dim], *program.split, *y.shape[dim + 1 :])
    if program.layout == "shuffle":
        dim = program.kind.out.index("g")
        return y.swapaxes(dim, dim + 1).reshape(*y.shape[:dim], -1, *y.shape[dim + 2 :])
    if program.layout in ("transpose", "read", "written"):
        return y.transpose(program.permutation(y.ndim))
    if program.layout == "flat":
        first = program.result_axes().index(program.kind.positions[0])
        return y.reshape(*y.shape[:first], -1, *y.shape[first + len(program.kind.positions) :])
    return y


def convolution(program: Program, x: Array, w: Array) -> Array:
    """Padding, convolution, bias and collapse."""
    kind = program.kind
    if program.low:
        borders = dict(zip(kind.positions, zip(program.low, program.high, strict=True), strict=True))
        pads = [borders.get(one, (0, 0)) for one in kind.x]
        x = np.pad(x, pads, constant_values=program.pad_value)
    body = BODIES[program.choice % len(BODIES)] if program.marked("body is not linear") else ""
    y = convolve(kind, x, w, program.strides, program.dilations, body)
    if program.bias == "fill":
        y = y + program.bias_value
    elif program.bias != "none":
        y = y + along(program.bias_value, kind.channels, y.ndim)
    if program.marked("initial value per element"):
        y = y + (program.extra if program.extra.ndim == y.ndim else along(program.extra, (program.axis,), y.ndim))
    if program.collapse:
        first = kind.out.index("g")
        y = y.reshape(*y.shape[:first], -1, *y.shape[first + 2 :])
    return y


def statistics(norm: Norm, y: Array, axes: tuple[int, ...]) -> Norm:
    """The normalisation with mean and variance of `y` itself."""
    others = tuple(dim for dim in range(y.ndim) if dim not in axes)
    values = {**norm.values, "m": y.mean(axis=others), "v": y.var(axis=others)}
    return Norm(norm.name, norm.style, norm.way, values, norm.eps)


def reference(program: Program) -> list[Array]:
    """The results of the program."""
    axes = program.channel_axes()
    first = norm = program.norms[0]
    x = normalise(first, program.x, axes)[-1] if program.marked("in front") else program.x
    conv = y = convolution(program, x, program.filters[0])
    if program.marked("in front"):
        return [y]
    if program.marked("residual before"):
        y = y + program.extra
    if program.marked("activation before", "no batch norm"):
        y = evaluate(ACTIVATIONS[program.choice if program.marked("activation before") else 0], {"y": y})
    if program.marked("no batch norm"):
        return [relayout(program, y)]
    if program.marked("batch statistics"):
        norm = statistics(first, y, axes)
    stages = [y, *normalise(norm, y, axes)]
    for index, stage in enumerate(stages):
        if index > program.layout_at:
            stages[index] = relayout(program, stage)
    y = stages[-1]
    if program.marked("two in a row"):
        y = normalise(program.norms[1], y, axes)[-1]
    if program.marked("activation in the body"):
        y = evaluate(TAILS[program.choice % len(TAILS)].format("y"), {"y": y})
    if program.marked("relu", "stacked"):
        y = np.maximum(y, 0)
    results = [y]
    if program.marked("residual after"):
        results = [y + program.extra]
    if program.marked("run-time shift behind"):
        results = [y + along(program.extra, axes, y.ndim)]
    if program.marked("other axis behind"):
        results = [y * along(program.extra, (program.axis,), y.ndim)]
    if program.marked("loop"):
        results = [2 * y]
    if program.marked("read twice behind"):
        results.append(np.maximum(y, 0))
    if program.marked("second consumer", "early consumer", "late consumer"):
        stage = stages[program.stage]
        results.append(np.maximum(stage, 0) if program.choice % 2 else stage)
    if program.marked("two readers"):
        results.append(normalise(program.norms[1], conv, axes)[-1])
    if program.marked("shared filter", "filter also bare"):
        other = convolution(program, program.extra, program.filters[0])
        results.append(normalise(program.norms[1], other, axes)[-1] if program.marked("shared filter") else other)
    if program.marked("stacked"):
        ones = tuple(1 for _ in program.strides)
        other = convolve(program.kind, y, program.filters[1], ones, ones)
        results = [normalise(program.norms[1], other, axes)[-1]]
    return results
