#!/usr/bin/env python3
# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Print a program of matrix products and convolutions of odd extents, each with an epilogue.

Usage: gen_gemm.py [--type=f32|f16|bf16] [--extents=1,3,17,63,129] [--convolutions]

Products of m x k by k x n for all m, n, k of the extents, sums in f32; the epilogue of each is the next of: none,
bias, bias and ReLU, a residual, a conversion to the inputs' type. Convolutions are of 7 x 5 images with 1 and 3
channels, padded or strided. All are results of one function, so that one run compares them.
"""

from __future__ import annotations

import argparse
import itertools

EPILOGUES = ("none", "bias", "relu", "residual", "convert")
BODIES = {
    "bias": ["%s = arith.addf %x, %y : f32"],
    "relu": ["%t = arith.addf %x, %y : f32", "%s = arith.maximumf %t, %zero : f32"],
    "residual": ["%s = arith.addf %x, %y : f32"],
}


class Program:
    """A function under construction: its arguments, body and results."""

    def __init__(self, element: str) -> None:
        self.element = element
        self.arguments: list[str] = []
        self.body: list[str] = []
        self.results: list[tuple[str, str]] = []

    def argument(self, kind: str) -> str:
        """A new argument of tensor type `kind`."""
        name = f"%a{len(self.arguments)}"
        self.arguments.append(f"{name}: {kind}")
        return name

    def sums(self, name: str, kind: str) -> str:
        """A tensor of zeros, to be added to."""
        self.body.append(f"{name}e = tensor.empty() : {kind}")
        self.body.append(f"{name}f = linalg.fill ins(%zero : f32) outs({name}e : {kind}) -> {kind}")
        return f"{name}f"

    def epilogue(self, name: str, shape: tuple[int, ...], what: str, channel: int) -> None:
        """Adds the operator `what` behind `name`; a bias is along dimension `channel`."""
        dims = ", ".join(f"d{i}" for i in range(len(shape)))
        text = "x".join(map(str, shape))
        result = self.element if what == "convert" else "f32"
        if what == "none" or (what == "convert" and result == "f32"):
            self.results.append((name, f"tensor<{text}xf32>"))
            return
        whole = f"affine_map<({dims}) -> ({dims})>"
        maps, inputs, kinds, block = [whole], [name], [f"tensor<{text}xf32>"], ["%x: f32"]
        lines = BODIES.get(what, [f"%s = arith.truncf %x : f32 to {result}"])
        if what != "convert":
            other = f"tensor<{text}xf32>" if what == "residual" else f"tensor<{shape[channel]}xf32>"
            maps.append(whole if what == "residual" else f"affine_map<({dims}) -> (d{channel})>")
            inputs.append(self.argument(other))
            kinds.append(other)
            block.append("%y: f32")
        maps.append(whole)
        block.append(f"%o: {result}")
        kind = f"tensor<{text}x{result}>"
        loops = ", ".join(['"parallel"'] * len(shape))
        self.body.append(f"{name}o = tensor.empty() : {kind}")
        self.body.append(
            f"{name}r = linalg.generic {{indexing_maps = [{', '.join(maps)}], iterator_types = [{loops}]}} "
            f"ins({', '.join(inputs)} : {', '.join(kinds)}) outs({name}o : {kind}) {{\n"
            f"  ^bb0({', '.join(block)}):\n    "
            + "\n    ".join(lines)
            + f"\n    linalg.yield %s : {result}\n  }} -> {kind}"
        )
        self.results.append((f"{name}r", kind))

    def text(self) -> str:
        """The module."""
        kinds = ", ".join(kind for _, kind in self.results)
        lines = [f"func.func @main({', '.join(self.arguments)}) -> ({kinds}) {{", "  %zero = arith.constant 0.0 : f32"]
        lines += [f"  {line}" for line in self.body]
        lines += [f"  return {', '.join(name for name, _ in self.results)} : {kinds}", "}"]
        return "\n".join(lines)


def add_products(program: Program, extents: list[int]) -> None:
    """Products of all extents."""
    for number, (m, n, k) in enumerate(itertools.product(extents, repeat=3)):
        name, out = f"%m{number}", f"tensor<{m}x{n}xf32>"
        left, right = f"tensor<{m}x{k}x{program.element}>", f"tensor<{k}x{n}x{program.element}>"
        a, b = program.argument(left), program.argument(right)
        start = program.sums(name, out)
        program.body.append(f"{name} = linalg.matmul ins({a}, {b} : {left}, {right}) outs({start} : {out}) -> {out}")
        program.epilogue(name, (m, n), EPILOGUES[number % len(EPILOGUES)], 1)


def add_convolutions(program: Program) -> None:
    """3 x 3 convolutions of small images."""
    cases = itertools.product((1, 3), (1, 3, 17), (1, 2), (False, True), (1, 2))
    for number, (channels, filters, stride, padded, batch) in enumerate(cases):
        name, size = f"%c{number}", (7, 5)
        image = f"tensor<{batch}x{channels}x7x5x{program.element}>"
        a, weights = program.argument(image), f"tensor<{filters}x{channels}x3x3x{program.element}>"
        w = program.argument(weights)
        if padded:
            size = (9, 7)
            wide = f"tensor<{batch}x{channels}x9x7x{program.element}>"
            program.body.append(
                f"{name}z = arith.constant 0.0 : {program.element}\n"
                f"  {name}p = tensor.pad {a} low[0, 0, 1, 1] high[0, 0, 1, 1] {{\n"
                f"  ^bb0(%i: index, %j: index, %k: index, %l: index):\n"
                f"    tensor.yield {name}z : {program.element}\n  }} : {image} to {wide}"
            )
            a, image = f"{name}p", wide
        high, across = ((extent - 3) // stride + 1 for extent in size)
        out = f"tensor<{batch}x{filters}x{high}x{across}xf32>"
        start = program.sums(name, out)
        program.body.append(
            f"{name} = linalg.conv_2d_nchw_fchw "
            f"{{dilations = dense<1> : vector<2xi64>, strides = dense<{stride}> : vector<2xi64>}} "
            f"ins({a}, {w} : {image}, {weights}) outs({start} : {out}) -> {out}"
        )
        program.epilogue(name, (batch, filters, high, across), EPILOGUES[number % len(EPILOGUES)], 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--type", choices=("f32", "f16", "bf16"), default="f32")
    parser.add_argument("--convolutions", action="store_true")
    parser.add_argument("--extents", default="1,3,17,63,129")
    options = parser.parse_args()
    program = Program(options.type)
    if options.convolutions:
        add_convolutions(program)
    else:
        add_products(program, [int(extent) for extent in options.extents.split(",")])
    print(program.text())


if __name__ == "__main__":
    main()
