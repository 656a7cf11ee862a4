# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reference for 058-conv-bias-bn-relu.mlir; `out` lists the arrays in print order."""

import numpy as np
from numpy_ops import batch_norm, conv, seeded

x = seeded(1, 1, 4, 4, 2)
w = seeded(2, 3, 3, 2, 2)
out = [
    np.maximum(
        batch_norm(
            conv(x, w) + np.array([3, -2.0]),
            [1.5, -0.5],
            [0.25, 1.0],
            [0.5, -1.0],
            [2.0, 0.25],
        ),
        0,
    )
]
