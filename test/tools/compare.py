#!/usr/bin/env python3
# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compare the arrays of two runs: REFERENCE_DIR/*.npy against OTHER_DIR/*.npy.

Usage: compare.py REFERENCE_DIR OTHER_DIR [--k=N] [--nonfinite=error|match]

Floats agree if |a - b| <= rtol * (|ref| + max|ref| over the tensor), rtol 1e-5
for f32, 1e-12 f64, 1e-3 f16, 1e-2 bf16, times sqrt(K / 1024) where the longest
reduction has K > 1024 elements. Integers agree if equal. '<u2' files hold the
bits of bf16. A reference that is not finite is an error of the comparison
(its inputs are finite by construction); --nonfinite=match is for programs fed
with NaN or infinity, which must come out in the same places.

Prints one line for each array with `d_acc`, the largest |a - b|, and `used`,
the largest share of the tolerance (above 1 fails). Exit status: 0 equal, 1
different, 2 not comparable (no files, other files, other shape or type).
"""

from __future__ import annotations

import argparse
import math
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

#: Relative tolerance by element type, for reductions of up to 1024 elements.
RTOL = {"f64": 1e-12, "f32": 1e-5, "f16": 1e-3, "bf16": 1e-2}

#: The reduction length up to which RTOL holds unscaled.
RTOL_REDUCTION = 1024


class CompareError(ValueError):
    """The two runs cannot be compared; the message says why."""


@dataclass
class Difference:
    """The comparison of one array."""

    name: str
    kind: str  # f32 f64 f16 bf16 int
    shape: tuple[int, ...]
    d_acc: float  # largest |a - b|; inf where only one is not finite
    used: float  # largest |a - b| / tolerance; inf for a wrong integer
    largest: float  # max |ref|

    @property
    def equal(self) -> bool:
        """Whether every element is within the tolerance."""
        return self.used <= 1.0


def tolerance_scale(k: int) -> float:
    """The factor on rtol for a longest reduction of `k` elements."""
    return math.sqrt(k / RTOL_REDUCTION) if k > RTOL_REDUCTION else 1.0


def _widen(array: np.ndarray) -> tuple[str, np.ndarray]:
    """The kind of an array and its values as f64 (integers unchanged).

    An array of rank 0 becomes one of a single element.
    """
    array = np.atleast_1d(array)
    if array.dtype == np.uint16:
        bits = array.astype(np.uint32) << 16
        return "bf16", bits.view(np.float32).astype(np.float64)
    if array.dtype.kind == "f":
        return f"f{array.dtype.itemsize * 8}", array.astype(np.float64)
    return "int", array


def _compare_floats(
    name: str, kind: str, ref: np.ndarray, other: np.ndarray, k: int, match: bool
) -> Difference:
    finite = np.isfinite(ref)
    if not match and not finite.all():
        raise CompareError(
            f"{name}: the reference has {int((~finite).sum())} values that are not"
            " finite"
        )
    largest = float(np.abs(ref[finite]).max(initial=0.0))
    with np.errstate(invalid="ignore"):
        difference = np.abs(ref - other)
    same = (ref == other) | (np.isnan(ref) & np.isnan(other))
    difference[same] = 0.0
    difference[~same & ~(finite & np.isfinite(other))] = np.inf
    tolerance = RTOL[kind] * tolerance_scale(k) * (np.abs(ref) + largest)
    tolerance[~np.isfinite(tolerance)] = 0.0
    with np.errstate(invalid="ignore", divide="ignore"):
        used = np.where(difference == 0.0, 0.0, difference / tolerance)
    return Difference(
        name=name,
        kind=kind,
        shape=ref.shape,
        d_acc=float(difference.max(initial=0.0)),
        used=float(used.max(initial=0.0)),
        largest=largest,
    )


def compare_arrays(
    name: str, ref: np.ndarray, other: np.ndarray, k: int = 0, match: bool = False
) -> Difference:
    """Compare two arrays of equal shape and dtype; raises CompareError.

    `k` is the number of elements of the longest reduction. With `match`, NaN
    and infinity must come out in the same places.
    """
    if ref.shape != other.shape or ref.dtype != other.dtype:
        raise CompareError(
            f"{name}: expected {ref.dtype}{list(ref.shape)},"
            f" found {other.dtype}{list(other.shape)}"
        )
    kind, wide = _widen(ref)
    if kind != "int":
        return _compare_floats(name, kind, wide, _widen(other)[1], k, match)
    difference = np.abs(ref.astype(np.float64) - other.astype(np.float64))
    return Difference(
        name=name,
        kind=kind,
        shape=ref.shape,
        d_acc=float(difference.max(initial=0.0)),
        used=0.0 if np.array_equal(ref, other) else math.inf,
        largest=float(np.abs(ref.astype(np.float64)).max(initial=0.0)),
    )


def compare_directories(
    ref_dir: Path, other_dir: Path, k: int = 0, match: bool = False
) -> list[Difference]:
    """Compare all .npy files of two directories; raises CompareError."""
    names = {path.name for path in ref_dir.glob("*.npy")}
    others = {path.name for path in other_dir.glob("*.npy")}
    if not names:
        raise CompareError(f"no .npy files in {ref_dir}")
    if names != others:
        only = ", ".join(sorted(names ^ others))
        raise CompareError(f"files in one of the directories only: {only}")
    return [
        compare_arrays(
            name.removesuffix(".npy"),
            np.load(ref_dir / name, allow_pickle=False),
            np.load(other_dir / name, allow_pickle=False),
            k,
            match,
        )
        for name in sorted(names)
    ]


def main(arguments: list[str]) -> int:
    """Command line; returns the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("reference", type=Path)
    parser.add_argument("other", type=Path)
    parser.add_argument("--k", type=int, default=0, help="longest reduction")
    parser.add_argument("--nonfinite", choices=("error", "match"), default="error")
    options = parser.parse_args(arguments)
    try:
        found = compare_directories(
            options.reference,
            options.other,
            options.k,
            options.nonfinite == "match",
        )
    except (CompareError, OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    for one in found:
        print(
            f"{one.name} {one.kind}{list(one.shape)}"
            f" {'ok' if one.equal else 'DIFFERENT'} d_acc={one.d_acc:.3g}"
            f" max|ref|={one.largest:.3g} used={one.used:.3g}"
        )
    return 0 if all(one.equal for one in found) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
