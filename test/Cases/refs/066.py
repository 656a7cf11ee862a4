# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reference for 066-bn-on-wrong-axis-same-extent.mlir; `out` lists the arrays in print order."""

from numpy_ops import batch_norm, conv, seeded

x = seeded(1, 1, 4, 4, 2)
w = seeded(2, 3, 3, 2, 2)
out = [batch_norm(conv(x, w), [1.5, -0.5], [0.25, 1.0], [0.5, -1.0], [2.0, 0.25], axis=2)]
