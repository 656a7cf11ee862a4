# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the fold must decide on a generated conv-BN program."""

from __future__ import annotations

import math
from dataclasses import dataclass

from compare import RTOL
from conv_bn_numpy import Program, convolution

#: How often each twist is drawn. The fold is right in spite of these ...
LEGAL = {
    "plain": 14,
    "relu": 5,
    "activation in the body": 6,
    "two in a row": 3,
    "residual after": 2,
    "run-time shift behind": 2,
    "read twice behind": 2,
    "late consumer": 2,
    "shared filter": 4,
    "filter also bare": 1,
    "stacked": 2,
    "loop": 2,
    "dynamic batch": 2,
    "cast of the shape": 1,
    "other axis behind": 2,
    "shift cancels the bias": 2,
    "diagonal parameters": 1,
    "in front": 4,
}
#: ... and wrong with these, for this reason; None: there is no chain.
ILLEGAL: dict[str, tuple[int, str | None]] = {
    "wrong axis": (4, "shape: scale is not along the output channel"),
    "initial value per element": (2, "shape: initial value is not per channel"),
    "second consumer": (2, "dependency: multiple consumers"),
    "early consumer": (2, "dependency: multiple consumers"),
    "two readers": (2, "dependency: multiple consumers"),
    "batch statistics": (2, "dependency: statistics depend on the convolution's result"),
    "other block": (1, "dependency: operators are in different blocks"),
    "cast before": (1, "numerics: fold would elide a rounding"),
    "mixed precision": (1, "numerics: fold would elide a rounding"),
    "weights overflow": (1, "numerics: folded weights are not finite"),
    "weights underflow": (1, "numerics: folded weights underflow"),
    "hint never": (1, "override: kept by hint"),
    "residual before": (2, None),
    "activation before": (2, None),
    "no batch norm": (1, None),
    "body is not linear": (2, None),
}


#: The unit roundoff of types in which sums of more than a few terms round more than the tolerance.
ROUNDOFF = {"f16": 2.0**-11, "bf16": 2.0**-8}


@dataclass(frozen=True)
class Expectation:
    """What the pass must decide: the number of folds, and why what is kept is kept; None: either is right."""

    folded: int | None
    reasons: tuple[str, ...] | None = ()


def terms(program: Program) -> int:
    """How many products are added up."""
    shape = program.filters[0].shape
    return math.prod(extent for one, extent in zip(program.kind.w, shape, strict=True) if one not in "gf")


def refused_weights(program: Program) -> str | None:
    """Why weights of this sort are kept in this mode of the pass."""
    sort = program.weights
    if terms(program) * ROUNDOFF.get(program.element, 0) > RTOL[program.element]:
        return "numerics: sums in 16 bits round more than the tolerance"
    if not sort.startswith(("parameter", "run-time")) or program.mode == "always":
        return None
    if program.element in ROUNDOFF:
        return "numerics: range of folded 16-bit weights is not known"
    if program.mode == "constants":
        return "profit: weights are not constant"
    if sort.startswith("run-time") and "hint" not in sort:
        return "profit: run-time weights cost more to fold than an epilogue"
    return None


def expectation(program: Program) -> Expectation:
    """By the first gate that refuses, in the order of the gates."""
    if program.marked("in front"):
        return in_front(program)
    # Groups and features that were one axis need not fold where they are split otherwise.
    if program.layout == "split" and "gf" in program.kind.out and 1 not in program.split:
        return Expectation(None, None)
    kept = refused_weights(program)
    if program.twist in ILLEGAL:
        reason = ILLEGAL[program.twist][1]
        full = program.marked("wrong axis") and parameters_are_full(program)
        if reason is None or full:
            return Expectation(0, () if program.marked("no batch norm") else None)
        if program.marked("hint never"):
            reason = kept or reason
        return Expectation(0, (reason,) * (2 if program.marked("two readers") else 1))
    chains = 2 if program.marked("shared filter", "stacked") else 1
    if kept and program.weights.endswith("norm") and program.norms[0].name == "negf":
        return Expectation(None, None)  # the negation by itself is a constant scale
    if kept and program.marked("other axis behind") and not parameters_are_full(program):
        # The longest chain is reported where none folds.
        kept = ILLEGAL["wrong axis"][1]
    return Expectation(0, (str(kept),) * chains) if kept else Expectation(chains)


def in_front(program: Program) -> Expectation:
    """A normalisation of the input: a shift does not go through a border."""
    shifts = program.norms[0].name not in ("scale only", "division")
    border = any(program.low + program.high) and (shifts or program.pad_value != 0)
    kept = "shape: padding stands between scale and convolution" if border else refused_weights(program)
    pixels = [extent for dim, extent in enumerate(program.x.shape) if dim not in program.channel_axes()]
    if program.weights.startswith("run-time") and set(pixels) <= {1}:
        # Nothing tells an image of one pixel from a parameter that comes with the call.
        return Expectation(0 if kept else None, None)
    return Expectation(0, (kept,)) if kept else Expectation(1)


def parameters_are_full(program: Program) -> bool:
    """Whether parameters along the wrong axis have a value for every element."""
    shape = convolution(program, program.x, program.filters[0]).shape
    return all(extent == 1 for dim, extent in enumerate(shape) if dim != program.axis)
