#!/usr/bin/env python3
# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Check the decisions on a hard case against test/Cases/decisions.tsv.

Usage: check_decisions.py CASE --json=FILE
       check_decisions.py CASE... --fuse-opt=TOOL [--passes="FLAGS"]

FILE is what `fuse-opt CASE FLAGS --fuse-explain="file=FILE json"` wrote, with
FLAGS `--fuse-boundary --fuse-conv-bn`; the second form runs that itself. CASE
is a file of test/Cases or its number; `all` is every case. Edges of @main,
which only prints, do not count. What is demanded:

  fuse         at least one edge, and every edge has verdict `fuse`, or, where
               the value has several readers, `conditional`
  refuse       no edge has verdict `fuse`, and one is `keep` by a gate that
               goes with the reason (nothing more if there is no edge)
  fuse+refuse  one edge is `fuse`, one is `keep` by such a gate
  either       nothing: both are legal

For cases of kind conv-bn the folds count instead of the edges: `fold` wants
all folds `folded`, `refuse` wants all `kept`, one by such a gate; there must
be at least one fold. A malformed case that need not fuse may also be refused
with an error instead of a report. Exit status: 0 if all are right, 1 if not, 2 if the
report cannot be made or read.
"""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from check_case import Case, find_case, load_cases

#: The gates that may decide for each kind of reason.
GATES = {
    "RAW": {"dependency"},
    "WAR": {"dependency"},
    "WAW": {"dependency"},
    "side-effect": {"dependency"},
    "multi-consumer": {"dependency"},
    "shape": {"shape"},
    "numerics": {"numerics"},
    # An edge that leaves its block is refused by `dependency` before its
    # recomputation factor is looked at.
    "intensity": {"profile", "profit", "dependency"},
    "resources": {"resource"},
}

VERDICTS = {"fuse", "keep", "conditional"}
FOLD_DECISIONS = {"folded", "kept"}


class ReportError(RuntimeError):
    """There is no report, or it does not have the documented form."""


class DiagnosedError(ReportError):
    """The tool ended with status 1 and an error, as it may on bad input."""


def _records(report: Any, key: str, field: str, allowed: set[str]) -> list[dict]:
    """A list of the report, its records checked; raises ReportError."""
    records = report.get(key)
    if not isinstance(records, list):
        raise ReportError(f"no list '{key}' in the report")
    for record in records:
        value = record.get(field) if isinstance(record, dict) else None
        if value not in allowed:
            raise ReportError(f"{key}: expected {field} in {sorted(allowed)}, found {value!r}")
    return records


def _describe(records: list[dict], field: str) -> str:
    return "; ".join(
        f"{one.get('function', '?')}:"
        f" {one.get('producer', one.get('op', '?'))}"
        f"{' -> ' + str(one['consumer']) if 'consumer' in one else ''}"
        f" {one.get(field)} {one.get('gate', '')} ({one.get('reason', '')})"
        for one in records
    )


def _by_gate(case: Case, records: list[dict]) -> bool:
    return any(one.get("gate") in GATES[case.reason] for one in records)


def wrong_edges(case: Case, edges: list[dict]) -> str:
    """What is wrong with the verdicts on the edges, "" if nothing."""
    fused = [one for one in edges if one["verdict"] == "fuse"]
    kept = [one for one in edges if one["verdict"] == "keep"]
    gates = " or ".join(sorted(GATES[case.reason]))
    # Several readers make a verdict conditional at best.
    joined = fused + [one for one in edges if one["verdict"] == "conditional" and one["gate"] == "dependency"]
    if case.decision == "fuse" and (not edges or len(joined) != len(edges)):
        return f"expected every edge fused, found {len(joined)} of {len(edges)}"
    if case.decision == "refuse" and fused:
        return f"expected no fused edge, found {len(fused)}"
    if case.decision == "fuse+refuse" and not fused:
        return "expected a fused edge, found none"
    refuses = case.decision == "fuse+refuse" or (case.decision == "refuse" and edges)
    if refuses and not _by_gate(case, kept):
        return f"expected an edge kept by {gates} ({case.reason}), found none"
    return ""


def wrong_folds(case: Case, folds: list[dict]) -> str:
    """What is wrong with the decisions on the folds, "" if nothing."""
    folded = [one for one in folds if one["decision"] == "folded"]
    gates = " or ".join(sorted(GATES[case.reason]))
    if case.decision == "either":
        return ""
    if not folds:
        return "expected a decision on a fold, found none"
    if case.decision == "fold" and len(folded) != len(folds):
        return f"expected every fold done, found {len(folded)} of {len(folds)}"
    if case.decision == "refuse" and folded:
        return f"expected no fold done, found {len(folded)}"
    if case.decision == "refuse" and not _by_gate(case, folds):
        return f"expected a fold kept by {gates} ({case.reason}), found none"
    return ""


def wrong(case: Case, report: Any) -> str:
    """What is wrong with a report on the case; raises ReportError."""
    if not isinstance(report, dict) or report.get("version") != 1:
        raise ReportError("expected an object with version 1")
    edges = _records(report, "edges", "verdict", VERDICTS)
    folds = _records(report, "folds", "decision", FOLD_DECISIONS)
    edges = [one for one in edges if str(one.get("function")).lstrip("@") != "main"]
    if case.kind == "conv-bn":
        problem, records, field = wrong_folds(case, folds), folds, "decision"
    else:
        problem, records, field = wrong_edges(case, edges), edges, "verdict"
    return f"{problem} [{_describe(records, field)}]" if problem else ""


def explain(tool: str, case: Case, flags: list[str], timeout: float) -> Any:
    """The report of a run of TOOL on the case; raises ReportError."""
    with tempfile.TemporaryDirectory(prefix="fuse-decisions-") as scratch:
        report = Path(scratch) / "explain.json"
        option = f"--fuse-explain=file={report} json"
        command = [tool, str(case.path), *flags, option, "-o", "/dev/null"]
        try:
            done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=timeout)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise ReportError(str(error)) from None
        if done.returncode == 1 and "error:" in done.stderr:
            raise DiagnosedError(done.stderr.strip())
        if done.returncode != 0:
            raise ReportError(f"status {done.returncode}: {done.stderr.strip()}")
        return read_report(report)


def read_report(path: Path) -> Any:
    """The JSON of a file; raises ReportError."""
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise ReportError(f"{path.name}: {error}") from None


def main(arguments: list[str]) -> int:
    """Command line; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="+", metavar="CASE")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--fuse-opt")
    parser.add_argument("--passes", default="--fuse-boundary --fuse-conv-bn")
    parser.add_argument("--timeout", type=float, default=60.0, help="seconds")
    options = parser.parse_args(arguments)
    if (options.json is None) == (options.fuse_opt is None):
        parser.error("give either --json or --fuse-opt")
    known = load_cases()
    names = list(known) if options.cases == ["all"] else options.cases
    try:
        cases = [find_case(name, known) for name in names]
    except KeyError as error:
        parser.error(str(error.args[0]))
    if options.json and len(cases) != 1:
        parser.error("--json takes one case")
    status = 0
    for case in cases:
        try:
            report = (
                read_report(options.json)
                if options.json
                else explain(options.fuse_opt, case, shlex.split(options.passes), options.timeout)
            )
            problem = wrong(case, report)
            status = max(status, int(bool(problem)))
        except ReportError as error:
            diagnosed = isinstance(error, DiagnosedError)
            may = case.kind == "malformed" and case.decision in ("either", "refuse")
            problem = "" if diagnosed and may else f"error: {error}"
            status = max(status, 2 if problem else 0)
        expected = f"{case.decision}, {case.reason}"
        print(f"{case.path.stem} ({expected}): {problem or 'ok'}", flush=True)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
