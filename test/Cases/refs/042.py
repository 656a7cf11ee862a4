# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reference for 042-max-reduce-all-negative.mlir; `out` lists the arrays in print order."""

import numpy as np

x = np.array([[-5, -2, -9], [-1e30, -7, -8.0]])
out = [x - x.max(1, keepdims=True)]
