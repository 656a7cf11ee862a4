#!/usr/bin/env python3
# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Print a program in the llvm dialect that loads a file as a device module by mgpuModuleLoad.

Usage: load_image.py FILE [--kernel=NAME] [--cut=BYTES] [--flip=BYTE]

A FILE that ends in .ll is assembled first, as it is, by llvm-as on PATH. --kernel looks a kernel up and launches it
with one block of 32 threads and no arguments. --cut keeps the first BYTES only, --flip inverts the byte at an
offset.
"""

from __future__ import annotations

import argparse
import subprocess
from pathlib import Path

PROGRAM = """
llvm.mlir.global internal constant @image("{image}") {{alignment = 16 : i64}}
llvm.mlir.global internal constant @name("{name}\\00")
llvm.func @mgpuModuleLoad(!llvm.ptr, i64) -> !llvm.ptr
llvm.func @mgpuModuleUnload(!llvm.ptr)
llvm.func @mgpuModuleGetFunction(!llvm.ptr, !llvm.ptr) -> !llvm.ptr
llvm.func @mgpuLaunchKernel(!llvm.ptr, i64, i64, i64, i64, i64, i64, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, i64)
llvm.func @main() {{
  %image = llvm.mlir.addressof @image : !llvm.ptr
  %size = llvm.mlir.constant({size} : i64) : i64
  %module = llvm.call @mgpuModuleLoad(%image, %size) : (!llvm.ptr, i64) -> !llvm.ptr
{launch}
  llvm.call @mgpuModuleUnload(%module) : (!llvm.ptr) -> ()
  llvm.return
}}
"""

LAUNCH = """
  %name = llvm.mlir.addressof @name : !llvm.ptr
  %kernel = llvm.call @mgpuModuleGetFunction(%module, %name) : (!llvm.ptr, !llvm.ptr) -> !llvm.ptr
  %one = llvm.mlir.constant(1 : i64) : i64
  %warp = llvm.mlir.constant(32 : i64) : i64
  %zero = llvm.mlir.constant(0 : i64) : i64
  %none = llvm.mlir.constant(0 : i32) : i32
  %null = llvm.mlir.zero : !llvm.ptr
  llvm.call @mgpuLaunchKernel(%kernel, %one, %one, %one, %warp, %one, %one, %none, %null, %null, %null, %zero)
      : (!llvm.ptr, i64, i64, i64, i64, i64, i64, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, i64) -> ()"""


def main() -> None:
    parser = argparse.ArgumentParser(description="A program that loads a device module.")
    parser.add_argument("file", type=Path)
    parser.add_argument("--kernel", default="")
    parser.add_argument("--cut", type=int)
    parser.add_argument("--flip", type=int)
    options = parser.parse_args()
    if options.file.suffix == ".ll":
        content = subprocess.run(
            ["llvm-as", "--disable-verify", options.file, "-o", "-"], stdout=subprocess.PIPE, check=True
        ).stdout
    else:
        content = options.file.read_bytes()
    data = bytearray(content[: options.cut])
    if options.flip is not None:
        data[options.flip % len(data)] ^= 0xFF
    image = "".join(f"\\{byte:02X}" for byte in data)
    launch = LAUNCH if options.kernel else ""
    print(PROGRAM.format(image=image, size=len(data), name=options.kernel, launch=launch))


if __name__ == "__main__":
    main()
