# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reference for 026-memref-escapes-through-cast-to-call.mlir; `out` lists the arrays in print order."""

import numpy as np

t = 2 * np.array([1, 2, 3, 4.0])
t[0] = 100
out = [-t]
