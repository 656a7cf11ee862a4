# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reference for 011-dynamic-dim-of-intermediate.mlir; `out` lists the arrays in print order."""

import numpy as np

x = np.array([1, 2, 3.0])
y = np.array([0.5, 0.25, -4])
out = [(x + y) ** 2]
