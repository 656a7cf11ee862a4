# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reference for 062-bn-uses-batch-statistics.mlir; `out` lists the arrays in print order."""

from numpy_ops import batch_norm, conv, seeded

x = seeded(1, 1, 4, 4, 2)
w = seeded(2, 3, 3, 2, 2)
c = conv(x, w)
mu = c.mean((0, 1, 2))
v = ((c - mu) ** 2).mean((0, 1, 2))
out = [batch_norm(c, [1.5, -0.5], [0.25, 1.0], mu, v)]
