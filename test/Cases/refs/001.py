# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reference for 001-index-producer-transposed-consumer.mlir; `out` lists the arrays in print order."""

import numpy as np

x = np.array([[1, 2, 3], [4, 5, 6]], "f4")
i, j = np.indices((2, 3))
out = [((10 * i + j + x) * 2).T]
