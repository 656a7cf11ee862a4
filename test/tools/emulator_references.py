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


def warp_operations() -> np.ndarray:
    i = np.arange(32)
    is_low, ones = i < 8, np.ones(32, dtype=np.int64)
    up_inside = i % 16 >= 3
    rows = [
        ones * -0x55555556,  # ballot of the odd lanes, as a signed number
        ones,  # any
        ones * 0,  # all
        ones * 0,  # uni
        0xF << (i // 4 * 4),  # match.any
        ones * -1,  # match.all: the lanes
        ones,  # match.all: whether all are alike
        ones * i.sum(),
        ones * (5 - 31),  # signed minimum
        ones * -1,  # unsigned maximum: of 5 - 6, the largest
        ones * np.bitwise_xor.reduce(i * i),
        np.where(up_inside, (i - 3) ** 2, i * i),  # shuffle up by 3 in segments of 16
        up_inside,
        ones * 49,  # shuffle from lane 7
        (1 << i) - 1,  # lanemask.lt
        ones * 16,  # barrier.red.popc
        ones * 0,  # barrier.red.or
        np.where(is_low, 0xFF, -1),  # activemask on the first path
        np.where(is_low, i[is_low].sum(), i[~is_low].sum()),
        (i == 0) | (i == 8),  # elect
    ]
    return np.stack([np.asarray(row).astype(np.int64).astype(np.uint32).astype(np.int32) for row in rows])


def rounded_bits(x: np.ndarray, dropped: int, ties_to_even: bool) -> np.ndarray:
    """f32 with fewer bits of mantissa, to nearest."""
    bits = x.view(np.uint32)
    half = 1 << (dropped - 1)
    add = half - 1 + (bits >> dropped & 1) if ties_to_even else half
    return (
        (bits + np.uint32(1) * add & np.uint32(0xFFFFFFFF << dropped & 0xFFFFFFFF)).astype(np.uint32).view(np.float32)
    )


def arithmetic(x: np.ndarray) -> np.ndarray:
    p = x * x + np.float32(0.5)
    x64, p64 = x.astype(np.float64), p.astype(np.float64)
    rows = [
        *(np.exp2(x64), np.log2(p64), 1 / p64, 1 / np.sqrt(p64), np.sqrt(p64), np.sin(x64), np.cos(x64)),
        *(x64 * p64 + x64, np.maximum(x, 0.5), np.minimum(x, 0.5), x64 / p64),
        *(np.clip(x64 + 0.5, 0, 1), np.trunc(x), np.rint(x)),
        rounded_bits(x, 13, ties_to_even=False),
        x * 0,  # flushed
        x.astype(np.float16),
        rounded_bits(x, 16, ties_to_even=True),
        *(np.tanh(x64), x.astype(np.float16), np.ceil(x)),
    ]
    return np.stack([row.astype(np.float64) for row in rows])


def device_code() -> np.ndarray:
    table = np.array([1, 10, 100, 1000])
    other = 63 - np.arange(64)
    return np.stack([table[(other % 4 + row) % 4] + other for row in range(3)])


def memory_operations(a: np.ndarray) -> np.ndarray:
    i = np.arange(32)
    copied = np.where((i // 2 % 2 == 1) & (i % 2 == 1), 0, a[:32])
    total, largest = np.where(i == 0, i.sum(), 0), np.where(i == 1, 31, 0)
    return np.stack([64 + i, copied, total, largest, 32 + i]).astype(np.float64)


def both_matmuls(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Of the first 4 columns and rows, and of all."""
    return np.stack([a[:, :4] @ b[:4], a @ b])
