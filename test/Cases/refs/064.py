# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reference for 064-depthwise-bn-with-multiplier.mlir; `out` lists the arrays in print order."""

import numpy as np
from numpy_ops import batch_norm, seeded

x = seeded(1, 1, 4, 4, 2)
w = seeded(4, 3, 3, 2)
wm = seeded(5, 3, 3, 2, 2)


def depthwise(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Convolve x (1, 4, 4, c) with w (3, 3, c) or (3, 3, c, m)."""
    o = np.zeros((1, 2, 2, 2, *w.shape[3:]))
    for i in range(2):
        for j in range(2):
            for a in range(3):
                for b in range(3):
                    xx = x[:, i + a, j + b]
                    o[:, i, j] += xx * w[a, b] if w.ndim == 3 else xx[..., None] * w[a, b]
    return o


out = [
    batch_norm(depthwise(x, w), [1.5, -0.5], [0.25, 1.0], [0.5, -1.0], [2.0, 0.25]),
    batch_norm(
        depthwise(x, wm).reshape(1, 2, 2, 4),
        [1.0, 2.0, -1.0, 0.5],
        [0.0, 1.0, 2.0, 3.0],
        [0.5, -0.5, 0.25, 1.0],
        [1.0, 4.0, 0.25, 2.0],
    ),
]
