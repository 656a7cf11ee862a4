# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention in linalg, as exports spell it: matmul, scale, mask, softmax, matmul.

Usage: attention_program.py BATCH HEADS ROWS LENGTH DEPTH TYPE MASK > program.mlir

`@main(q, k, v[, mask])` on tensors [BATCH, HEADS, ROWS or LENGTH, DEPTH]. TYPE is
f32 or f16, and sums are f32; MASK is none, causal (a comparison of indices), late (the
opposite of it, by minus infinity), additive (a tensor [ROWS, LENGTH]), padding (a tensor
[BATCH, LENGTH]), or wide (a tensor with a dimension of its own, which no attention
kernel holds).
"""

from __future__ import annotations

import sys
from dataclasses import dataclass


@dataclass
class Shape:
    """Extents of one attention."""

    batch: int
    heads: int
    rows: int
    length: int
    depth: int
    element: str
    mask: str

    def tensor(self, *extents: int) -> str:
        """A tensor type of these extents."""
        return f"tensor<{'x'.join(map(str, extents))}x{self.element}>"

    def sums(self, *extents: int) -> str:
        """A tensor type of what is summed: always f32."""
        return f"tensor<{'x'.join(map(str, extents))}xf32>"


MASKS = {"additive": "(b, h, m, n) -> (m, n)", "padding": "(b, h, m, n) -> (b, n)"}


def mask_type(s: Shape) -> str:
    """The type of the mask's tensor, "" without one."""
    extents = {"additive": (s.rows, s.length), "padding": (s.batch, s.length), "wide": (2, s.rows, s.length)}
    return s.tensor(*extents[s.mask]) if s.mask in extents else ""


def generic(
    name: str, maps: list[str], kinds: str, operands: list[tuple[str, str]], out: tuple[str, str], body: str
) -> str:
    """A linalg.generic; `body` names its arguments %0, %1, ... and %out."""
    affine = ", ".join(f"affine_map<{one}>" for one in maps)
    iterators = ", ".join(f'"{ {"p": "parallel", "r": "reduction"}[kind] }"' for kind in kinds)
    element = out[1].rsplit("x", 1)[1][:-1]
    types = [kind.rsplit("x", 1)[1][:-1] for _, kind in operands]
    arguments = ", ".join(f"%a{i}: {kind}" for i, kind in enumerate(types))
    names, kinds_text = ", ".join(one for one, _ in operands), ", ".join(kind for _, kind in operands)
    return (
        f"  {name} = linalg.generic {{indexing_maps = [{affine}], iterator_types = [{iterators}]}}\n"
        f"      ins({names} : {kinds_text}) outs({out[0]} : {out[1]}) {{\n"
        f"  ^bb0({arguments}, %out: {element}):\n{body}  }} -> {out[1]}\n"
    )


def sum_with_mask(s: Shape) -> str:
    """A body that adds the mask %a1 to the score %a0."""
    wide = "" if s.element == "f32" else f"    %x = arith.extf %a1 : {s.element} to f32\n"
    return f"{wide}    %r = arith.addf %a0, {'%x' if wide else '%a1'} : f32\n    linalg.yield %r : f32\n"


def masked(s: Shape, scores: str) -> tuple[str, str]:
    """The operator that masks %scaled; its text and its result."""
    every = "(b, h, m, n) -> (b, h, m, n)"
    if s.mask in ("causal", "late"):
        body = (
            "    %i = linalg.index 2 : index\n    %j = linalg.index 3 : index\n"
            f"    %seen = arith.cmpi {'sle' if s.mask == 'causal' else 'sge'}, %j, %i : index\n"
            f"    %r = arith.select %seen, %a0, {'%low' if s.mask == 'causal' else '%lowest'} : f32\n"
            "    linalg.yield %r : f32\n"
        )
        return generic("%masked", [every, every], "pppp", [("%scaled", scores)], ("%s0", scores), body), "%masked"
    if s.mask in MASKS:
        body = sum_with_mask(s)
        operands = [("%scaled", scores), ("%mask", mask_type(s))]
        return generic("%masked", [every, MASKS[s.mask], every], "pppp", operands, ("%s0", scores), body), "%masked"
    return "", "%scaled"


def softmax(s: Shape, scores: str, source: str) -> str:
    """Softmax of `source` along n, as %p."""
    every, row, e = "(b, h, m, n) -> (b, h, m, n)", "(b, h, m, n) -> (b, h, m)", "f32"
    rows = s.sums(s.batch, s.heads, s.rows)
    text = f"  %r0 = tensor.empty() : {rows}\n"
    for name, value in (("%rlow", "%lowest"), ("%rzero", "%zero")):
        text += f"  {name} = linalg.fill ins({value} : {e}) outs(%r0 : {rows}) -> {rows}\n"

    def body(lines: str) -> str:
        return f"{lines}    linalg.yield %r : {e}\n"

    largest = body(f"    %r = arith.maximumf %a0, %out : {e}\n")
    text += generic("%max", [every, row], "pppr", [(source, scores)], ("%rlow", rows), largest)
    power = body(f"    %d = arith.subf %a0, %a1 : {e}\n    %r = math.exp %d : {e}\n")
    text += generic("%exp", [every, row, every], "pppp", [(source, scores), ("%max", rows)], ("%s0", scores), power)
    total = body(f"    %r = arith.addf %a0, %out : {e}\n")
    text += generic("%sum", [every, row], "pppr", [("%exp", scores)], ("%rzero", rows), total)
    share = f"    %r = arith.divf %a0, %a1 : {e}\n    linalg.yield %r : {e}\n"
    out = ("%s0", scores)
    if s.element != e:
        out = ("%p0", s.tensor(s.batch, s.heads, s.rows, s.length))
        text += f"  %p0 = tensor.empty() : {out[1]}\n"
        share = f"    %d = arith.divf %a0, %a1 : {e}\n    %r = arith.truncf %d : {e} to {s.element}\n"
        share += f"    linalg.yield %r : {s.element}\n"
    return text + generic("%p", [every, row, every], "pppp", [("%exp", scores), ("%sum", rows)], out, share)


def wide(s: Shape, scores: str) -> tuple[str, str, str]:
    """%scaled plus a mask with a dimension of its own: its text, result and type."""
    large, e = s.sums(2, s.batch, s.heads, s.rows, s.length), "f32"
    body = sum_with_mask(s)
    maps = ["(w, b, h, m, n) -> (b, h, m, n)", "(w, b, h, m, n) -> (w, m, n)", "(w, b, h, m, n) -> (w, b, h, m, n)"]
    text = f"  %w0 = tensor.empty() : {large}\n"
    text += generic("%wider", maps, "ppppp", [("%scaled", scores), ("%mask", mask_type(s))], ("%w0", large), body)
    body = f"    %r = arith.maximumf %a0, %out : {e}\n    linalg.yield %r : {e}\n"
    text += f"  %n0 = linalg.fill ins(%lowest : {e}) outs(%s0 : {scores}) -> {scores}\n"
    maps = ["(b, h, m, n, w) -> (w, b, h, m, n)", "(b, h, m, n, w) -> (b, h, m, n)"]
    return text + generic("%masked", maps, "ppppr", [("%wider", large)], ("%n0", scores), body), "%masked", large


def program(s: Shape) -> str:
    """The module."""
    q, k = s.tensor(s.batch, s.heads, s.rows, s.depth), s.tensor(s.batch, s.heads, s.length, s.depth)
    flat = s.batch * s.heads
    fq, fk = s.tensor(flat, s.rows, s.depth), s.tensor(flat, s.length, s.depth)
    ft, fs, fp = s.tensor(flat, s.depth, s.length), s.sums(flat, s.rows, s.length), s.tensor(flat, s.rows, s.length)
    fo, scores, e = s.sums(flat, s.rows, s.depth), s.sums(s.batch, s.heads, s.rows, s.length), "f32"
    extra = f", %mask: {mask_type(s)}" if mask_type(s) else ""
    text = f"func.func @main(%q: {q}, %k: {k}, %v: {k}{extra}) -> {q} {{\n"
    text += f"  %zero = arith.constant 0.0 : {e}\n  %lowest = arith.constant 0xFF800000 : {e}\n"
    text += f"  %low = arith.constant -1.0e4 : {e}\n  %scale = arith.constant {s.depth**-0.5} : {e}\n"
    for name, source, wider, flatter in (("%fq", "%q", q, fq), ("%fk", "%k", k, fk), ("%fv", "%v", k, fk)):
        text += f"  {name} = tensor.collapse_shape {source} [[0, 1], [2], [3]] : {wider} into {flatter}\n"
    text += f"  %t0 = tensor.empty() : {ft}\n"
    text += f"  %t = linalg.transpose ins(%fk : {fk}) outs(%t0 : {ft}) permutation = [0, 2, 1]\n"
    text += f"  %f0 = tensor.empty() : {fs}\n  %f1 = linalg.fill ins(%zero : {e}) outs(%f0 : {fs}) -> {fs}\n"
    text += f"  %f = linalg.batch_matmul ins(%fq, %t : {fq}, {ft}) outs(%f1 : {fs}) -> {fs}\n"
    shape = f"[{s.batch}, {s.heads}, {s.rows}, {s.length}]"
    text += f"  %s = tensor.expand_shape %f [[0, 1], [2], [3]] output_shape {shape} : {fs} into {scores}\n"
    text += f"  %s0 = tensor.empty() : {scores}\n"
    body, every = f"    %r = arith.mulf %a0, %scale : {e}\n    linalg.yield %r : {e}\n", "(b, h, m, n) -> (b, h, m, n)"
    text += generic("%scaled", [every, every], "pppp", [("%s", scores)], ("%s0", scores), body)
    part, source = wide(s, scores)[:2] if s.mask == "wide" else masked(s, scores)
    text += part + softmax(s, scores, source)
    shares = s.tensor(s.batch, s.heads, s.rows, s.length)
    text += f"  %fp = tensor.collapse_shape %p [[0, 1], [2], [3]] : {shares} into {fp}\n"
    text += f"  %o0 = tensor.empty() : {fo}\n  %o1 = linalg.fill ins(%zero : {e}) outs(%o0 : {fo}) -> {fo}\n"
    text += f"  %fo = linalg.batch_matmul ins(%fp, %fv : {fp}, {fk}) outs(%o1 : {fo}) -> {fo}\n"
    result = "%fo"
    if s.element != e:
        body = f"    %r = arith.truncf %a0 : {e} to {s.element}\n    linalg.yield %r : {s.element}\n"
        text += f"  %n1 = tensor.empty() : {fq}\n"
        maps = 2 * ["(b, m, d) -> (b, m, d)"]
        text += generic("%narrow", maps, "ppp", [("%fo", fo)], ("%n1", fq), body)
        result = "%narrow"
    shape = f"[{s.batch}, {s.heads}, {s.rows}, {s.depth}]"
    text += f"  %o = tensor.expand_shape {result} [[0, 1], [2], [3]] output_shape {shape} : {fq} into {q}\n"
    return text + f"  return %o : {q}\n}}\n"


def main(arguments: list[str]) -> int:
    """Command line; returns the exit status."""
    if len(arguments) != 7:
        print(__doc__, file=sys.stderr)
        return 2
    print(program(Shape(*map(int, arguments[:5]), *arguments[5:])), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
