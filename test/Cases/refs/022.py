# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reference for 022-memref-overlapping-subviews.mlir; `out` lists the arrays in print order."""

import numpy as np

b = np.arange(1, 9.0)
b[:7] = -2 * b[1:].copy()
o = b.copy()
b[1:] = -2 * b[:7].copy()
out = [o, b]
