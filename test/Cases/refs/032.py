# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reference for 032-atomic-rmw-in-body.mlir; `out` lists the arrays in print order."""

import numpy as np

h = np.array([1, 3, 0, 0.0])
out = [h, h / 2]
