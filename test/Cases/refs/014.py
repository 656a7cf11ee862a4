# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reference for 014-pad-between-nonzero-preserving-op.mlir; `out` lists the arrays in print order."""

import numpy as np

out = [np.exp(np.array([0, -0.5, 1, 0, 0]))]
