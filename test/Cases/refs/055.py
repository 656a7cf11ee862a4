# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reference for 055-relu-nan-and-signed-zero.mlir; `out` lists the arrays in print order."""

import numpy as np

n = np.nan
i = np.inf
out = [
    np.array([n, 0, i, 0, 2]),
    np.array([0, 0, i, 0, 2]),
    np.array([0, 0, i, 0, 2]),
    np.array([n, 0, n, n, 0]),
    np.array([n, i, 0, 0, 0.5]),
]
