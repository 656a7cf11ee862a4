# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reference for 088-scalar-operand-generic.mlir; `out` lists the arrays in print order."""

import numpy as np

out = [0.5 * np.array([1, 2, 3, 4.0]) - 3]
