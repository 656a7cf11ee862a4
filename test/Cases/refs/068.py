# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reference for 068-conv-stride-dilation-asym-pad-bn.mlir; `out` lists the arrays in print order."""

import numpy as np
from numpy_ops import batch_norm, conv, seeded

x = seeded(7, 1, 4, 5, 2)
w = seeded(2, 3, 3, 2, 2)
out = [
    batch_norm(
        conv(np.pad(x, ((0, 0), (1, 2), (2, 0), (0, 0))), w, (2, 2), (1, 2)),
        [1.5, -0.5],
        [0.25, 1.0],
        [0.5, -1.0],
        [2.0, 0.25],
    )
]
