# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the programs of test/Emulator must compute, by numpy in f64, from the arguments that they save."""

from __future__ import annotations

import numpy as np


def matmul(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a.astype(np.float64) @ b.astype(np.float64)


def vector_add(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a + b


def twice_plus_one(a: np.ndarray) -> np.ndarray:
    return 2 * a + np.float32(1)


def places() -> np.ndarray:
    """z, y, x of each element, and above them the lane of its thread in a block of 3 x 4 x 5."""
    z, y, x = np.meshgrid(np.arange(6), np.arange(8), np.arange(20), indexing="ij")
    lane = ((z % 3) * 20 + (y % 4) * 5 + x % 5) % 32
    return lane * 1000000 + z * 10000 + y * 100 + x


def row_sums(a: np.ndarray) -> np.ndarray:
    return a.astype(np.float64).sum(axis=1)


def histogram(a: np.ndarray) -> np.ndarray:
    return np.bincount(a.ravel() + 4, minlength=9)


def softmax(a: np.ndarray) -> np.ndarray:
    powers = np.exp(a.astype(np.float64) - a.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def reversed_rows(a: np.ndarray) -> np.ndarray:
    return a[:, ::-1]


def multiply_add(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    return a @ b + c
