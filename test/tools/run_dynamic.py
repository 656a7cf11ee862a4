#!/usr/bin/env python3
# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Run a program with dynamic extents by fuse-run, and compare with the unfused program.

Usage: run_dynamic.py --target=TARGET --extents=N[,N...] [--fuse-run=TOOL] FILE

`@main` takes tensors of floats. Every `?` of its argument types is the next of the extents, and the first again after
the last. Prints what fuse-run prints, and exits as it does.
"""

from __future__ import annotations

import argparse
import itertools
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

TYPES = {"f16": np.float16, "f32": np.float32, "f64": np.float64}


def arrays_of(text: str, extents: list[int]) -> list[np.ndarray]:
    """Random arguments for `@main` of the module `text`."""
    header = text[text.index("@main(") :]
    header = header[: header.index("{")].split("->")[0]
    random, known = np.random.default_rng(1), itertools.cycle(extents)
    arrays = []
    for kind in re.findall(r"tensor<([^>]*)>", header):
        *shape, element = kind.split("x")
        sizes = [next(known) if size == "?" else int(size) for size in shape]
        arrays.append((random.standard_normal(sizes) * 0.5).astype(TYPES[element]))
    return arrays


def main(arguments: list[str]) -> int:
    """Command line; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", required=True)
    parser.add_argument("--extents", required=True)
    parser.add_argument("--fuse-run", default="fuse-run")
    parser.add_argument("file", type=Path)
    options = parser.parse_args(arguments)
    arrays = arrays_of(options.file.read_text(), [int(extent) for extent in options.extents.split(",")])
    with tempfile.TemporaryDirectory(prefix="fuse-dynamic-") as scratch:
        files = [Path(scratch) / f"{number}.npy" for number in range(len(arrays))]
        for path, array in zip(files, arrays, strict=True):
            np.save(path, array)
        command = [options.fuse_run, str(options.file), f"--target={options.target}", "--compare", "--repeat=0"]
        command.append("--inputs=" + ",".join(map(str, files)))
        return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
