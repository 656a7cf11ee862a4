# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reference for 053-shift-guarded-by-select.mlir; `out` lists the arrays in print order."""

import numpy as np

out = [np.array([-2147483648, 0, 10, 0])]
