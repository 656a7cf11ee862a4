#!/usr/bin/env python3
# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Write every named convolution of linalg with batch norm behind it as MLIR.

Usage: conv_bn_named.py

The function `floats` returns one normalised tensor for each float convolution,
`quantised` one for each quantised one. The installed dialect says which there
are; a convolution that this file has no layout for is an error (status 1).
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass

from run_mlir import llvm_bin

#: Name, and what the dimensions of input, filter and result run over: batch,
#: group, input and output channel, multiplier, positions (upper case) and taps.
LAYOUTS = """
conv_1d X x X
conv_2d XY xy XY
conv_3d XYZ xyz XYZ
conv_1d_nwc_wcf nXc xcf nXf
conv_1d_ncw_fcw ncX fcx nfX
conv_2d_nhwc_hwcf nXYc xycf nXYf
conv_2d_nhwc_fhwc nXYc fxyc nXYf
conv_2d_nchw_fchw ncXY fcxy nfXY
conv_2d_ngchw_fgchw ngcXY fgcxy ngfXY
conv_2d_ngchw_gfchw ngcXY gfcxy ngfXY
conv_2d_nhwgc_gfhwc nXYgc gfxyc nXYgf
conv_3d_ndhwc_dhwcf nXYZc xyzcf nXYZf
conv_3d_ncdhw_fcdhw ncXYZ fcxyz nfXYZ
depthwise_conv_1d_nwc_wc nXg xg nXg
depthwise_conv_1d_ncw_cw ngX gx ngX
depthwise_conv_1d_nwc_wcm nXg xgm nXgm
depthwise_conv_2d_nhwc_hwc nXYg xyg nXYg
depthwise_conv_2d_nchw_chw ngXY gxy ngXY
depthwise_conv_2d_nhwc_hwcm nXYg xygm nXYgm
depthwise_conv_3d_ndhwc_dhwc nXYZg xyzg nXYZg
depthwise_conv_3d_ncdhw_cdhw ngXYZ gxyz ngXYZ
depthwise_conv_3d_ndhwc_dhwcm nXYZg xyzgm nXYZgm
"""
EXTENTS = {"n": 2, "c": 3, "f": 4, "g": 3, "m": 2, "x": 2, "y": 2, "z": 2, "X": 3, "Y": 3, "Z": 3}
DIALECT = "mlir/Dialect/Linalg/IR/LinalgNamedStructuredOps.yamlgen.td"


@dataclass(frozen=True)
class Convolution:
    name: str
    layout: tuple[str, str, str]  # of input, filter and result

    @property
    def quantised(self) -> bool:
        return self.name.endswith("_q")


def convolutions() -> list[Convolution]:
    """Every named convolution of the installed dialect. A quantised one has the layout of the other."""
    layouts = {}
    for line in LAYOUTS.split("\n"):
        if line:
            name, x, w, out = line.split()
            layouts[name] = (x, w, out)
    dialect = (llvm_bin().parent / "include" / DIALECT).read_text(encoding="utf-8")
    names = re.findall(r'LinalgStructuredBase_Op<"(\w*conv_\w+)"', dialect)
    unknown = [name for name in names if name.removesuffix("_q") not in layouts]
    if not names or unknown:
        sys.exit(f"conv_bn_named.py: no layout for {unknown or 'any convolution'}")
    return [Convolution(name, layouts[name.removesuffix("_q")]) for name in names]


def tensor(letters: str, element: str, border: int = 0) -> str:
    extents = [EXTENTS[letter] + border * letter.isupper() for letter in letters]
    return f"tensor<{''.join(f'{extent}x' for extent in extents)}{element}>"


def operations(conv: Convolution, number: int) -> tuple[list[str], list[str], str, str]:
    """Arguments, operations, result and its type. Each filter has two taps along a position."""
    x, w, out = conv.layout
    element, sum_element = ("i8", "i32") if conv.quantised else ("f32", "f32")
    channels = "".join(letter for letter in out if letter in "gfm")
    types = {"x": tensor(x, element, border=1), "w": tensor(w, element)}
    per_channel = tensor(channels, "f32")
    args = [f"%x{number}: {types['x']}", f"%w{number}: {types['w']} {{fuse.param}}"]
    args += [f"%{name}{number}: {per_channel} {{fuse.param}}" for name in "sb"]
    operands, operand_types = f"%x{number}, %w{number}", f"{types['x']}, {types['w']}"
    if conv.quantised:
        operands, operand_types = f"{operands}, %point, %point", f"{operand_types}, i32, i32"
    sums, result = tensor(out, sum_element), tensor(out, "f32")
    dims = ", ".join(f"d{dim}" for dim in range(len(out)))
    identity = f"affine_map<({dims}) -> ({dims})>"
    channel = f"affine_map<({dims}) -> ({', '.join(f'd{out.index(letter)}' for letter in channels)})>"
    loops = ", ".join(['"parallel"'] * len(out))
    convert = "    %f = arith.sitofp %i : i32 to f32\n" if conv.quantised else ""
    lines = [
        f"  %e{number} = tensor.empty() : {sums}",
        f"  %f{number} = linalg.fill ins(%zero : {sum_element}) outs(%e{number} : {sums}) -> {sums}",
        f"  %y{number} = linalg.{conv.name} ins({operands} : {operand_types}) outs(%f{number} : {sums}) -> {sums}",
        f"  %o{number} = tensor.empty() : {result}",
        f"  %z{number} = linalg.generic {{indexing_maps = [{identity}, {channel}, {channel}, {identity}], "
        f"iterator_types = [{loops}]}} ins(%y{number}, %s{number}, %b{number} : {sums}, {per_channel}, {per_channel}) "
        f"outs(%o{number} : {result}) {{\n  ^bb0(%i: {sum_element}, %si: f32, %bi: f32, %oi: f32):\n{convert}"
        f"    %m = arith.mulf {'%f' if conv.quantised else '%i'}, %si : f32\n    %a = arith.addf %m, %bi : f32\n"
        f"    linalg.yield %a : f32\n  }} -> {result}",
    ]
    return args, lines, f"%z{number}", result


def function(name: str, zero: str, members: list[Convolution]) -> str:
    args, lines, results, types = [], [f"  %zero = arith.constant {zero}"], [], []
    if members[0].quantised:
        lines.append("  %point = arith.constant 1 : i32")
    for number, conv in enumerate(members):
        more_args, more_lines, result, result_type = operations(conv, number)
        args += more_args
        lines += more_lines
        results.append(result)
        types.append(result_type)
    head = f"func.func @{name}({', '.join(args)}) -> ({', '.join(types)}) {{"
    tail = f"  return {', '.join(results)} : {', '.join(types)}\n}}"
    return "\n".join([head, *lines, tail])


def main() -> None:
    found = convolutions()
    print(function("floats", "0.0 : f32", [conv for conv in found if not conv.quantised]))
    print(function("quantised", "0 : i32", [conv for conv in found if conv.quantised]))


if __name__ == "__main__":
    main()
