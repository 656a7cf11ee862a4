# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reference for 016-dus-shifted-slice-of-itself.mlir; `out` lists the arrays in print order."""

import numpy as np

out = [np.array([[6, 6, 21, -3, 12]])]
