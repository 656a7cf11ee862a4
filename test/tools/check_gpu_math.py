#!/usr/bin/env python3
# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measure the functions that fuse-gpu-math makes, on the CPU, against numpy in twice the precision.

Usage: check_gpu_math.py [OP ...] [--samples=N] [--fuse-opt=TOOL]

Each function runs over arguments of every magnitude, its usual range, and special values. Prints the largest error in
units in the last place (ulp) of the result for each function and type, and fails above the bound.

f64 is compared in numpy's long double where the machine has one of 64 bits of mantissa, else with twice the bound.
Exit status: 0, 1 for errors above a bound, 2 for misuse, 3 where a tool fails.
"""

from __future__ import annotations

import argparse
import ctypes
import math
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

Array = np.ndarray
Reference = Callable[..., Array]
LANES = 4

LOWERING = (
    "builtin.module(convert-vector-to-scf,convert-scf-to-cf,convert-math-to-llvm,convert-vector-to-llvm,"
    "convert-arith-to-llvm,finalize-memref-to-llvm,convert-index-to-llvm,convert-func-to-llvm,convert-cf-to-llvm,"
    "reconcile-unrealized-casts)"
)


@dataclass
class Op:
    """A function, its usual range, the largest error in ulp for f32 and f64, how many numbers it takes; `exponent` is
    the type of the second one where it is an integer."""

    reference: Reference
    low: float
    high: float
    bound: float = 2.0
    wide_bound: float = 2.0
    dialect: str = "math"
    operands: int = 1
    exponent: str = ""
    kinds: tuple[str, ...] = ("f32", "f64")


def erfc(x: Array) -> Array:
    return np.vectorize(math.erfc, otypes=[np.float64])(x.astype(np.float64)).astype(x.dtype)


def integer_power(x: Array, n: Array) -> Array:
    """Modulo the width; the whole part of the inverse for negative exponents."""
    size = 1 << (8 * x.itemsize)
    powers = [pow(int(a), int(b), size) if b >= 0 else inverse_power(int(a), int(b)) for a, b in zip(x, n, strict=True)]
    return np.array([(one + size // 2) % size - size // 2 for one in powers], dtype=x.dtype)


def inverse_power(x: int, n: int) -> int:
    return {1: 1, -1: -1 if n % 2 else 1}.get(x, 0)


def erf(x: Array) -> Array:
    return np.vectorize(math.erf, otypes=[np.float64])(x.astype(np.float64)).astype(x.dtype)


OPS: dict[str, Op] = {
    "exp": Op(np.exp, -110, 90),
    "exp2": Op(np.exp2, -160, 130),
    "expm1": Op(np.expm1, -5, 90),
    "log": Op(np.log, 0.25, 4),
    "log2": Op(np.log2, 0.25, 4),
    "log10": Op(np.log10, 0.25, 4),
    "log1p": Op(np.log1p, -1, 3),
    "cbrt": Op(np.cbrt, -30, 30),
    "rsqrt": Op(lambda x: 1 / np.sqrt(x), 0, 4),
    "sqrt": Op(np.sqrt, 0, 4, 0.51, 0.51),
    "tanh": Op(np.tanh, -10, 10, 3, 3),
    "sinh": Op(np.sinh, -90, 90, 3, 3),
    "cosh": Op(np.cosh, -90, 90),
    "asinh": Op(np.arcsinh, -4, 4, 3, 3),
    "acosh": Op(np.arccosh, 1, 10, 3, 3),
    "atanh": Op(np.arctanh, -1, 1, 3, 3),
    "sin": Op(np.sin, -10000, 10000),
    "cos": Op(np.cos, -10000, 10000),
    "tan": Op(np.tan, -100, 100, 3, 3),
    "atan": Op(np.arctan, -4, 4),
    "asin": Op(np.arcsin, -1, 1, 3, 3),
    "acos": Op(np.arccos, -1, 1, 3, 3),
    "erf": Op(erf, -5, 5, 6, 3),
    "erfc": Op(erfc, -6, 27, 5, 6),  # libm itself errs by 2 to 3
    "powf": Op(np.power, 0, 10, operands=2),
    "atan2": Op(np.arctan2, -4, 4, 3, 3, operands=2),
    "fpowi": Op(lambda x, n: np.power(x, n.astype(x.dtype)), 0, 4, operands=2, exponent="i32"),
    "ipowi": Op(integer_power, -9, 9, 0, 0, operands=2, exponent="i32", kinds=("i32",)),
    "remf": Op(np.fmod, -100, 100, 0, 0, dialect="arith", operands=2),
}

TYPES = {"f32": np.float32, "f64": np.float64, "i32": np.int32}
SPECIAL = [0.0, -0.0, math.inf, -math.inf, math.nan, 1, -1, 0.5, -0.5, 2, -2, 3, 1e-300, -1e-300, 5e-324, 1e300, -1e300]
SPECIAL += [
    1e-45,
    -1e-45,
    1e-40,
    3e38,
    -3e38,
    88.7228,
    88.73,
    -87.4,
    -103.98,
    709.78,
    709.79,
    -745.14,
    1e10,
    1e22,
    0.75,
]


def function_text(name: str, op: Op, kind: str) -> str:
    """A function over `n` elements in vectors, and one of scalars."""
    types = {"%x": kind, "%y": op.exponent or kind} if op.operands == 2 else {"%x": kind}
    arguments = ", ".join(f"{one}: memref<?x{of}>" for one, of in types.items())
    lines = []
    for lanes in (LANES, 1):
        values = {one: f"vector<{lanes}x{of}>" if lanes > 1 else of for one, of in types.items()}
        prefix, suffix = ("vector", ", {}") if lanes > 1 else ("memref", "")
        lines += [
            f"func.func @{name}_{kind}_{lanes}({arguments}, %out: memref<?x{kind}>, %n: index) "
            "attributes {llvm.emit_c_interface} {",
            "  %c0 = arith.constant 0 : index",
            f"  %step = arith.constant {lanes} : index",
            "  scf.for %i = %c0 to %n step %step {",
        ]
        for one, of in values.items():
            lines.append(f"    {one}v = {prefix}.load {one}[%i] : memref<?x{types[one]}>" + suffix.format(of))
        operands = ", ".join(one + "v" for one in types)
        signature = ", ".join(values.values()) if op.exponent and kind != op.exponent else values["%x"]
        lines += [
            f"    %r = {op.dialect}.{name} {operands} : {signature}",
            f"    {prefix}.store %r, %out[%i] : memref<?x{kind}>" + suffix.format(values["%x"]),
            "  }",
            "  return",
            "}",
        ]
    return "\n".join(lines)


def run(command: list[str], text: str | bytes) -> bytes:
    data = text.encode() if isinstance(text, str) else text
    done = subprocess.run(command, input=data, capture_output=True, check=False)
    if done.returncode:
        print(f"{command[0]} failed: {done.stderr.decode()[-2000:]}", file=sys.stderr)
        raise SystemExit(3)
    return done.stdout


def compile_ops(names: list[str], fuse_opt: str, folder: Path) -> ctypes.CDLL:
    llvm = Path(os.environ.get("FUSE_LLVM_BIN", "/usr/lib/llvm-22/bin"))
    text = "\n".join(function_text(name, OPS[name], kind) for name in names for kind in OPS[name].kinds)
    expanded = run([fuse_opt, "--fuse-gpu-math", "--canonicalize", "--cse"], text)
    lowered = run([str(llvm / "mlir-opt"), f"--pass-pipeline={LOWERING}"], expanded)
    ir = run([str(llvm / "mlir-translate"), "--mlir-to-llvmir"], lowered)
    objects = folder / "ops.o"
    flags = ["-O2", "-filetype=obj", "-relocation-model=pic", "-mcpu=native"]
    objects.write_bytes(run([str(llvm / "llc"), *flags], ir))
    library = folder / "ops.so"
    linker = next(filter(None, map(shutil.which, ("cc", "clang", "gcc"))), "cc")
    run([linker, "-shared", "-o", str(library), str(objects), "-lm"], "")
    return ctypes.CDLL(str(library))


class MemRef(ctypes.Structure):
    _fields_ = (
        ("allocated", ctypes.c_void_p),
        ("aligned", ctypes.c_void_p),
        ("offset", ctypes.c_int64),
        ("size", ctypes.c_int64),
        ("stride", ctypes.c_int64),
    )


def memref(array: Array) -> MemRef:
    return MemRef(array.ctypes.data, array.ctypes.data, 0, array.size, 1)


def call(library: ctypes.CDLL, symbol: str, operands: list[Array]) -> Array:
    result = np.zeros_like(operands[0])
    refs = [memref(array) for array in [*operands, result]]
    getattr(library, "_mlir_ciface_" + symbol)(*map(ctypes.byref, refs), ctypes.c_int64(result.size))
    return result


def arguments(op: Op, kind: str, samples: int) -> list[Array]:
    """Values of every magnitude, of the usual range, near its ends, and special ones; for two each pair of those."""
    random = np.random.default_rng(7)
    dtype = TYPES[kind]
    words = np.uint32 if kind == "f32" else np.uint64
    size = samples // LANES * LANES
    special = np.array(SPECIAL, dtype=np.float64)
    with np.errstate(all="ignore"):
        special = special.astype(dtype)
    result = []
    for number in range(op.operands):
        patterns = random.integers(0, np.iinfo(words).max, size, dtype=words, endpoint=True).view(dtype)
        scale = 8.0 if kind == "f64" and op.high > 20 else 1.0
        usual = random.uniform(op.low * scale, op.high * scale, size).astype(dtype)
        near = (op.low + random.uniform(0, 1, size) ** 8 * (op.high - op.low)).astype(dtype)
        small = (random.uniform(-1, 1, size) * 10.0 ** random.uniform(-12, 0, size)).astype(dtype)
        one = (1 + random.uniform(-1, 1, size) * 10.0 ** random.uniform(-12, -1, size)).astype(dtype)
        if op.operands == 2:
            pairs = np.repeat(special, special.size) if number == 0 else np.tile(special, special.size)
        else:
            pairs = special
        # Not the same kinds in the same places.
        others = [patterns, usual, -usual, np.round(usual), one * 500]
        parts = others if number else [patterns, usual, near, small, one]
        result.append(np.concatenate([*parts, np.resize(pairs, -(-pairs.size // LANES) * LANES)]))
    return result


def integers(kind: str, samples: int, bound: int) -> Array:
    """Small and arbitrary ones, and the least and largest."""
    random = np.random.default_rng(8)
    limits = np.iinfo(TYPES[kind])
    parts = [random.integers(-bound, bound, samples), random.integers(limits.min, limits.max, samples)]
    ends = [limits.min, limits.max, 0, 1, -1, 2, -2, 31]
    return np.concatenate([*parts, ends]).astype(TYPES[kind])


def exponents(op: Op, kind: str, samples: int) -> list[Array]:
    whole = integers(op.exponent, samples, 40)
    if kind == op.exponent:
        base = integers(kind, samples, int(op.high))
        pairs = (np.repeat(base[-8:], 8), np.tile(whole[-8:], 8))
        return [np.concatenate(parts) for parts in zip((base, whole), pairs, strict=True)]
    unary = Op(op.reference, op.low, op.high)
    base = arguments(unary, kind, samples)[0]
    return [base, np.resize(whole, base.size)]


def largest_error(got: Array, wanted: Array, operands: list[Array]) -> tuple[float, list[float]]:
    """In ulp of the result; infinite where a special value is wrong."""
    dtype = got.dtype
    if dtype.kind == "i":
        wrong = np.flatnonzero(got != wanted)
        return (np.inf, [int(one[wrong[0]]) for one in (*operands, got, wanted)]) if wrong.size else (0.0, [])
    with np.errstate(all="ignore"):
        rounded = wanted.astype(dtype)
        nan = np.isnan(rounded)
        wrong = nan != np.isnan(got)
        size = np.abs(rounded)
        most = np.finfo(dtype).max
        ulp = np.spacing(np.minimum(size, most)).astype(wanted.dtype)
        finite = np.isfinite(got) & np.isfinite(rounded)
        error = np.where(finite, np.abs(got.astype(wanted.dtype) - wanted) / ulp, 0)
        # What rounds to infinity one way may be the largest number the other way.
        beyond = np.isinf(rounded) | np.isinf(got)
        edge = (np.abs(got) >= most * (1 - 4 * np.finfo(dtype).eps)) & (size >= most * (1 - 4 * np.finfo(dtype).eps))
        wrong |= beyond & ~nan & ~(edge & (np.sign(got) == np.sign(rounded)))
        wrong |= (rounded == 0) & (got == 0) & (np.signbit(rounded) != np.signbit(got))
    error = np.where(nan & ~wrong, 0, np.where(wrong, np.inf, error)).astype(np.float64)
    worst = int(np.argmax(error))
    return float(error[worst]), [float(one[worst]) for one in operands] + [float(got[worst]), float(wanted[worst])]


def check(library: ctypes.CDLL, name: str, kind: str, samples: int) -> bool:
    op = OPS[name]
    operands = exponents(op, kind, samples) if op.exponent else arguments(op, kind, samples)
    precise = {"f32": np.float64, "f64": np.longdouble}.get(kind, np.int32)
    with np.errstate(all="ignore"):
        wanted = op.reference(*(one.astype(precise) if one.dtype.kind == "f" else one for one in operands))
    bound = op.bound if kind == "f32" else op.wide_bound
    if kind == "f64" and np.finfo(np.longdouble).nmant < 63:
        bound *= 2
    vectors = call(library, f"{name}_{kind}_{LANES}", operands)
    scalars = call(library, f"{name}_{kind}_1", operands)
    same = np.array_equal(vectors, scalars, equal_nan=True)
    error, where = largest_error(scalars, wanted, operands)
    fine = same and error <= bound
    print(
        f"{name:7} {kind} {error:6.2f} ulp, bound {bound:g}"
        + ("" if fine else f"  FAIL at {where}, vectors same: {same}")
    )
    return fine


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("ops", nargs="*", metavar="OP", help="functions, all unless given")
    parser.add_argument("--samples", type=int, default=100000, help="arguments of each kind (default: 100000)")
    parser.add_argument("--fuse-opt", default="fuse-opt")
    options = parser.parse_args()
    if unknown := [name for name in options.ops if name not in OPS]:
        parser.error(f"unknown function '{unknown[0]}', expected one of {', '.join(OPS)}")
    names = options.ops or list(OPS)
    with tempfile.TemporaryDirectory() as folder:
        library = compile_ops(names, options.fuse_opt, Path(folder))
        results = [check(library, name, kind, options.samples) for name in names for kind in OPS[name].kinds]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
