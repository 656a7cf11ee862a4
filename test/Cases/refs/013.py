# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reference for 013-concat-between.mlir; `out` lists the arrays in print order."""

import numpy as np

x = np.array([[1, 2], [3, 4.0]])
y = np.arange(1, 7.0).reshape(2, 3)
out = [np.concatenate([-x, y * y], 1) + 1]
