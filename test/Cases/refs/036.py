# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reference for 036-consumer-inside-loop-and-loop-carried.mlir; `out` lists the arrays in print order."""

import numpy as np

x = np.array([0, 1, -1, 0.5])
p = np.exp(x)
a = x
for _ in range(3):
    a = a * 0.5 + p
out = [a]
