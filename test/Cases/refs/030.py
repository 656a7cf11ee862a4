# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reference for 030-effectful-producer-duplicated.mlir; `out` lists the arrays in print order."""

import numpy as np

out = [-np.array([1, 4, 9, 16.0]), np.array([4.0])]
