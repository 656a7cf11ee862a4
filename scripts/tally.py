#!/usr/bin/env python3
"""Count the results of a lit run or a GoogleTest run.

usage: tally.py RESULTS.json

Reads what `lit --output` or `--gtest_output=json:` wrote, names every failed and every skipped test on stderr, and
prints `PASSED FAILED SKIPPED` on stdout. A missing file counts as one failure: the runner died before it could report.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PASSED = {"PASS", "FLAKYPASS", "XFAIL"}
SKIPPED = {"UNSUPPORTED", "SKIPPED", "EXCLUDED"}

Result = tuple[str, str, str]  # name, code, why


def lit_results(document: dict[str, Any]) -> Iterator[Result]:
    for test in document["tests"]:
        lines = str(test.get("output", "")).strip().splitlines()
        yield test["name"], test["code"], lines[-1] if lines else test["code"].lower()


def gtest_results(document: dict[str, Any]) -> Iterator[Result]:
    for suite in document["testsuites"]:
        for test in suite["testsuite"]:
            name = f"{suite['name']}.{test['name']}"
            if test.get("failures"):
                yield name, "FAIL", ""
            elif test["result"] == "COMPLETED":
                yield name, "PASS", ""
            else:
                yield name, "SKIPPED", test["result"].lower()


def main() -> int:
    path = Path(sys.argv[1])
    if not path.exists():
        print(f"failed: {path.name} was not written", file=sys.stderr)
        print("0 1 0")
        return 0
    document = json.loads(path.read_text())
    results = gtest_results(document) if "testsuites" in document else lit_results(document)
    passed = failed = skipped = 0
    for name, code, why in results:
        if code in PASSED:
            passed += 1
        elif code in SKIPPED:
            skipped += 1
            print(f"skipped: {name} ({why})", file=sys.stderr)
        else:
            failed += 1
            print(f"failed: {name} ({code.lower()})", file=sys.stderr)
    print(passed, failed, skipped)
    return 0


if __name__ == "__main__":
    sys.exit(main())
