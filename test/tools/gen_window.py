#!/usr/bin/env python3
# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Print a program of poolings and depthwise convolutions of odd extents, with epilogues.

Usage: gen_window.py [--type=f32|f16] [--dynamic]

Images of both layouts, of few channels, padded, strided, dilated; every third one is an elementwise operator's result.
The epilogue of each is the next of those of gen_gemm.py. All are results of one function, so that one run compares
them. With --dynamic the batch is no number.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

from gen_gemm import EPILOGUES, Program


@dataclass(frozen=True)
class Case:
    """A window: what it is, its image, and how it moves."""

    kind: str  # max, sum or depthwise
    layout: str
    image: tuple[int, int]
    channels: int
    window: tuple[int, int] = (3, 3)
    stride: int = 1
    dilation: int = 1
    pad: int = 0

    def shape(self, batch: str, size: tuple[int, int]) -> tuple[str, ...]:
        """The extents of images of a size."""
        high, across = map(str, size)
        channels = str(self.channels)
        return (batch, channels, high, across) if self.layout == "nchw" else (batch, high, across, channels)

    def padded(self) -> tuple[int, int]:
        """The size with padding."""
        return self.image[0] + 2 * self.pad, self.image[1] + 2 * self.pad

    def result(self) -> tuple[int, int]:
        """The size of the result."""
        high, across = (
            (size - (points - 1) * self.dilation - 1) // self.stride + 1
            for size, points in zip(self.padded(), self.window, strict=True)
        )
        return high, across


CASES = (
    Case("max", "nchw", (7, 5), 1),
    Case("max", "nchw", (7, 5), 3, stride=2, pad=1),
    Case("max", "nhwc", (7, 5), 3, pad=1),
    Case("sum", "nhwc", (7, 5), 17, window=(2, 2)),
    Case("sum", "nchw", (9, 11), 3, window=(3, 2), dilation=2, pad=1),
    Case("max", "nchw", (33, 35), 5, stride=2, pad=1),
    Case("depthwise", "nchw", (7, 5), 3, pad=1),
    Case("depthwise", "nchw", (7, 5), 1, stride=2, pad=1),
    Case("depthwise", "nhwc", (7, 5), 3, dilation=2, pad=2),
    Case("depthwise", "nhwc", (21, 19), 40, pad=1),
    Case("depthwise", "nchw", (21, 19), 20, window=(5, 5), pad=2),
    Case("depthwise", "nhwc", (14, 14), 33, stride=2, pad=1),
    Case("sum", "nchw", (20, 20), 2, window=(13, 13), pad=6),  # too many points for code of each
    Case("max", "nchw", (8, 8), 4, window=(2, 2), stride=2),  # windows that share nothing
)


def tensor(shape: tuple[str, ...], element: str) -> str:
    """A tensor type."""
    return f"tensor<{'x'.join(shape)}x{element}>"


def add_image(program: Program, case: Case, name: str, batch: str, computed: bool) -> tuple[str, str]:
    """The image of a window, with its type: an argument, perhaps computed on, perhaps padded."""
    element = program.element
    kind = tensor(case.shape(batch, case.image), element)
    image = program.argument(kind)
    if computed:
        program.body.append(f"{name}ae = tensor.empty() : {kind}")
        program.body.append(f"{name}a = linalg.abs ins({image} : {kind}) outs({name}ae : {kind}) -> {kind}")
        image = f"{name}a"
    if case.pad:
        wide = tensor(case.shape(batch, case.padded()), element)
        amounts = f"0, 0, {case.pad}, {case.pad}" if case.layout == "nchw" else f"0, {case.pad}, {case.pad}, 0"
        program.body.append(
            f"{name}z = arith.constant 0.25 : {element}\n"
            f"  {name}p = tensor.pad {image} low[{amounts}] high[{amounts}] {{\n"
            f"  ^bb0(%i: index, %j: index, %k: index, %l: index):\n"
            f"    tensor.yield {name}z : {element}\n  }} : {kind} to {wide}"
        )
        image, kind = f"{name}p", wide
    return image, kind


def add(program: Program, case: Case, number: int, batch: str) -> None:
    """A window and its epilogue."""
    name = f"%w{number}"
    image, kind = add_image(program, case, name, batch, number % 3 == 0)
    shape = case.shape(batch, case.result())
    out = tensor(shape, "f32")
    window = "x".join(map(str, case.window))
    if case.kind == "depthwise":
        filters = f"{case.channels}x{window}" if case.layout == "nchw" else f"{window}x{case.channels}"
        weights = f"tensor<{filters}x{program.element}>"
        operand = program.argument(weights)
        op = f"depthwise_conv_2d_{case.layout}_{'chw' if case.layout == 'nchw' else 'hwc'}"
    else:
        weights = f"tensor<{window}x{program.element}>"
        operand, op = f"{name}v", f"pooling_{case.layout}_{case.kind}"
        program.body.append(f"{operand} = tensor.empty() : {weights}")
    start = "%low" if case.kind == "max" else "%zero"
    program.body.append(f"{name}e = tensor.empty() : {out}")
    program.body.append(f"{name}f = linalg.fill ins({start} : f32) outs({name}e : {out}) -> {out}")
    program.body.append(
        f"{name} = linalg.{op} {{dilations = dense<{case.dilation}> : vector<2xi64>, "
        f"strides = dense<{case.stride}> : vector<2xi64>}} "
        f"ins({image}, {operand} : {kind}, {weights}) outs({name}f : {out}) -> {out}"
    )
    channel = case.layout.index("c")
    program.epilogue(name, shape, EPILOGUES[number % len(EPILOGUES)], channel)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--type", choices=("f32", "f16"), default="f32")
    parser.add_argument("--dynamic", action="store_true")
    options = parser.parse_args()
    program = Program(options.type)
    program.body.append("%low = arith.constant -1.0e+04 : f32")
    if options.dynamic:
        program.body.append("%first = arith.constant 0 : index")
        first = tensor(CASES[0].shape("?", CASES[0].image), options.type)
        program.body.append(f"%n = tensor.dim %a0, %first : {first}")
    for number, case in enumerate(CASES):
        add(program, case, number, "?" if options.dynamic else str(1 + number % 2))
    print(program.text().replace("tensor.empty() : tensor<?x", "tensor.empty(%n) : tensor<?x"))


if __name__ == "__main__":
    main()
