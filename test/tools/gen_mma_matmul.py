#!/usr/bin/env python3
# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Print a program that multiplies two f16 matrices into f32 by mma.sync m16n8k16 on a GPU.

Usage: gen_mma_matmul.py M N K [--seed=N] [--break=wait|barrier|lane] [--no-save]

A block of 4 warps computes a 64 x 64 tile in steps of K = 16; tiles come by cp.async into one of two buffers while the
other is multiplied, fragments by ldmatrix. M and N are multiples of 64, K of 16. --break leaves the wait for the copies
or the barrier behind it out, or takes the wrong lane for the rows of A. The inputs and the result are saved
(argument0, argument1, result0) by the runtime of the tests unless --no-save is given.
"""

from __future__ import annotations

import argparse

KERNEL = """
module attributes {{gpu.container_module}} {{
  gpu.module @kernels {{
    gpu.func @matmul(%a: memref<{m}x{k}xf16>, %b: memref<{k}x{n}xf16>, %c: memref<{m}x{n}xf32>)
        workgroup(%sa: memref<2x64x24xf16, #gpu.address_space<workgroup>>,
                  %sb: memref<2x16x72xf16, #gpu.address_space<workgroup>>) kernel {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c4 = arith.constant 4 : index
      %c8 = arith.constant 8 : index
      %c16 = arith.constant 16 : index
      %c32 = arith.constant 32 : index
      %c64 = arith.constant 64 : index
      %ck = arith.constant {k} : index
      %t = gpu.thread_id x
      %bx = gpu.block_id x
      %by = gpu.block_id y
      %row0 = arith.muli %by, %c64 : index
      %col0 = arith.muli %bx, %c64 : index
      %lane = arith.remui %t, %c32 : index
      %warp = arith.divui %t, %c32 : index
      %warpRow = arith.divui %warp, %c2 : index
      %warpCol = arith.remui %warp, %c2 : index
      %wr = arith.muli %warpRow, %c32 : index
      %wc = arith.muli %warpCol, %c32 : index
      // The 8 elements that this thread copies of each tile.
      %aRow = arith.divui %t, %c2 : index
      %aHalf = arith.remui %t, %c2 : index
      %aCol = arith.muli %aHalf, %c8 : index
      %bRow = arith.divui %t, %c8 : index
      %bPart = arith.remui %t, %c8 : index
      %bCol = arith.muli %bPart, %c8 : index
      %gRow = arith.addi %row0, %aRow : index
      %gCol = arith.addi %col0, %bCol : index
      // The row address that this lane gives to ldmatrix.
      %mRow = arith.remui {matrix_lane}, %c16 : index
      %mHalf = arith.divui %lane, %c16 : index
      %mCol = arith.muli %mHalf, %c8 : index
      %first = nvgpu.device_async_copy %a[%gRow, %aCol], %sa[%c0, %aRow, %aCol], 8
              : memref<{m}x{k}xf16> to memref<2x64x24xf16, #gpu.address_space<workgroup>>
      %second = nvgpu.device_async_copy %b[%bRow, %gCol], %sb[%c0, %bRow, %bCol], 8
              : memref<{k}x{n}xf16> to memref<2x16x72xf16, #gpu.address_space<workgroup>>
      %group = nvgpu.device_async_create_group %first, %second
      %zero = arith.constant dense<0.0> : vector<2x2xf32>
      %sums:8 = scf.for %kk = %c0 to %ck step %c16 iter_args({iter_args})
          -> ({types}) {{
        %step = arith.divui %kk, %c16 : index
        %now = arith.remui %step, %c2 : index
        %then = arith.subi %c1, %now : index
        %next = arith.addi %kk, %c16 : index
        %more = arith.cmpi ult, %next, %ck : index
        scf.if %more {{
          %ac = arith.addi %next, %aCol : index
          %br = arith.addi %next, %bRow : index
          %x = nvgpu.device_async_copy %a[%gRow, %ac], %sa[%then, %aRow, %aCol], 8
              : memref<{m}x{k}xf16> to memref<2x64x24xf16, #gpu.address_space<workgroup>>
          %y = nvgpu.device_async_copy %b[%br, %gCol], %sb[%then, %bRow, %bCol], 8
              : memref<{k}x{n}xf16> to memref<2x16x72xf16, #gpu.address_space<workgroup>>
        }}
        %g = nvgpu.device_async_create_group
        {wait}
        {barrier}
{body}
        gpu.barrier
        scf.yield {yields} : {types}
      }}
      %g4 = arith.divui %lane, %c4 : index
      %m4 = arith.remui %lane, %c4 : index
      %pair = arith.muli %m4, %c2 : index
      %r0 = arith.addi %row0, %wr : index
      %r1 = arith.addi %r0, %g4 : index
      %q0 = arith.addi %col0, %wc : index
      %q1 = arith.addi %q0, %pair : index
{stores}
      gpu.return
    }}
  }}
{host}
}}
"""

HOST = """
  func.func private @fuseFillF16(memref<*xf16>, i64) attributes {{llvm.emit_c_interface}}
  func.func private @fuseSaveF16(memref<*xf16>, i64, i64) attributes {{llvm.emit_c_interface}}
  func.func private @fuseSaveF32(memref<*xf32>, i64, i64) attributes {{llvm.emit_c_interface}}
  func.func @main() {{
    %a = memref.alloc() : memref<{m}x{k}xf16>
    %b = memref.alloc() : memref<{k}x{n}xf16>
    %c = memref.alloc() : memref<{m}x{n}xf32>
    %ua = memref.cast %a : memref<{m}x{k}xf16> to memref<*xf16>
    %ub = memref.cast %b : memref<{k}x{n}xf16> to memref<*xf16>
    %uc = memref.cast %c : memref<{m}x{n}xf32> to memref<*xf32>
    %s0 = arith.constant {seed} : i64
    %s1 = arith.constant {seed_b} : i64
    %zero = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    call @fuseFillF16(%ua, %s0) : (memref<*xf16>, i64) -> ()
    call @fuseFillF16(%ub, %s1) : (memref<*xf16>, i64) -> ()
    gpu.host_register %ua : memref<*xf16>
    gpu.host_register %ub : memref<*xf16>
    gpu.host_register %uc : memref<*xf32>
    %c1 = arith.constant 1 : index
    %gx = arith.constant {grid_x} : index
    %gy = arith.constant {grid_y} : index
    %threads = arith.constant 128 : index
    gpu.launch_func @kernels::@matmul blocks in (%gx, %gy, %c1) threads in (%threads, %c1, %c1)
        args(%a: memref<{m}x{k}xf16>, %b: memref<{k}x{n}xf16>, %c: memref<{m}x{n}xf32>)
    {save}
    return
  }}
"""

SAVE = """call @fuseSaveF16(%ua, %zero, %one) : (memref<*xf16>, i64, i64) -> ()
    call @fuseSaveF16(%ub, %one, %one) : (memref<*xf16>, i64, i64) -> ()
    call @fuseSaveF32(%uc, %zero, %zero) : (memref<*xf32>, i64, i64) -> ()"""

SHARED = "#gpu.address_space<workgroup>"


def fragments() -> list[str]:
    """Loads two fragments of A (16 rows each) and four of B (8 columns each), and multiplies."""
    lines: list[str] = []
    for i in range(2):
        lines += [
            f"%ro{i} = arith.constant {16 * i} : index",
            f"%ra{i} = arith.addi %wr, %ro{i} : index",
            f"%rb{i} = arith.addi %ra{i}, %mRow : index",
            f"%fa{i} = nvgpu.ldmatrix %sa[%now, %rb{i}, %mCol] {{numTiles = 4 : i32, transpose = false}}"
            f" : memref<2x64x24xf16, {SHARED}> -> vector<4x2xf16>",
        ]
    for j in range(4):
        lines += [
            f"%co{j} = arith.constant {8 * j} : index",
            f"%cb{j} = arith.addi %wc, %co{j} : index",
            f"%b{j} = nvgpu.ldmatrix %sb[%now, %mRow, %cb{j}] {{numTiles = 2 : i32, transpose = true}}"
            f" : memref<2x16x72xf16, {SHARED}> -> vector<2x2xf16>",
        ]
    for i in range(2):
        for j in range(4):
            lines.append(
                f"%d{4 * i + j} = nvgpu.mma.sync(%fa{i}, %b{j}, %acc{4 * i + j}) {{mmaShape = [16, 8, 16]}}"
                " : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>"
            )
    return lines


def stores(m: int, n: int) -> list[str]:
    lines: list[str] = []
    for tile in range(8):
        for half in range(2):
            name = f"{tile}_{half}"
            lines += [
                f"%ro_{name} = arith.constant {16 * (tile // 4) + 8 * half} : index",
                f"%co_{name} = arith.constant {8 * (tile % 4)} : index",
                f"%r_{name} = arith.addi %r1, %ro_{name} : index",
                f"%q_{name} = arith.addi %q1, %co_{name} : index",
                f"%v_{name} = vector.extract %sums#{tile}[{half}] : vector<2xf32> from vector<2x2xf32>",
                f"vector.store %v_{name}, %c[%r_{name}, %q_{name}] : memref<{m}x{n}xf32>, vector<2xf32>",
            ]
    return lines


def program(m: int, n: int, k: int, seed: int = 1, broken: str = "", saves: bool = True) -> str:
    indent = "\n        "
    host = HOST.format(
        m=m, n=n, k=k, seed=seed, seed_b=seed + 1, grid_x=n // 64, grid_y=m // 64, save=SAVE if saves else ""
    )
    return KERNEL.format(
        m=m,
        n=n,
        k=k,
        matrix_lane="%warp" if broken == "lane" else "%lane",
        wait="" if broken == "wait" else "nvgpu.device_async_wait %g {numGroups = 1 : i32}",
        barrier="" if broken == "barrier" else "gpu.barrier",
        iter_args=", ".join(f"%acc{i} = %zero" for i in range(8)),
        types=", ".join(["vector<2x2xf32>"] * 8),
        yields=", ".join(f"%d{i}" for i in range(8)),
        body=indent[1:] + indent.join(fragments()),
        stores=indent[1:] + indent.join(stores(m, n)),
        host=host,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="An f16 matmul by mma.sync.")
    parser.add_argument("sizes", type=int, nargs=3, metavar="SIZE")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--break", dest="broken", choices=["wait", "barrier", "lane"], default="")
    parser.add_argument("--no-save", action="store_true")
    options = parser.parse_args()
    m, n, k = options.sizes
    if m % 64 or n % 64 or k % 16 or min(m, n, k) < 1:
        parser.error(f"sizes {m} {n} {k}, expected multiples of 64, 64 and 16")
    print(program(m, n, k, options.seed, options.broken, not options.no_save))


if __name__ == "__main__":
    main()
