# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reference for 003-index-consumer-constant-map.mlir; `out` lists the arrays in print order."""

import numpy as np

x = np.array([[10, 20, -5], [30, 40, 6]])
i, j = np.indices((2, 3))
out = [(7 * i + j + x)[:, 2] * 3]
