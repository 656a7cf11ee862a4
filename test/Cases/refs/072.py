# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reference for 072-six-hundred-inputs.mlir; `out` lists the arrays in print order."""

import numpy as np

out = [600 * np.array([0, 1, 2, 3, 0.25, -1, 0.5, 8])]
