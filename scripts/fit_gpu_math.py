#!/usr/bin/env python3
# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fit the polynomials of lib/Lowering/GpuMathCoefficients.h and print that file.

Usage: fit_gpu_math.py [--errors] > lib/Lowering/GpuMathCoefficients.h

Each polynomial interpolates the rest of a function, what its leading terms leave, in the Chebyshev points of an
interval, computed with 60 digits from the function's power series (erfc: its continued fraction). --errors prints
the largest error of each instead, absolute and before the coefficients are rounded.
"""

from __future__ import annotations

import math
import struct
import sys
from collections.abc import Callable
from decimal import Decimal, getcontext
from fractions import Fraction

getcontext().prec = 60
Function = Callable[[Decimal], Decimal]


def decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)


def series(term: Callable[[int], Fraction]) -> Function:
    """The power series with the coefficients `term(0)`, `term(1)`, ..."""
    terms = [decimal(term(k)) for k in range(120)]

    def at(x: Decimal) -> Decimal:
        result = Decimal(0)
        for one in reversed(terms):
            result = result * x + one
        return result

    return at


def arctangent_of_inverse(n: int) -> Decimal:
    return sum((decimal(Fraction((-1) ** k, (2 * k + 1) * n ** (2 * k + 1))) for k in range(60)), Decimal(0))


PI = 16 * arctangent_of_inverse(5) - 4 * arctangent_of_inverse(239)
LN2 = Decimal(2).ln()


def erfcx(x: Decimal) -> Decimal:
    """exp(x^2) * erfc(x) for x >= 0.7: Laplace's continued fraction."""
    result = x
    for k in range(2000, 0, -1):
        result = x + Decimal(k) / 2 / result
    return 1 / (result * PI.sqrt())


def interpolate(function: Function, low: Decimal, high: Decimal, degree: int) -> list[Decimal]:
    """Coefficients of x^0, x^1, ...: Newton's divided differences, multiplied out."""
    angles = [math.pi * (k + 0.5) / (degree + 1) for k in range(degree + 1)]
    points = [(low + high) / 2 + (high - low) / 2 * Decimal(math.cos(angle)) for angle in angles]
    table = [function(point) for point in points]
    for order in range(1, degree + 1):
        for k in range(degree, order - 1, -1):
            table[k] = (table[k] - table[k - 1]) / (points[k] - points[k - order])
    result = [table[degree]]
    for k in range(degree - 1, -1, -1):
        shifted = [Decimal(0), *result]
        result = [a - points[k] * b for a, b in zip(shifted, [*result, Decimal(0)], strict=True)]
        result[0] += table[k]
    return result


def evaluate(coefficients: list[Decimal], x: Decimal) -> Decimal:
    result = Decimal(0)
    for one in reversed(coefficients):
        result = result * x + one
    return result


def f32(value: Decimal) -> float:
    return struct.unpack("f", struct.pack("f", float(value)))[0]


def split(value: Decimal, rounded: Callable[[Decimal], float]) -> list[float]:
    """Three numbers whose sum is `value`."""
    parts: list[float] = []
    for _ in range(3):
        parts.append(rounded(value))
        value -= Decimal(parts[-1])
    return parts


#: Name, what is fitted, interval, degree for f32 and for f64.
#: exp r = 1 + r + r^2 exp(r);  2 atanh s = 2 s + s^3 log(s^2) = 2 s + s^3 (2/3 + s^2 logRest(s^2));
#: sin r = r + r^3 sin(r^2);  cos r = 1 - r^2 / 2 + r^4 cos(r^2);  atan and asin as sin;  erf x = x + x erf(x^2).
SQUARE_OF_S = Decimal("0.02944")
POLYNOMIALS: list[tuple[str, Function, Decimal, Decimal, int, int]] = [
    ("exp", series(lambda k: Fraction(1, math.factorial(k + 2))), Decimal("-0.3466"), Decimal("0.3466"), 5, 10),
    ("log", series(lambda k: Fraction(2, 2 * k + 3)), Decimal(0), SQUARE_OF_S, 3, 7),
    ("logRest", series(lambda k: Fraction(2, 2 * k + 5)), Decimal(0), SQUARE_OF_S, 3, 8),
    (
        "sin",
        series(lambda k: Fraction((-1) ** (k + 1), math.factorial(2 * k + 3))),
        Decimal(0),
        Decimal("0.6169"),
        3,
        6,
    ),
    ("cos", series(lambda k: Fraction((-1) ** k, math.factorial(2 * k + 4))), Decimal(0), Decimal("0.6169"), 3, 6),
    ("atan", series(lambda k: Fraction((-1) ** (k + 1), 2 * k + 3)), Decimal(0), Decimal("0.1716"), 5, 12),
    (
        "asin",
        series(lambda k: Fraction(math.comb(2 * k + 2, k + 1), 4 ** (k + 1) * (2 * k + 3))),
        Decimal(0),
        Decimal("0.25"),
        6,
        14,
    ),
]


def erf_rest(z: Decimal) -> Decimal:
    at = series(lambda k: Fraction((-1) ** k, math.factorial(k) * (2 * k + 1)))
    return 2 / PI.sqrt() * at(z) - 1


#: erfc x = exp(-x^2) * erfcx(t) / (1 + 2 x), t = (x - c) / (x + c): c and the largest x, f32 and f64.
ERFCX_LOW = Decimal("0.75")
ERFCX = {"f32": (Decimal(3), Decimal(12), 9), "f64": (Decimal("4.5"), Decimal(28), 21)}


def erfcx_of(centre: Decimal) -> Function:
    def at(t: Decimal) -> Decimal:
        x = centre * (1 + t) / (1 - t)
        return erfcx(x) * (1 + 2 * x)

    return at


def fits(width: str) -> list[tuple[str, Function, Decimal, Decimal, int]]:
    wide = width == "f64"
    result = [(name, f, low, high, b if wide else a) for name, f, low, high, a, b in POLYNOMIALS]
    result.append(("erf", erf_rest, Decimal(0), Decimal("0.5626"), 11 if wide else 5))
    centre, most, degree = ERFCX[width]
    ends = [(x - centre) / (x + centre) for x in (ERFCX_LOW, most)]
    result.append(("erfcx", erfcx_of(centre), ends[0], ends[1], degree))
    return result


def two_over_pi() -> list[int]:
    """2 / pi in words of 64 bits."""
    words = 20
    getcontext().prec = 450
    value = int(2 / (16 * exact_arctangent(5) - 4 * exact_arctangent(239)) * Decimal(2) ** (64 * words))
    getcontext().prec = 60
    return [(value >> (64 * (words - 1 - k))) & (2**64 - 1) for k in range(words)]


def exact_arctangent(n: int) -> Decimal:
    return sum((decimal(Fraction((-1) ** k, (2 * k + 1) * n ** (2 * k + 1))) for k in range(340)), Decimal(0))


HEADER = """//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Coefficients of the functions of GPU kernels, lowest first; generated by
// scripts/fit_gpu_math.py, which says what each is.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_LIB_LOWERING_GPUMATHCOEFFICIENTS_H
#define FUSE_LIB_LOWERING_GPUMATHCOEFFICIENTS_H

// clang-format off
namespace fuse::gpumath {
"""


def print_file() -> None:
    print(HEADER)
    for width in ("f32", "f64"):
        rounded = f32 if width == "f32" else float
        print(f"namespace {width} {{")
        for name, function, low, high, degree in fits(width):
            values = ",\n    ".join(repr(rounded(one)) for one in interpolate(function, low, high, degree))
            print(f"constexpr double {name}[] = {{\n    {values}}};")
        constants = {"ln2": LN2, "halfPi": PI / 2, "log2e": 1 / LN2, "log10of2": LN2 / Decimal(10).ln()}
        constants |= {"log10e": 1 / Decimal(10).ln(), "twoThirds": Decimal(2) / 3, "third": Decimal(1) / 3}
        for name, value in constants.items():
            print(f"constexpr double {name}[] = {{{', '.join(map(repr, split(value, rounded)))}}};")
        print(f"constexpr double erfcxCentre = {ERFCX[width][0]}, erfcxMost = {ERFCX[width][1]};")
        print(f"}} // namespace {width}\n")
    words = ",\n    ".join(f"0x{word:016x}" for word in two_over_pi())
    print(f"constexpr unsigned long long twoOverPi[] = {{\n    {words}}};")
    print("} // namespace fuse::gpumath\n// clang-format on\n\n#endif // FUSE_LIB_LOWERING_GPUMATHCOEFFICIENTS_H")


def print_errors() -> None:
    for width in ("f32", "f64"):
        for name, function, low, high, degree in fits(width):
            coefficients = interpolate(function, low, high, degree)
            points = [low + (high - low) * k / 200 for k in range(201)]
            error = max(abs(evaluate(coefficients, x) - function(x)) for x in points)
            print(width, name, f"{float(error):.2g}", f"largest coefficient {float(max(map(abs, coefficients))):.2g}")


if __name__ == "__main__":
    print_errors() if "--errors" in sys.argv[1:] else print_file()
