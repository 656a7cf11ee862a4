# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reference for 082-index-element-tensors.mlir; `out` lists the arrays in print order."""

import numpy as np

out = [np.array([70, 10, 50, 30.0])]
