# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reference for 020-transpose-into-its-own-input.mlir; `out` lists the arrays in print order."""

import numpy as np

x = 2 * np.array([[1, 2], [3, 5.0]])
out = [x.T, x.T - x]
