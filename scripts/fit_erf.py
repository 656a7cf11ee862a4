#!/usr/bin/env python3
# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fit the rational approximation of erf in lib/Lowering/CpuErf.cpp, and check it.

Usage: fit_erf.py

erf(x) = x * P(x^2) / Q(x^2) on |x| <= 3.9, P and Q of degree 5, Q(0) = 1: least
squares on Chebyshev points, reweighted until the relative error is level. The
coefficients are printed in f32, lowest first, with the largest error of the f32
evaluation (Horner's scheme with fused multiply-adds) over |x| <= 10.
"""

from __future__ import annotations

import math

import numpy as np

BOUND = 3.9
DEGREE = 5
erf = np.vectorize(math.erf)


def fit() -> tuple[np.ndarray, np.ndarray]:
    """P and Q in f64, lowest coefficient first."""
    points = 4000
    x = BOUND * 0.5 * (1 - np.cos(np.pi * (np.arange(points) + 0.5) / points))
    t = x * x
    wanted = np.where(x < 1e-8, 2 / math.sqrt(math.pi), erf(x) / np.maximum(x, 1e-300))
    weight, denominator = np.ones(points), np.ones(points)
    powers = np.stack([t**i for i in range(DEGREE + 1)], 1)
    for _ in range(30):
        system = np.concatenate([powers, -wanted[:, None] * powers[:, 1:]], 1)
        scale = (weight / (wanted * np.abs(denominator)))[:, None]
        columns = np.abs(system * scale).max(0)
        solution = np.linalg.lstsq(system * scale / columns, wanted * scale[:, 0], rcond=None)[0] / columns
        p, q = solution[: DEGREE + 1], np.concatenate([[1.0], solution[DEGREE + 1 :]])
        denominator = np.polyval(q[::-1], t)
        error = np.abs(np.polyval(p[::-1], t) / denominator / wanted - 1)
        weight *= np.sqrt(error / error.mean() + 1e-3)
        weight /= weight.mean()
    return p, q


def horner(coefficients: np.ndarray, t: np.ndarray) -> np.ndarray:
    result = np.full_like(t, coefficients[-1])
    for one in coefficients[-2::-1]:
        result = (result.astype(np.float64) * t + one).astype(np.float32)
    return result


def main() -> None:
    p, q = (values.astype(np.float32) for values in fit())
    x = np.concatenate([np.linspace(-10, 10, 2000001), np.logspace(-30, 1, 200000)]).astype(np.float32)
    clamped = np.clip(x, np.float32(-BOUND), np.float32(BOUND))
    t = clamped * clamped
    y = np.clip(clamped * horner(p, t) / horner(q, t), -1, 1).astype(np.float32)
    exact = erf(x.astype(np.float64))
    error = np.abs(y - exact)
    print("P", ", ".join(repr(float(one)) for one in p))
    print("Q", ", ".join(repr(float(one)) for one in q))
    print(f"largest error {error.max():.3g}, {(error / np.spacing(np.abs(exact).astype(np.float32))).max():.2f} ulp")


if __name__ == "__main__":
    main()
