#!/usr/bin/env python3
# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compare attention kernels with PyTorch's scaled_dot_product_attention.

Usage: attention_vs_torch.py --fuse-run=TOOL [--target=cpu] [--threads=1]

Programs of test/tools/attention_program.py, in f32 and f16, without a mask,
causal, and with additive masks, run fused on random inputs. PyTorch computes in
f32 what it is given, and each value may be as far off as the rule of
test/tools/compare.py says for the element type.

Exit status: 0; 1 if a result differs, a program fails, or its attention is not
one kernel. Without torch each program is skipped by name, with status 0.
"""

from __future__ import annotations

import argparse
import importlib.util
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "test" / "tools"))

from attention_program import Shape, mask_type, program  # noqa: E402

#: batch, heads, rows, length, depth.
EXTENTS = ((1, 12, 128, 128, 64), (2, 3, 40, 72, 16), (1, 1, 7, 33, 8))


def expected(shape: Shape, arrays: list[object]) -> object:
    """What PyTorch makes of q, k, v and the mask."""
    import torch

    q, k, v, *mask = (torch.from_numpy(one).float() for one in arrays)
    bias = None
    if shape.mask == "causal":
        seen = torch.ones(shape.rows, shape.length, dtype=torch.bool).tril()
        bias = torch.zeros(shape.rows, shape.length).masked_fill(~seen, float("-inf"))
    elif mask:
        bias = mask[0] if shape.mask == "additive" else mask[0][:, None, None, :]
    with torch.no_grad():
        return torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=bias).numpy()


def compare(shape: Shape, name: str, options: argparse.Namespace) -> str:
    """What is wrong; empty if nothing is."""
    import numpy as np
    from compare import compare_arrays

    kind = {"f32": np.float32, "f16": np.float16}[shape.element]
    random = np.random.default_rng(7)
    sizes = [(shape.batch, shape.heads, shape.rows, shape.depth)]
    sizes += 2 * [(shape.batch, shape.heads, shape.length, shape.depth)]
    if mask_type(shape):
        sizes.append((shape.rows, shape.length) if shape.mask == "additive" else (shape.batch, shape.length))
    arrays = [random.standard_normal(size).astype(kind) for size in sizes]
    if shape.mask == "additive":  # some rows see no key for a while
        arrays[3][1::2, : shape.length * 2 // 3] = -np.inf
    with tempfile.TemporaryDirectory(prefix="fuse-attention-") as scratch:
        folder = Path(scratch)
        (folder / "program.mlir").write_text(program(shape))
        files = [folder / f"{number}.npy" for number in range(len(arrays))]
        for file, array in zip(files, arrays, strict=True):
            np.save(file, array)
        repeat = 0 if options.target.startswith("emulator") else 1
        command = [options.fuse_run, f"--target={options.target}"]
        command += [str(folder / "program.mlir"), f"--inputs={','.join(map(str, files))}"]
        command += [f"--threads={options.threads}", f"--repeat={repeat}", f"--save-outputs={folder / 'out'}"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            return f"fuse-run: status {done.returncode}: {done.stderr[:300]}"
        if "_attention" not in done.stdout:
            return f"no attention kernel in {done.stdout[:200]}"
        [result] = (folder / "out").glob("*.npy")
        got = np.load(result)
        reference = expected(shape, arrays).astype(kind)
        difference = compare_arrays(name, reference, got, shape.length)
    print(f"{name:<32} {difference.d_acc:>10.3g} {difference.used:>8.3f}", flush=True)
    return "" if difference.used <= 1 else f"{difference.used:.3g} times the tolerance"


def main(arguments: list[str]) -> int:
    """Command line; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fuse-run", required=True)
    parser.add_argument("--target", default="cpu", help="as of fuse-run; emulator:sm_80 for GPU code")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args(arguments)
    have_torch = importlib.util.find_spec("torch") is not None
    status = 0
    for extents in EXTENTS:
        for element in ("f32", "f16"):
            for mask in ("none", "causal", "additive", "padding"):
                shape = Shape(*extents, element, mask)
                name = f"{'x'.join(map(str, extents))} {element} {mask}"
                if not have_torch:
                    print(f"skipped: {name}: torch is not installed")
                    continue
                problem = compare(shape, name, options)
                if problem:
                    print(f"error: {name}: {problem}", file=sys.stderr)
                    status = 1
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
