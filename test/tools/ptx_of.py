#!/usr/bin/env python3
# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Print the PTX that the gpu.binary operations of a module hold.

Usage: fuse-opt FILE --fuse-to-nvvm | ptx_of.py
"""

from __future__ import annotations

import re
import sys


def main() -> int:
    found = re.findall(r'assembly = "((?:[^"\\]|\\.)*)"', sys.stdin.read())
    for text in found:
        plain = re.sub(r"\\([0-9A-F]{2}|\\)", lambda code: "\\" if code[1] == "\\" else chr(int(code[1], 16)), text)
        print(plain.rstrip("\0"))
    return 0 if found else 1


if __name__ == "__main__":
    sys.exit(main())
