#!/usr/bin/env python3
# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Print a program with one mma.sync of a given shape, whose fragments are filled and read element by element after the
layouts of the PTX ISA ("Matrix Fragments for mma.m16n8k..."), written out here anew.

Usage: gen_mma_shapes.py K TYPE [SUMS]

K is 4, 8 or 16; TYPE f16, bf16 or tf32; SUMS, the type of C and of the result, f32 or, for f16 only, f16. All
elements are small whole numbers, so that the result is exact: A (16 x K), B (K x 8) and C (16 x 8) are saved as
argument0 to argument2, the result as result0.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field

#: (row, column) of element i of a fragment, as expressions of group g and member t of the lane.
A_LAYOUT = {
    (16, 16): lambda i: (f"g + {8 if i in (2, 3, 6, 7) else 0}", f"t * 2 + {i % 2 + (8 if i >= 4 else 0)}"),
    (16, 8): lambda i: (f"g + {8 if i >= 2 else 0}", f"t * 2 + {i % 2}"),
    (32, 8): lambda i: (f"g + {8 if i in (1, 3) else 0}", f"t + {4 if i >= 2 else 0}"),
    (32, 4): lambda i: (f"g + {8 if i == 1 else 0}", "t"),
}
B_LAYOUT = {
    (16, 16): lambda i: (f"t * 2 + {i % 2 + (8 if i >= 2 else 0)}", "g"),
    (16, 8): lambda i: (f"t * 2 + {i}", "g"),
    (32, 8): lambda i: (f"t + {4 if i == 1 else 0}", "g"),
    (32, 4): lambda i: ("t", "g"),
}


def c_layout(i: int) -> tuple[str, str]:
    return f"g + {8 if i >= 2 else 0}", f"t * 2 + {i % 2}"


@dataclass
class Program:
    k: int
    type: str
    sums: str = "f32"
    lines: list[str] = field(default_factory=list)

    def element(self, memref: str, shape: str, place: tuple[str, str], name: str, kind: str) -> str:
        """Loads a whole number as a floating point one."""
        row, column = place
        self.lines += [
            f"%{name}r = affine.apply affine_map<(g, t) -> ({row})>(%g, %t)",
            f"%{name}c = affine.apply affine_map<(g, t) -> ({column})>(%g, %t)",
            f"%{name}i = memref.load %{memref}[%{name}r, %{name}c] : memref<{shape}xi32>",
            f"%{name} = arith.sitofp %{name}i : i32 to {kind}",
        ]
        return f"%{name}"

    def registers(self, values: list[str], name: str, kind: str) -> list[tuple[str, str]]:
        """The operands that hold the elements: pairs in vectors or words, or one by one."""
        if kind == "f32":
            return [(value, "f32") for value in values]
        if kind == "tf32":
            for at, value in enumerate(values):
                self.lines.append(f"%{name}w{at} = arith.bitcast {value} : f32 to i32")
            return [(f"%{name}w{at}", "i32") for at in range(len(values))]
        operands = []
        for at in range(0, len(values), 2):
            vector = f"%{name}v{at}"
            pair = f"{values[at]}, {values[at + 1]}"
            self.lines.append(f"{vector} = vector.from_elements {pair} : vector<2x{kind}>")
            if kind == "bf16":
                self.lines.append(f"{vector}w = llvm.bitcast {vector} : vector<2xbf16> to i32")
            operands.append((vector, "vector<2xf16>") if kind == "f16" else (f"{vector}w", "i32"))
        return operands

    def multiply(self) -> None:
        bits = 32 if self.type == "tf32" else 16
        host = "f32" if self.type == "tf32" else self.type
        k = self.k
        a_place, b_place = A_LAYOUT[bits, k], B_LAYOUT[bits, k]
        a = [self.element("a", f"16x{k}", a_place(i), f"a{i}", host) for i in range(k // 2)]
        b = [self.element("b", f"{k}x8", b_place(i), f"b{i}", host) for i in range(k // 4)]
        c = [self.element("c", "16x8", c_layout(i), f"c{i}", self.sums) for i in range(4)]
        operands = self.registers(a, "a", self.type) + self.registers(b, "b", self.type)
        operands += self.registers(c, "c", self.sums)
        name = f"llvm.nvvm.mma.m16n8k{k}.row.col."
        name += f"{self.sums}.{self.sums}" if self.type == "f16" else self.type
        parts = ["f32"] * 4 if self.sums == "f32" else ["vector<2xf16>"] * 2
        struct = f"!llvm.struct<({', '.join(parts)})>"
        self.lines.append(
            f'%d = llvm.call_intrinsic "{name}"({", ".join(value for value, _ in operands)})'
            f" : ({', '.join(kind for _, kind in operands)}) -> {struct}"
        )
        for i in range(4):
            row, column = c_layout(i)
            if self.sums == "f32":
                self.lines.append(f"%x{i} = llvm.extractvalue %d[{i}] : {struct}")
            else:
                self.lines += [
                    f"%p{i} = llvm.extractvalue %d[{i // 2}] : {struct}",
                    f"%h{i} = vector.extract %p{i}[{i % 2}] : f16 from vector<2xf16>",
                    f"%x{i} = arith.extf %h{i} : f16 to f32",
                ]
            self.lines += [
                f"%d{i}r = affine.apply affine_map<(g, t) -> ({row})>(%g, %t)",
                f"%d{i}c = affine.apply affine_map<(g, t) -> ({column})>(%g, %t)",
                f"memref.store %x{i}, %d0[%d{i}r, %d{i}c] : memref<16x8xf32>",
            ]

    def text(self) -> str:
        self.multiply()
        return TEXT.format(k=self.k, body="\n      ".join(self.lines))


TEXT = """
module attributes {{gpu.container_module}} {{
  gpu.module @kernels {{
    gpu.func @mma(%a: memref<16x{k}xi32>, %b: memref<{k}x8xi32>, %c: memref<16x8xi32>, %d0: memref<16x8xf32>) kernel {{
      %four = arith.constant 4 : index
      %lane = gpu.lane_id
      %g = arith.divui %lane, %four : index
      %t = arith.remui %lane, %four : index
      {body}
      gpu.return
    }}
  }}

  func.func private @fuseFillI32(memref<*xi32>, i64) attributes {{llvm.emit_c_interface}}
  func.func private @fuseSaveI32(memref<*xi32>, i64, i64) attributes {{llvm.emit_c_interface}}
  func.func private @fuseSaveF32(memref<*xf32>, i64, i64) attributes {{llvm.emit_c_interface}}
  func.func @main() {{
    %zero = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %two = arith.constant 2 : i64
    %a = memref.alloc() : memref<16x{k}xi32>
    %b = memref.alloc() : memref<{k}x8xi32>
    %c = memref.alloc() : memref<16x8xi32>
    %d = memref.alloc() : memref<16x8xf32>
    %ua = memref.cast %a : memref<16x{k}xi32> to memref<*xi32>
    %ub = memref.cast %b : memref<{k}x8xi32> to memref<*xi32>
    %uc = memref.cast %c : memref<16x8xi32> to memref<*xi32>
    %ud = memref.cast %d : memref<16x8xf32> to memref<*xf32>
    call @fuseFillI32(%ua, %zero) : (memref<*xi32>, i64) -> ()
    call @fuseFillI32(%ub, %one) : (memref<*xi32>, i64) -> ()
    call @fuseFillI32(%uc, %two) : (memref<*xi32>, i64) -> ()
    call @fuseSaveI32(%ua, %zero, %one) : (memref<*xi32>, i64, i64) -> ()
    call @fuseSaveI32(%ub, %one, %one) : (memref<*xi32>, i64, i64) -> ()
    call @fuseSaveI32(%uc, %two, %one) : (memref<*xi32>, i64, i64) -> ()
    gpu.host_register %ua : memref<*xi32>
    gpu.host_register %ub : memref<*xi32>
    gpu.host_register %uc : memref<*xi32>
    gpu.host_register %ud : memref<*xf32>
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    gpu.launch_func @kernels::@mma blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1)
        args(%a: memref<16x{k}xi32>, %b: memref<{k}x8xi32>, %c: memref<16x8xi32>, %d: memref<16x8xf32>)
    call @fuseSaveF32(%ud, %zero, %zero) : (memref<*xf32>, i64, i64) -> ()
    return
  }}
}}
"""


if __name__ == "__main__":
    print(Program(int(sys.argv[1]), *sys.argv[2:]).text())
