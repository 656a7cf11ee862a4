# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reference for 008-broadcast-cheap-and-costly-producer.mlir; `out` lists the arrays in print order."""

import numpy as np

s = np.array([1, -2, 3, 5.0, -7])
f = np.array([0.1, -0.2, 0.3, 0.5, -1.5])
out = [np.tile((s * 1.5)[:, None], (1, 2)), np.tile((np.log1p(np.tanh(np.exp(f))) * 1.5)[:, None], (1, 2))]
