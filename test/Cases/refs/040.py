# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reference for 040-use-in-nested-region-between.mlir; `out` lists the arrays in print order."""

import numpy as np

p = np.array([1, 4, 9, 16.0])
out = [-p, 2 * p]
