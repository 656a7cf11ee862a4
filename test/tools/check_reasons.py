#!/usr/bin/env python3
# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Check that every reason of FuseReasons.td is pinned by a lit test.

Usage: check_reasons.py FuseReasons.td TEST_DIR

A reason counts as pinned if its message stands in a .mlir or .test file below TEST_DIR. Exit status: 0 if all do.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path


def main() -> int:
    reasons, tests = Path(sys.argv[1]), Path(sys.argv[2])
    messages = re.findall(r'FuseReason<"\w+", \d+,\s*"([^"]+)"', reasons.read_text())
    text = "\n".join(p.read_text() for p in sorted(tests.rglob("*")) if p.suffix in (".mlir", ".test"))
    missing = [message for message in messages if message not in text]
    for message in missing:
        print(f"no test names: {message}")
    print(f"{len(messages)} reasons, {len(missing)} without a test")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
