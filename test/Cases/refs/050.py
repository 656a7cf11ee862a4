# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reference for 050-f16-accumulator-must-stay-f32.mlir; `out` lists the arrays in print order."""

import numpy as np

out = [np.array([5.0])]
