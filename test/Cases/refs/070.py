# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reference for 070-grouped-conv-bn-after-collapse.mlir; `out` lists the arrays in print order."""

import numpy as np
from numpy_ops import batch_norm, conv, seeded

x = seeded(11, 1, 2, 2, 4, 4)
w = seeded(10, 2, 2, 2, 3, 3)
c = np.stack(
    [conv(x[:, g].transpose(0, 2, 3, 1), w[g].transpose(2, 3, 1, 0)).transpose(0, 3, 1, 2) for g in range(2)],
    1,
).reshape(1, 4, 2, 2)
out = [
    batch_norm(
        c,
        [1.0, 2.0, -1.0, 0.5],
        [0.0, 1.0, 2.0, 3.0],
        [0.5, -0.5, 0.25, 1.0],
        [1.0, 4.0, 0.25, 2.0],
        axis=1,
    )
]
