#!/usr/bin/env python3
# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Print the PTX that the gpu.binary operations of a module hold.

Usage: fuse-opt FILE --fuse-to-nvvm | ptx_of.py
"""

from __future__ import annotations

import re
import sys


def ptx_of(text: str) -> list[str]:
    """The PTX of each gpu.binary in the text of a module."""

    def plain(code: re.Match[str]) -> str:
        return "\\" if code[1] == "\\" else chr(int(code[1], 16))

    found = re.findall(r'assembly = "((?:[^"\\]|\\.)*)"', text)
    return [re.sub(r"\\([0-9A-F]{2}|\\)", plain, each).rstrip("\0") for each in found]


def main() -> int:
    found = ptx_of(sys.stdin.read())
    for text in found:
        print(text)
    return 0 if found else 1


if __name__ == "__main__":
    sys.exit(main())
