# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reference for 044-softmax-after-huge-scale.mlir; `out` lists the arrays in print order."""

import numpy as np

out = [np.array([[0, 1, 0, 0], [0, 1, 0, 0.0]])]
