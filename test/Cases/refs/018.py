# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reference for 018-outs-tensor-read-and-reused.mlir; `out` lists the arrays in print order."""

import numpy as np

x = np.array([1, 2, 3, 4.0])
y = 10 * x
p = x * y + y
out = [p, p - x]
