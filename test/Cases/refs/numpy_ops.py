# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations that several references share, straight from their definitions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def seeded(seed: int, *shape: int) -> np.ndarray:
    """The f32 eighths in [-2, 2] that the cases hold as constants."""
    draw = np.random.RandomState(seed).uniform(-2, 2, shape)
    return (np.round(draw * 8) / 8).astype(np.float32)


def batch_norm(
    x: np.ndarray,
    gamma: Sequence[float] | np.ndarray,
    beta: Sequence[float] | np.ndarray,
    mean: Sequence[float] | np.ndarray,
    variance: Sequence[float] | np.ndarray,
    axis: int = -1,
    epsilon: float = 1e-5,
) -> np.ndarray:
    """Normalise `x` (any rank) with parameters of shape (x.shape[axis],)."""
    shape = [1] * x.ndim
    shape[axis] = -1
    g, b, m, v = (np.asarray(one, np.float64).reshape(shape) for one in (gamma, beta, mean, variance))
    return (x - m) / np.sqrt(v + epsilon) * g + b


def conv(
    x: np.ndarray,
    w: np.ndarray,
    strides: tuple[int, int] = (1, 1),
    dilations: tuple[int, int] = (1, 1),
) -> np.ndarray:
    """Convolve x (n, h, w, c) with w (kh, kw, c, f) to (n, oh, ow, f) in f64."""
    batch, height, width, _ = x.shape
    kernel_h, kernel_w, _, filters = w.shape
    out_h = (height - dilations[0] * (kernel_h - 1) - 1) // strides[0] + 1
    out_w = (width - dilations[1] * (kernel_w - 1) - 1) // strides[1] + 1
    out = np.zeros((batch, out_h, out_w, filters))
    for i, j, a, b in np.ndindex(out_h, out_w, kernel_h, kernel_w):
        row = i * strides[0] + a * dilations[0]
        column = j * strides[1] + b * dilations[1]
        out[:, i, j] += x[:, row, column].astype(np.float64) @ w[a, b].astype(np.float64)
    return out
