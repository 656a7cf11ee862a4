# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draw conv-BN programs from a seed."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import numpy as np
from conv_bn_expect import ILLEGAL, LEGAL
from conv_bn_numpy import (
    ACTIVATIONS,
    KINDS,
    SPELLINGS,
    Array,
    Kind,
    Norm,
    Program,
    convolution,
    normalise,
    reference,
    relayout,
    statistics,
)

#: Sorts of weights with the mode of the pass, and how often.
WEIGHTS = {
    ("constant", "auto"): 14,
    ("resource", "auto"): 2,
    ("splat", "auto"): 1,
    ("computed", "auto"): 2,
    ("constant", "constants"): 1,
    ("parameter", "auto"): 6,
    ("parameter filter", "auto"): 2,
    ("parameter norm", "auto"): 2,
    ("parameter", "always"): 2,
    ("parameter", "constants"): 1,
    ("run-time", "always"): 4,
    ("run-time norm", "always"): 1,
    ("run-time hinted", "auto"): 2,
    ("run-time", "auto"): 2,
    ("run-time filter", "auto"): 1,
    ("run-time norm", "auto"): 1,
    ("run-time", "constants"): 1,
}
#: The share of programs in which y is read with a constant 0 along extents of 1.
UNIT_ZERO = 0.15
ELEMENTS = {"f32": 11, "f64": 4, "f16": 3, "bf16": 2}
#: Twists in which values are rounded too often for 16 bits, or types are set.
NOT_16_BIT = ("two in a row", "stacked", "batch statistics", "loop", "body is not linear")


def deal(deck: dict, seed: int, number: int) -> object:
    """Card `number` of a deck that is shuffled anew each time it is used up."""
    cards = [card for card, count in deck.items() for _ in range(count)]
    block, index = divmod(number, len(cards))
    random.Random(f"{seed}/{block}/{cards}").shuffle(cards)
    return cards[index]


class Draw:
    """Draws the parts of one program. Structure depends on (seed, number), data on the attempt as well."""

    def __init__(self, seed: int, number: int, attempt: int) -> None:
        self.random = random.Random(f"{seed}/{number}")
        self.data = np.random.default_rng([seed, number, attempt])
        self.seed, self.number, self.attempt = seed, number, attempt
        self.exact = True
        self.narrow = self.round = False

    def program(self) -> Program:
        """A program, its data not checked yet."""
        pick, number = self.random, self.number
        twists = LEGAL | {name: count for name, (count, _) in ILLEGAL.items()}
        twist = str(deal(twists, self.seed, number))
        kind = self._kind(deal({one: 1 for one in KINDS}, self.seed, number), twist)
        weights, mode = self._weights(deal(WEIGHTS, self.seed, number), twist)
        element = self._element(str(deal(ELEMENTS, self.seed, number)), twist, weights)
        self.narrow = element in ("f16", "bf16")
        self.exact = self.narrow or twist in ("cast before", "batch statistics") or pick.random() < 0.7
        program = Program(number, kind, element, twist, weights, mode, norms=[])
        if twist != "hint never" and "hint" not in weights:
            program.form = pick.choice(["named"] * 12 + ["generic"] * 7 + ["generic swapped"])
        if twist == "body is not linear":
            program.form = "generic"
        program.unit_zero = pick.random() < UNIT_ZERO
        program.choice = pick.randrange(len(ACTIVATIONS) - self.narrow)
        both = "gf" in kind.out and twist != "stacked"
        program.collapse = both and (pick.random() < 0.7 or twist == "diagonal parameters")
        extents = self._extents(program)
        # Powers of 2 where scales that are rounded would use up the tolerance.
        terms = math.prod(extents[one] for one in kind.w if one not in "gf")
        self.round = self.narrow and (pick.random() < 0.5 or (element == "f16" and terms > 2))
        self.round |= twist == "shift cancels the bias"
        self._bias(program, extents)
        name = self._spelling(str(deal({one: 1 for one in SPELLINGS}, self.seed, number)), twist)
        program.norms = [self._norm(name) for _ in range(2)]
        if twist == "diagonal parameters":
            program.norms[0].style, program.norms[0].way = "map", "generic"
        self._shape_twist(program, extents)
        whole = self._result(program, extents)
        if twist == "in front":
            whole = [extents[one] for one in kind.x]
        shape = [whole[dim] for dim in program.channel_axes()]
        for norm in program.norms:
            norm.values = self._values(tuple(shape), weights == "splat" and twist != "wrong axis")
            if pick.random() < 0.1:
                norm.values["m"] = norm.values["g"]
        if pick.random() < 0.3 and twist not in RANGES:
            program.norms[1].values = program.norms[0].values
        self._extra(program, extents, tuple(shape))
        if twist == "shift cancels the bias":
            norm = program.norms[0]
            norm.values["m"] = (
                program.bias_value.reshape(shape) if program.bias == "init" else program.bias_value + np.zeros(shape)
            )
            norm.values["b"] = np.zeros(shape)
        if twist in RANGES:
            self._stretch(program)
        return program

    def _kind(self, kind: object, twist: str) -> Kind:
        assert isinstance(kind, Kind)
        batched = twist in ("dynamic batch", "cast of the shape", "diagonal parameters")
        fits = [one for one in KINDS if not batched or "n" in one.x]
        if twist == "stacked":
            fits = [one for one in KINDS if one.out.replace("f", "c") == one.x]
        return kind if kind in fits else self.random.choice(fits)

    def _weights(self, card: object, twist: str) -> tuple[str, str]:
        assert isinstance(card, tuple)
        if twist in (*RANGES, "shift cancels the bias") or (twist == "hint never" and "hint" in card[0]):
            return self.random.choice(["constant", "resource"]), "auto"
        return card

    def _element(self, element: str, twist: str, weights: str) -> str:
        if element in ("f16", "bf16") and (twist in NOT_16_BIT or weights == "computed"):
            return "f32"
        if element == "f64" and (twist in RANGES or twist in ("cast before", "mixed precision")):
            return self.random.choice(["f32", "f16", "bf16"])
        return element

    def _spelling(self, name: str, twist: str) -> str:
        fits = list(SPELLINGS)
        if twist in RANGES:
            fits = ["ONNX", "ONNX, two operations", "scale only", "StableHLO", "fma"]
        elif twist in ("wrong axis", "diagonal parameters"):
            # A negation by itself is a scale that folds.
            fits = [one for one in SPELLINGS if one not in ("scalar", "negf")]
        elif twist == "shift cancels the bias":
            fits = ["torch-mlir", "one operation", "StableHLO norm", "TOSA", "scale and shift computed"]
        elif twist == "batch statistics":
            fits = [
                one
                for one in SPELLINGS
                if " v " in f" {SPELLINGS[one].formula} ".replace("(", " ") and one != "division"
            ]
        elif twist == "late consumer":
            fits = [one for one, spelling in SPELLINGS.items() if spelling.scaled(len(spelling.steps) - 1)]
        return name if name in fits else self.random.choice(fits)

    def _norm(self, name: str) -> Norm:
        pick, style = self.random, SPELLINGS[name].style
        if style == "scalar":
            style = pick.choice(["scalar", "map"])
        elif pick.random() < 0.35:
            style = pick.choice(["map", "torch", "unit", "broadcast"])
        ways = {"map": ["generic", "generic", "elementwise"], "broadcast": ["generic", "named", "map", "elementwise"]}
        eps = 2.0**-6 if self.narrow or self.round else pick.choice([1e-5, 1e-3])
        return Norm(name, style, pick.choice(ways.get(style, ["generic"])), {}, eps, pick.random() < 0.15)

    def _extents(self, program: Program) -> dict[str, int]:
        """Extents by letter, those of the input before padding in the program's `x`."""
        pick, kind = self.random, program.kind
        several = program.marked(
            "wrong axis",
            "other axis behind",
            "initial value per element",
            "batch statistics",
            "residual before",
            "residual after",
        )
        extents = {"n": pick.choice([1, 1, 2, 3]), "g": pick.choice([1, 2, 3]), "f": pick.choice([1, 2, 3, 5, 7])}
        extents["c"] = pick.choice([1, 2, 3, 5])
        if "c" not in kind.x:
            extents |= {"g": pick.choice([1, 2, 3, 5, 7]), "c": 1, "f": pick.choice([1, 2, 3])}
        most = 3 if len(kind.positions) < 3 else 2
        # Two terms in 16 bits fold, more do not.
        budget = pick.choice([2, 2, 8]) if self.narrow else 200
        if self.narrow:
            extents["c"] = min(extents["c"], 2)
        budget //= extents["c"]
        same = pick.random() < 0.4
        for one in kind.positions:
            extents[one.lower()] = pick.choice([k for k in range(1, most + 1) if k <= budget])
            budget //= extents[one.lower()]
            extents[one] = pick.choice([2, 3, 4] if several else [1, 1, 2, 3, 4] if most == 3 else [1, 2])
            if same and several:
                extents[one] = max(2, extents["f" if "f" in kind.out else "g"])
        plain = kind.x == kind.positions
        count = len(kind.positions)
        program.strides = tuple(1 if plain else pick.choice([1, 1, 2]) for _ in range(count))
        program.dilations = tuple(1 if plain else pick.choice([1, 1, 2]) for _ in range(count))
        padded = [
            (extents[one] - 1) * stride + (extents[one.lower()] - 1) * dilation + 1
            for one, stride, dilation in zip(kind.positions, program.strides, program.dilations, strict=True)
        ]
        # No data help where every window lies in the border.
        if pick.random() < 0.4 and self.attempt < 100:
            low = [pick.randint(0, min(2, extent - 1)) for extent in padded]
            high = [pick.randint(0, min(2, extent - 1 - border)) for extent, border in zip(padded, low, strict=True)]
            program.low, program.high = tuple(low), tuple(high)
            program.pad_value = pick.choice([0.0, 0.0, 1.5])
            padded = [a - b - c for a, b, c in zip(padded, low, high, strict=True)]
        inputs = extents | dict(zip(kind.positions, padded, strict=True))
        program.x = self.array(tuple(inputs[one] for one in kind.x))
        program.filters = [self.array(tuple(extents[one] for one in kind.w))]
        if program.weights == "splat":
            program.filters[0][:] = 0.5
        if program.marked("stacked"):
            second = {"g": extents["g"], "c": extents["f"], "f": extents["f"]}
            program.filters.append(self.array(tuple(second.get(one, 1) for one in kind.w)))
        return extents

    def _result(self, program: Program, extents: dict[str, int]) -> list[int]:
        """The shape of the value that is normalised."""
        both = extents["g"] * extents["f"]
        return [both if one == "C" else extents[one] for one in program.result_axes()]

    def _bias(self, program: Program, extents: dict[str, int]) -> None:
        biases = ["none"] * 5 + ["add"] * 3 + ["init"] * 2 + ["fill"]
        if program.marked("shift cancels the bias"):
            biases = biases[8:]
        elif program.marked("initial value per element", "body is not linear", *RANGES):
            biases = ["none"]
        program.bias = self.random.choice(biases)
        shape = [extents[program.kind.out[dim]] for dim in program.kind.channels]
        value = self.array(() if program.bias == "fill" else tuple(shape))
        program.bias_value = np.where(value == 0, 1.0, value)

    def _shape_twist(self, program: Program, extents: dict[str, int]) -> None:
        """The wrong axis, the change of layout, the stage that is read twice."""
        pick, letters = self.random, program.result_axes()
        if program.marked("wrong axis", "other axis behind"):
            wrong = [dim for dim, one in enumerate(letters) if one not in "gfC" and extents[one] > 1]
            program.axis = pick.choice(wrong)
        if program.marked("initial value per element"):
            wrong = [dim for dim, one in enumerate(program.kind.out) if one not in "gf" and extents[one] > 1]
            program.axis = pick.choice(wrong)
        anywhere = ("plain", "relu", "activation in the body", "residual after", "read twice behind", "no batch norm")
        if program.marked(*anywhere, "wrong axis", "early consumer", "late consumer"):
            layouts = [""] * 4 + ["transpose"] * 2
            if not program.marked("no batch norm"):
                layouts += ["read", "written"]
            if not program.marked("wrong axis") and len(program.kind.positions) > 1:
                layouts.append("flat")
            if not program.marked("wrong axis", "no batch norm") and len(program.channel_axes()) == 1:
                layouts.append("split")
                channels = self._result(program, extents)[program.channel_axes()[0]]
                first = pick.choice([one for one in range(1, channels + 1) if channels % one == 0])
                program.split = first, channels // first
            if not program.marked("wrong axis", "no batch norm") and len(program.channel_axes()) == 2:
                layouts += ["shuffle"] * 3
            program.layout = pick.choice(layouts)
        spelling = program.norms[0].spelling
        steps = range(len(spelling.steps))
        if program.marked(*anywhere) and program.layout not in ("split", "shuffle") and pick.random() < 0.5:
            program.layout_at = pick.choice(steps)
        if program.marked("late consumer"):
            program.stage = pick.choice([one for one in steps if spelling.scaled(one)])
        if program.marked("early consumer"):
            program.stage = pick.choice([one for one in steps if not spelling.scaled(one)])

    def _values(self, shape: tuple[int, ...], splat: bool) -> dict[str, Array]:
        """Parameters, those of different channels different."""
        if splat:
            sign = self.data.choice([-1.0, 1.0])
            return {key: np.full(shape, one) for key, one in zip("gbmv", (1.5 * sign, 0.0, 0.0, 1.0), strict=True)}
        values = {"b": self.array(shape), "m": self.array(shape)}
        if self.round:
            values["g"] = self.data.choice([-2, -1.5, -1, -0.5, 0.5, 1, 1.5, 2], shape)
            values["v"] = self.data.choice([0.25, 1.0, 4.0], shape) - 2.0**-6
        else:
            values["g"] = self.data.integers(1, 17, shape) / 8 * self.data.choice([-1, 1], shape)
            values["v"] = self.data.integers(2, 33, shape) / 8
        values = {key: np.asarray(value) for key, value in values.items()}
        for key, (first, second) in {"g": (1.5, -0.5), "v": (0.25 - 2.0**-6, 1 - 2.0**-6)}.items():
            if values[key].size > 1:
                values[key].flat[:2] = first, second
        return values

    def _extra(self, program: Program, extents: dict[str, int], channel: tuple[int, ...]) -> None:
        if program.marked("shared filter", "filter also bare"):
            program.extra = self.array(program.x.shape)
        elif program.marked("run-time shift behind"):
            program.extra = self.array(channel)
        elif program.marked("other axis behind"):
            program.extra = np.arange(1.0, 1 + extents[program.result_axes()[program.axis]]) / 2
        elif program.marked("initial value per element"):
            whole = tuple(extents[one] for one in program.kind.out)
            program.extra = self.array(whole[program.axis : program.axis + 1] if program.choice % 2 else whole)
        elif program.marked("residual before", "residual after"):
            shape = np.zeros(self._result(program, extents))
            program.extra = self.array((relayout(program, shape) if program.marked("residual after") else shape).shape)

    def _stretch(self, program: Program) -> None:
        """Scale the data so that scaled weights leave the range of the type, and nothing else does."""
        powers = RANGES[program.twist][program.element]
        x, w, g = (2.0**one for one in powers)
        program.x = program.x * x
        program.filters[0] = self.data.choice([-1.5, 1.5], program.filters[0].shape) * w
        program.pad_value = 0.0
        for norm in program.norms:
            shape = norm.values["g"].shape
            norm.values["g"] = np.asarray(self.data.choice([-1.5, -1, 1, 1.5], shape) * g)
            norm.values["b"] = norm.values["b"] * (x * w * g)

    def array(self, shape: tuple[int, ...]) -> Array:
        """Data: halves for 16 bits, so that little is rounded, else eighths or normal."""
        if self.narrow:
            return np.asarray(self.data.integers(-4, 5, shape) / 2)
        if self.exact:
            return np.asarray(self.data.integers(-16, 17, shape) / 8)
        return np.asarray(np.asarray(self.data.normal(0, 1, shape)).astype(np.float32).astype(np.float64))


#: Powers of 2 for input, filter and scale, by element type.
RANGES = {
    "weights overflow": {"f16": (-9, 7, 9), "bf16": (-64, 64, 64), "f32": (-64, 64, 64)},
    "weights underflow": {"f16": (13, -10, -15), "bf16": (100, -80, -54), "f32": (100, -80, -70)},
}


def conditioned(program: Program) -> bool:
    """Whether the results are not mostly cancelled, nor divided by next to nothing."""
    first = program.norms[0]
    results = [float(np.abs(one).max()) for one in reference(program)]
    share = 0.4 if program.element in ("f16", "bf16") else 0.03
    if program.marked("in front"):
        shift = normalise(first, np.zeros(program.x.shape), program.channel_axes())[-1]
        scale = normalise(first, np.ones(program.x.shape), program.channel_axes())[-1] - shift
        inputs = np.abs(program.x * scale) + np.abs(shift)
        return results[0] >= share * convolution(magnitudes(program), inputs, np.abs(program.filters[0])).max()
    size = convolution(magnitudes(program), np.abs(program.x), np.abs(program.filters[0]))
    conv = convolution(program, program.x, program.filters[0])
    axes = program.channel_axes()
    norm = first
    if program.marked("batch statistics"):
        norm = statistics(first, conv, axes)
        if norm.values["v"].min() < 0.02:
            return False
    zero = normalise(norm, np.zeros(conv.shape), axes)[-1]
    scale = np.abs(normalise(norm, np.ones(conv.shape), axes)[-1] - zero)
    largest = float(
        (size * scale).max() + np.abs(norm.values["m"]).max() * scale.max() + np.abs(norm.values["b"]).max()
    )
    if program.marked(*RANGES):
        largest = float((size * scale).max())
    return results[0] >= share * min(largest, 1e300) and all(one >= share * size.max() for one in results[1:])


def magnitudes(program: Program) -> Program:
    """The program with the magnitudes of what a convolution adds up."""
    return replace(
        program,
        pad_value=abs(program.pad_value),
        bias_value=np.abs(program.bias_value),
        extra=np.abs(program.extra),
    )


def draw(seed: int, number: int) -> Program:
    """Program `number` of a seed."""
    for attempt in range(500):
        program = Draw(seed, number, attempt).program()
        if conditioned(program):
            return program
    raise AssertionError(f"program {number} of seed {seed}: no data found that keep the results well conditioned")
