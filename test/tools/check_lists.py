#!/usr/bin/env python3
# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Check that a blocklist still names the same edges after a model is renamed.

Usage: check_lists.py MODEL WORK_DIR [STEP]

Every STEP-th edge of the report on MODEL goes into a blocklist; then all values and the function of the model are
renamed and the list is applied. Exit status: 0 if exactly the listed edges are kept by it.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any


def report(model: Path, out: Path, boundary: str) -> list[dict[str, Any]]:
    """The edges of the report on `model`."""
    explain = f"--fuse-explain=json file={out}"
    subprocess.run(["fuse-opt", str(model), boundary, explain, "-o", "/dev/null"], check=True)
    return json.loads(out.read_text())["edges"]


def main() -> int:
    model, work = Path(sys.argv[1]), Path(sys.argv[2])
    step = int(sys.argv[3]) if len(sys.argv) > 3 else 37
    work.mkdir(parents=True, exist_ok=True)
    edges = report(model, work / "before.json", "--fuse-boundary")
    listed = list(range(0, len(edges), step))
    blocklist = work / "blocklist.json"
    blocklist.write_text(json.dumps({"version": 1, "entries": [{"key": edges[i]["key"]} for i in listed]}))
    text = model.read_text().replace("@main", "@forward")
    text = re.sub(r"%arg(\d+)", r"%renamedarg_\1", re.sub(r"%(\d+)\b", r"%renamed_\1", text))
    renamed = work / "renamed.mlir"
    renamed.write_text(text)
    after = report(renamed, work / "after.json", f"--fuse-boundary=blocklist={blocklist}")
    kept = [i for i, edge in enumerate(after) if edge["reason"] == "override: kept by the blocklist"]
    print(f"{model.name}: {len(listed)} edges listed, {'the same' if kept == listed else 'OTHER'} kept of {len(after)}")
    return 0 if kept == listed else 1


if __name__ == "__main__":
    sys.exit(main())
