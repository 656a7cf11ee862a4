#!/usr/bin/env python3
# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Print a program of kernels of class chain, with tiles that cut their images and channels unevenly.

Usage: gen_chain.py [--inputs=FOLDER] FORM...

Each form gives some kernels, whose results the function returns, so that one run compares them:
  window   a depthwise convolution (padded, of 7 x 5 images, stride 1 and 2), ReLU6 and a 1 x 1 convolution with bias
  expand   the same behind a 1 x 1 convolution and ReLU6, with a residual where the stride is 1
  first    the same behind a 3 x 3 convolution of stride 2
  nhwc     window and expand with the channels innermost
  pool     a maximum over 3 x 3 pixels in front of a 3 x 3 convolution; a mean over the image in front of a matmul
  matmuls  two matmuls with a ReLU between, of f32 and f16
  dynamic  window, expand and matmuls with a batch of unknown size
--inputs writes arrays of 3 in each dynamic extent to FOLDER, and a file `options` that names them for fuse-run.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np

PARALLEL = '"parallel"'


class Program:
    """A function under construction: its arguments, kernels and results."""

    def __init__(self) -> None:
        self.arguments: list[str] = []
        self.kinds: list[str] = []
        self.body: list[str] = []
        self.results: list[tuple[str, str]] = []

    def argument(self, kind: str) -> str:
        """A new argument of tensor type `kind`."""
        name = f"%a{len(self.arguments)}"
        self.arguments.append(f"{name}: {kind}")
        self.kinds.append(kind)
        return name

    def text(self) -> str:
        """The module."""
        kinds = ", ".join(kind for _, kind in self.results)
        lines = [f"func.func @main({', '.join(self.arguments)}) -> ({kinds}) {{", *self.body]
        return "\n".join([*lines, f"  return {', '.join(n for n, _ in self.results)} : {kinds}", "}"])


def save(program: Program, folder: Path) -> None:
    """Writes values of all arguments, three for a dynamic extent, and a file with the option that names them."""
    folder.mkdir(parents=True, exist_ok=True)
    random, files = np.random.default_rng(1), []
    for number, kind in enumerate(program.kinds):
        *extents, element = kind[7:-1].replace("?", "3").split("x")
        values = random.standard_normal([int(extent) for extent in extents])
        files.append(folder / f"{number}.npy")
        np.save(files[-1], values.astype(np.float16 if element == "f16" else np.float32))
    (folder / "options").write_text(f"--inputs={','.join(map(str, files))}\n")


class Kernel:
    """A kernel under construction. Shapes are extents, -1 where dynamic (the batch alone)."""

    def __init__(self, program: Program, tile: tuple[int, int]) -> None:
        self.program, self.tile = program, tile
        self.inputs: list[tuple[str, str]] = []
        self.body: list[str] = []
        self.count = 0

    @staticmethod
    def kind(shape: tuple[int, ...], element: str = "f32") -> str:
        """The type of a tensor."""
        return f"tensor<{'x'.join('?' if n < 0 else str(n) for n in shape)}x{element}>"

    def name(self) -> str:
        """A new value."""
        self.count += 1
        return f"%v{self.count}"

    def add(self, text: str) -> str:
        """A new operation's result."""
        name = self.name()
        self.body.append(f"{name} = {text}")
        return name

    def input(self, shape: tuple[int, ...], element: str = "f32") -> str:
        """A new input of the kernel."""
        name = f"%i{len(self.inputs)}"
        self.inputs.append((self.program.argument(self.kind(shape, element)), self.kind(shape, element)))
        return name

    def empty(self, shape: tuple[int, ...], element: str = "f32") -> str:
        """A tensor to compute into; a dynamic batch is that of the first input."""
        size = ""
        if shape[0] < 0:
            zero = self.add("arith.constant 0 : index")
            size = self.add(f"tensor.dim %i0, {zero} : {self.inputs[0][1]}")
        return self.add(f"tensor.empty({size}) : {self.kind(shape, element)}")

    def zeros(self, shape: tuple[int, ...], element: str = "f32") -> str:
        """A tensor of zeros."""
        zero = self.add(f"arith.constant 0.0 : {element}")
        kind = self.kind(shape, element)
        return self.add(f"linalg.fill ins({zero} : {element}) outs({self.empty(shape, element)} : {kind}) -> {kind}")

    def pad(self, value: str, shape: tuple[int, ...], dims: tuple[int, int]) -> tuple[str, tuple[int, ...]]:
        """A border of one zero around dimensions `dims`."""
        wide = tuple(n + 2 if i in dims else n for i, n in enumerate(shape))
        border = ", ".join("1" if i in dims else "0" for i in range(len(shape)))
        zero = self.add("arith.constant 0.0 : f32")
        indices = ", ".join(f"%x{self.count}_{i}: index" for i in range(len(shape)))
        padded = self.add(
            f"tensor.pad {value} low[{border}] high[{border}] {{\n^bb0({indices}):\n"
            f"  tensor.yield {zero} : f32\n}} : {self.kind(shape)} to {self.kind(wide)}"
        )
        return padded, wide

    def map(self, lines: list[str], values: list[str], kinds: list[str], shape: tuple[int, ...], out: str) -> str:
        """An elementwise operator; `lines` computes %r from %p, %q."""
        dims = ", ".join(f"d{i}" for i in range(len(shape)))
        whole = f"affine_map<({dims}) -> ({dims})>"
        arguments = [f"%{name}: {kind[7:-1].split('x')[-1]}" for name, kind in zip("pq", kinds, strict=False)]
        block = ", ".join([*arguments, f"%o: {out}"])
        return self.add(
            f"linalg.generic {{indexing_maps = [{', '.join([whole] * (len(values) + 1))}], "
            f"iterator_types = [{', '.join([PARALLEL] * len(shape))}]}} "
            f"ins({', '.join(values)} : {', '.join(kinds)}) "
            f"outs({self.empty(shape, out)} : {self.kind(shape, out)}) {{\n"
            f"^bb0({block}):\n" + "\n".join(lines) + f"\nlinalg.yield %r : {out}\n}} -> {self.kind(shape, out)}"
        )

    def relu(self, value: str, shape: tuple[int, ...], most: float | None = None) -> str:
        """At least 0, and at most `most`."""
        lines = ["%z = arith.constant 0.0 : f32", "%r = arith.maximumf %p, %z : f32"]
        if most is not None:
            lines[1:] = [
                "%m = arith.maximumf %p, %z : f32",
                f"%s = arith.constant {most} : f32",
                "%r = arith.minimumf %m, %s : f32",
            ]
        return self.map(lines, [value], [self.kind(shape)], shape, "f32")

    def sum(self, a: str, b: str, shape: tuple[int, ...]) -> str:
        """Element by element."""
        return self.map(["%r = arith.addf %p, %q : f32"], [a, b], [self.kind(shape)] * 2, shape, "f32")

    def bias(self, shape: tuple[int, ...], channel: int) -> str:
        """A tensor of a value for each index of dimension `channel`, to be added to."""
        vector = self.input((shape[channel],))
        others = ", ".join(str(i) for i in range(len(shape)) if i != channel)
        return self.add(
            f"linalg.broadcast ins({vector} : {self.kind((shape[channel],))}) "
            f"outs({self.empty(shape)} : {self.kind(shape)}) dimensions = [{others}]"
        )

    def op(self, name: str, values: list[tuple[str, str]], init: str, out: str, attributes: str = "") -> str:
        """A named operator."""
        ins = ", ".join(value for value, _ in values)
        kinds = ", ".join(kind for _, kind in values)
        return self.add(f"linalg.{name} {attributes} ins({ins} : {kinds}) outs({init} : {out}) -> {out}")

    def finish(self, value: str, kind: str) -> None:
        """Ends the kernel, whose result is one of the function's."""
        number = len(self.program.results)
        outer = ", ".join(name for name, _ in self.inputs)
        kinds = ", ".join(own for _, own in self.inputs)
        block = ", ".join(f"%i{i}: {own}" for i, (_, own) in enumerate(self.inputs))
        self.program.body.append(
            f'  %r{number} = fuse.kernel "chain" tile(<sizes = [{self.tile[0]}, {self.tile[1]}, 8], threads = 128>) '
            f"({outer}) : ({kinds}) -> {kind} {{\n^bb0({block}):\n"
            + "\n".join(self.body)
            + f"\nfuse.yield {value} : {kind}\n}}"
        )
        self.program.results.append((f"%r{number}", kind))


def image(batch: int, channels: int, size: tuple[int, int], last: bool) -> tuple[int, ...]:
    """A shape with the channels innermost (`last`) or before the image."""
    return (batch, *size, channels) if last else (batch, channels, *size)


def conv(
    kernel: Kernel, value: str, shape: tuple[int, ...], filters: int, side: int, stride: int, last: bool
) -> tuple[str, tuple[int, ...]]:
    """A convolution of side x side with a bias."""
    channels, size = (shape[3], shape[1:3]) if last else (shape[1], shape[2:])
    out = image(shape[0], filters, tuple((n - side) // stride + 1 for n in size), last)
    weights = (side, side, channels, filters) if last else (filters, channels, side, side)
    layout = "conv_2d_nhwc_hwcf" if last else "conv_2d_nchw_fchw"
    w = kernel.input(weights)
    init = kernel.bias(out, 3 if last else 1)
    strides = f"{{strides = dense<{stride}> : tensor<2xi64>}}"
    values = [(value, kernel.kind(shape)), (w, kernel.kind(weights))]
    return kernel.op(layout, values, init, kernel.kind(out), strides), out


def depthwise(
    kernel: Kernel, value: str, shape: tuple[int, ...], stride: int, last: bool
) -> tuple[str, tuple[int, ...]]:
    """A padded depthwise convolution of 3 x 3 with a bias, and ReLU6."""
    value, wide = kernel.pad(value, shape, (1, 2) if last else (2, 3))
    channels, size = (wide[3], wide[1:3]) if last else (wide[1], wide[2:])
    out = image(shape[0], channels, tuple((n - 3) // stride + 1 for n in size), last)
    weights = (3, 3, channels) if last else (channels, 3, 3)
    layout = "depthwise_conv_2d_nhwc_hwc" if last else "depthwise_conv_2d_nchw_chw"
    f = kernel.input(weights)
    init = kernel.bias(out, 3 if last else 1)
    strides = f"{{strides = dense<{stride}> : tensor<2xi64>}}"
    values = [(value, kernel.kind(wide)), (f, kernel.kind(weights))]
    value = kernel.op(layout, values, init, kernel.kind(out), strides)
    return kernel.relu(value, out, 6.0), out


def window(
    program: Program, channels: int, filters: int, stride: int, tile: tuple[int, int], last: bool, batch: int
) -> None:
    """Depthwise and 1 x 1."""
    kernel = Kernel(program, tile)
    shape = image(batch, channels, (7, 5), last)
    value, shape = depthwise(kernel, kernel.input(shape), shape, stride, last)
    value, shape = conv(kernel, value, shape, filters, 1, 1, last)
    kernel.finish(value, kernel.kind(shape))


def expand(
    program: Program, channels: int, hidden: int, stride: int, tile: tuple[int, int], last: bool, batch: int
) -> None:
    """1 x 1, depthwise and 1 x 1, with a residual where the shape is kept."""
    kernel = Kernel(program, tile)
    shape = first = image(batch, channels, (7, 5), last)
    x = kernel.input(shape)
    value, shape = conv(kernel, x, shape, hidden, 1, 1, last)
    value, shape = depthwise(kernel, kernel.relu(value, shape, 6.0), shape, stride, last)
    value, shape = conv(kernel, value, shape, channels, 1, 1, last)
    if shape == first:
        value = kernel.sum(x, value, shape)
    kernel.finish(value, kernel.kind(shape))


def first(program: Program) -> None:
    """3 x 3 of stride 2, depthwise and 1 x 1."""
    kernel = Kernel(program, (16, 16))
    shape = image(2, 3, (13, 9), False)
    value, wide = kernel.pad(kernel.input(shape), shape, (2, 3))
    value, shape = conv(kernel, value, wide, 12, 3, 2, False)
    value, shape = depthwise(kernel, kernel.relu(value, shape), shape, 1, False)
    value, shape = conv(kernel, value, shape, 5, 1, 1, False)
    kernel.finish(value, kernel.kind(shape))


def pool(program: Program) -> None:
    """A maximum and 3 x 3; a mean and a matmul."""
    kernel = Kernel(program, (16, 64))
    shape, out = (1, 5, 15, 11), (1, 5, 7, 5)
    low = kernel.add("arith.constant -1.0e9 : f32")
    kind = kernel.kind(out)
    init = kernel.add(f"linalg.fill ins({low} : f32) outs({kernel.empty(out)} : {kind}) -> {kind}")
    values = [(kernel.input(shape), kernel.kind(shape)), (kernel.empty((3, 3)), kernel.kind((3, 3)))]
    value = kernel.op("pooling_nchw_max", values, init, kind, "{strides = dense<2> : tensor<2xi64>}")
    value, wide = kernel.pad(kernel.relu(value, out), out, (2, 3))
    value, shape = conv(kernel, value, wide, 9, 3, 1, False)
    kernel.finish(value, kernel.kind(shape))
    for batch, channels, columns, tile in ((1, 40, 70, (1, 64)), (3, 17, 130, (16, 130))):
        kernel = Kernel(program, tile)
        shape, row = (batch, channels, 7, 5), (batch, channels)
        x = kernel.input(shape)
        sums = kernel.add(
            "linalg.generic {indexing_maps = ["
            "affine_map<(n, c, h, w) -> (n, c, h, w)>, affine_map<(n, c, h, w) -> (n, c)>], "
            'iterator_types = ["parallel", "parallel", "reduction", "reduction"]} '
            f"ins({x} : {kernel.kind(shape)}) outs({kernel.zeros(row)} : {kernel.kind(row)}) {{\n"
            "^bb0(%p: f32, %o: f32):\n"
            f"%r = arith.addf %p, %o : f32\nlinalg.yield %r : f32\n}} -> {kernel.kind(row)}"
        )
        lines = ["%n = arith.constant 35.0 : f32", "%r = arith.divf %p, %n : f32"]
        mean = kernel.map(lines, [sums], [kernel.kind(row)], row, "f32")
        out = (batch, columns)
        values = [(mean, kernel.kind(row)), (kernel.input((channels, columns)), kernel.kind((channels, columns)))]
        kernel.finish(kernel.op("matmul", values, kernel.bias(out, 1), kernel.kind(out)), kernel.kind(out))


def matmuls(program: Program, element: str, shape: tuple[int, int, int, int], tile: tuple[int, int]) -> None:
    """Two matmuls with a ReLU between; a residual where the shape is kept."""
    rows, inner, hidden, columns = shape
    kernel = Kernel(program, tile)
    x = kernel.input((rows, inner), element)
    values = [
        (x, kernel.kind((rows, inner), element)),
        (kernel.input((inner, hidden), element), kernel.kind((inner, hidden), element)),
    ]
    middle, out = (rows, hidden), (rows, columns)
    value = kernel.op("matmul", values, kernel.bias(middle, 1), kernel.kind(middle))
    value = kernel.relu(value, middle)
    if element != "f32":
        value = kernel.map(
            [f"%r = arith.truncf %p : f32 to {element}"], [value], [kernel.kind(middle)], middle, element
        )
    weights = kernel.kind((hidden, columns), element)
    values = [(value, kernel.kind(middle, element)), (kernel.input((hidden, columns), element), weights)]
    value = kernel.op("matmul", values, kernel.zeros(out), kernel.kind(out))
    if element == "f32" and inner == columns:
        value = kernel.sum(x, value, out)
    kernel.finish(value, kernel.kind(out))


def add_windows(program: Program, last: bool, batch: int) -> None:
    """Channels 1, 3 and more than a line of weights, stride 1 and 2."""
    for channels, filters, stride, tile in (
        (1, 3, 1, (16, 64)),
        (3, 5, 2, (16, 5)),
        (40, 70, 1, (32, 70)),
        (9, 66, 2, (1, 64)),
    ):
        window(program, channels, filters, stride, tile, last, batch)


def add_expands(program: Program, last: bool, batch: int) -> None:
    """Hidden channels below, at and beyond those that a block has at a time."""
    for channels, hidden, stride, tile in (
        (1, 6, 1, (16, 64)),
        (3, 40, 2, (1, 64)),
        (5, 64, 1, (32, 5)),
        (18, 33, 2, (64, 18)),
    ):
        expand(program, channels, hidden, stride, tile, last, batch)


def add_matmuls(program: Program, batch: int) -> None:
    """With and without a rest of the rows and the hidden columns."""
    matmuls(program, "f32", (batch, 24, 70, 24), (16, 24))
    matmuls(program, "f32", (batch, 7, 32, 65), (64, 64))
    matmuls(program, "f16", (batch, 16, 50, 40), (32, 64))


FORMS: dict[str, list[Callable[[Program], None]]] = {
    "window": [lambda program: add_windows(program, False, 2)],
    "expand": [lambda program: add_expands(program, False, 2)],
    "first": [first],
    "nhwc": [lambda program: add_windows(program, True, 1), lambda program: add_expands(program, True, 1)],
    "pool": [pool],
    "matmuls": [lambda program: add_matmuls(program, 50)],
    "dynamic": [
        lambda program: window(program, 9, 12, 1, (16, 64), False, -1),
        lambda program: expand(program, 4, 40, 1, (16, 4), False, -1),
        lambda program: matmuls(program, "f32", (-1, 24, 40, 24), (32, 24)),
    ],
}


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inputs", type=Path)
    parser.add_argument("forms", nargs="+", choices=list(FORMS))
    options = parser.parse_args()
    program = Program()
    for form in options.forms:
        for add in FORMS[form]:
            add(program)
    if options.inputs:
        save(program, options.inputs)
    print(program.text())


if __name__ == "__main__":
    main()
