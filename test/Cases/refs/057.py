# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reference for 057-matmul-result-read-transposed-twice.mlir; `out` lists the arrays in print order."""

import numpy as np

a = np.array([[1, 2], [3, 4.0]], "f4")
b = np.array([[100.25, 7, 8], [9, 10, 11]], "f4")
M = (a @ b).astype("f4")
u = M.view("u4").astype("u8")
R = ((u + 0x7FFF + ((u >> 16) & 1)) >> 16 << 16).astype("u4").view("f4")
out = [(M + np.array([0.5, 0.25, 0.125])).T, R + 1]
