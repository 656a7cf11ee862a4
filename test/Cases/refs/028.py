# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reference for 028-memref-second-reader-inside-if.mlir; `out` lists the arrays in print order."""

import numpy as np

t = np.array([1, 4, 9, 16.0])
out = [-t, 2 * t]
