# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the programs of test/Emulator must compute, by numpy in f64, from the arguments that they save."""

from __future__ import annotations

import numpy as np


def matmul(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a.astype(np.float64) @ b.astype(np.float64)


def vector_add(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a + b
