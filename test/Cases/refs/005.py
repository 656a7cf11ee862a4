# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reference for 005-multi-result-swapped-operands.mlir; `out` lists the arrays in print order."""

import numpy as np

x = np.array([[1, 2, 3, 4], [5, 6, 7, 8]], np.float64)
y = np.array([[4, 3, 2, 1], [0.5, 0.25, 2, 9]], np.float64)
difference = x - y
product = difference * x
out = [difference, product, product - difference]
