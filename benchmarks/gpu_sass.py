#!/usr/bin/env python3
# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Instructions of the hottest loop of GPU kernels, as ptxas makes them.

Usage: gpu_sass.py [FILE...] [--fuse-opt=TOOL] [--chips=sm_80,sm_90] [--check]

Plans each program for each chip, compiles it by fuse-opt --fuse-to-nvvm and ptxas, and prints a line for each kernel:
  loop       instructions of the largest of its innermost loops, without NOP; of the kernel if it has no loop
  tensor     share of them that are tensor core instructions (HMMA and the like)
  copies     asynchronous copies to shared memory among them (LDGSTS)
  stages     tiles in flight and in use: groups of copies that the loop leaves pending when it waits (DEPBAR.LE SB0, n),
             the one that it waited for and the one that it starts; 0 without copies
  registers, shared memory and bytes spilled, as ptxas says.
Without FILE: f16 x f16 with f32 sums + bias, GELU -> f16, 4096 x 4096 x 4096.

--check fails if a kernel has a loop of less than half tensor core instructions, fewer than 3 stages, or spills.
ptxas and nvdisasm are looked for on PATH, in CUDA_HOME and CUDA_PATH, and in the Python packages
nvidia-cuda-nvcc and nvidia-nvdisasm. Exit status: 0; 1 if --check fails; 2 if a tool is missing or fails.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import site
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "test" / "tools"))

from ptx_of import ptx_of  # noqa: E402

PACKAGES = {"ptxas": "nvidia-cuda-nvcc", "nvdisasm": "nvidia-nvdisasm"}
LEAST_SHARE = 0.5
LEAST_STAGES = 3
PROGRAM = ROOT / "test" / "Lowering" / "Inputs" / "half-gelu.mlir"
EXTENT = 4096
INSTRUCTION = re.compile(r"^\s+/\*([0-9a-f]{4,})\*/\s+(?:@!?\w+\s+)?([A-Z0-9_.]+)(.*);")
LABEL = re.compile(r"^(\.L_x_\d+):")
SECTION = re.compile(r"^\.text\.(\w+):")
TENSOR = re.compile(r"^[HIDQO]G?MMA\b")


class ToolError(Exception):
    """A tool is missing or fails."""


@dataclass
class Instruction:
    address: int
    name: str
    operands: str


@dataclass
class Kernel:
    """What is known of a kernel; counts are of its hottest loop."""

    name: str
    instructions: int
    tensor: int
    copies: int
    stages: int
    registers: int = 0
    shared: int = 0
    spills: int = 0

    @property
    def share(self) -> float:
        return self.tensor / max(1, self.instructions)


def find_tool(name: str) -> str:
    """The path of a CUDA tool; raises ToolError, which says where it would be found."""
    if found := shutil.which(name):
        return found
    toolkits = [os.environ.get(variable) for variable in ("CUDA_HOME", "CUDA_PATH")]
    folders = [Path(toolkit) / "bin" for toolkit in toolkits if toolkit]
    for packages in [*sys.path, *site.getsitepackages(), site.getusersitepackages()]:
        folders += sorted(Path(packages or ".").glob("nvidia/cu*/bin"))
    for folder in folders:
        if os.access(folder / name, os.X_OK):
            return str(folder / name)
    raise ToolError(f"{name} is not found: put a CUDA toolkit on PATH or install the Python package {PACKAGES[name]}")


def run(command: list[str], program: str | None = None) -> str:
    """Standard output and error of a command; raises ToolError if it fails."""
    done = subprocess.run(command, input=program, capture_output=True, text=True, check=False, errors="replace")
    if done.returncode:
        raise ToolError(f"{command[0]} fails with exit status {done.returncode}: {done.stderr.strip()[:2000]}")
    return done.stdout + done.stderr


def read_sass(text: str) -> Iterator[tuple[str, list[Instruction], dict[str, int]]]:
    """Name, instructions and labels of each function in what nvdisasm prints."""
    name, instructions, labels, pending = "", [], {}, []
    for line in text.splitlines():
        if section := SECTION.match(line):
            if name:
                yield name, instructions, labels
            name, instructions, labels, pending = section[1], [], {}, []
        elif label := LABEL.match(line):
            pending.append(label[1])
        elif found := INSTRUCTION.match(line):
            address = int(found[1], 16)
            labels.update(dict.fromkeys(pending, address))
            pending = []
            instructions.append(Instruction(address, found[2], found[3]))
    if name:
        yield name, instructions, labels


def hottest_loop(instructions: list[Instruction], labels: dict[str, int]) -> list[Instruction]:
    """The largest loop that has no other in it; everything if there is no loop."""
    loops = []
    for each in instructions:
        target = re.search(r"\.L_x_\d+", each.operands)
        if each.name.startswith("BRA") and target and labels.get(target[0], each.address) < each.address:
            loops.append((labels[target[0]], each.address))
    innermost = [
        own for own in loops if not any(own != other and own[0] <= other[0] and other[1] <= own[1] for other in loops)
    ]
    if not innermost:
        return instructions
    start, end = max(innermost, key=lambda loop: loop[1] - loop[0])
    return [each for each in instructions if start <= each.address <= end]


def read_kernel(name: str, instructions: list[Instruction], labels: dict[str, int]) -> Kernel:
    """A kernel's counts from its instructions."""
    loop = [each for each in hottest_loop(instructions, labels) if each.name != "NOP"]
    copies = sum(each.name.startswith("LDGSTS") for each in loop)
    waits = [re.search(r"SB0, 0x([0-9a-f]+)", each.operands) for each in loop if each.name == "DEPBAR.LE"]
    pending = [int(wait[1], 16) for wait in waits if wait]
    stages = min(pending) + 2 if copies and pending else 0
    return Kernel(name, len(loop), sum(bool(TENSOR.match(each.name)) for each in loop), copies, stages)


def add_resources(kernels: dict[str, Kernel], text: str) -> None:
    """Adds what `ptxas -v` prints."""
    for part in text.split("Compiling entry function '")[1:]:
        kernel = kernels[part.split("'")[0]]
        for pattern, field in ((r"Used (\d+) registers", "registers"), (r"(\d+) bytes smem", "shared")):
            if found := re.search(pattern, part):
                setattr(kernel, field, int(found[1]))
        kernel.spills = sum(map(int, re.findall(r"(\d+) bytes spill", part)))


def compile_program(fuse_opt: str, program: str, chip: str) -> list[Kernel]:
    """The kernels of a program."""
    ptxas, nvdisasm = find_tool("ptxas"), find_tool("nvdisasm")
    passes = [
        "--fuse-mark-params=args=1-",
        f"--fuse-boundary=target={chip}",
        "--fuse-conv-bn",
        "--fuse-greedy",
        f"--fuse-to-nvvm=chip={chip}",
    ]
    kernels: dict[str, Kernel] = {}
    for ptx in ptx_of(run([fuse_opt, *passes], program)):
        with tempfile.TemporaryDirectory() as folder:
            source, cubin = Path(folder) / "kernels.ptx", Path(folder) / "kernels.cubin"
            source.write_text(ptx)
            said = run([ptxas, "-v", f"-arch={chip}", str(source), "-o", str(cubin)])
            for name, instructions, labels in read_sass(run([nvdisasm, "-c", str(cubin)])):
                kernels[name] = read_kernel(name, instructions, labels)
        add_resources(kernels, said)
    return list(kernels.values())


def main(arguments: list[str]) -> int:
    """Command line; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--fuse-opt", default="fuse-opt")
    parser.add_argument("--chips", default="sm_80,sm_90")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args(arguments)
    programs = {path.name.split(".")[0]: path.read_text() for path in options.files}
    if not programs:
        programs[f"gelu_{EXTENT}"] = re.sub(r"(?<=[<x])(?:256|128)(?=x)", str(EXTENT), PROGRAM.read_text())
    failures = 0
    print(f"{'program':16} {'chip':7} {'kernel':28} loop tensor copies stages registers shared spills")
    for name, program in programs.items():
        for chip in options.chips.split(","):
            try:
                kernels = compile_program(options.fuse_opt, program, chip)
            except ToolError as error:
                print(f"{name} {chip}: {error}", file=sys.stderr)
                return 2
            for own in kernels:
                print(
                    f"{name:16} {chip:7} {own.name:28} {own.instructions:4} {own.share:6.2f} {own.copies:6} "
                    f"{own.stages:6} {own.registers:9} {own.shared:6} {own.spills:6}",
                    flush=True,
                )
                failures += own.share < LEAST_SHARE or own.stages < LEAST_STAGES or own.spills > 0
    if options.check:
        print(f"{failures} kernels have less than {LEAST_SHARE} tensor, {LEAST_STAGES} stages, or spills")
    return 1 if options.check and failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
