#!/usr/bin/env python3
# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Generate conv-BN programs and compare folded with unfolded and with numpy.

Usage: gen_conv_bn.py --fuse-opt=TOOL [--count=N] [--seed=N] [--only=I,J,...]
                      [--keep=DIR] [--passes="FLAGS"] [--perturb=I]

Program I of a seed is always the same: a convolution, a batch normalisation in
one of many spellings, weights of one sort, and one twist, which may make a
fold wrong. Each is run as it is by upstream's lowering, run again after
`TOOL --fuse-boundary --fuse-conv-bn=weights=...`, and computed by numpy; all
three must agree by the rule of compare.py. What `fuse-explain` says of each
convolution must be what the generator knows: folded, or kept for that reason.
Where constant weights are folded, nothing of the normalisation may be left,
and folding twice must change nothing.

--keep leaves the programs, before and after, in DIR. Two options show that the
check can fail: --passes replaces the flags, and --perturb makes the expected
values of one program wrong by ten times the tolerance.

Exit status: 0 all right, 1 a failure, 2 misuse.
"""

from __future__ import annotations

import argparse
import json
import re
import shlex
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from compare import RTOL, CompareError, compare_arrays
from conv_bn_draw import draw
from conv_bn_expect import Expectation, expectation
from conv_bn_numpy import Array, Program, reference
from conv_bn_programs import kernel, result_element
from conv_bn_text import Body, module
from mlir_text import functions, strip_dialect
from run_mlir import Runner, StageError, llvm_bin

#: Programs of one module: as many as keep two processes busy.
BATCH = 25

#: Twists that leave nothing of the chain where it folds at all.
COMPLETE = (
    "plain",
    "relu",
    "activation in the body",
    "other axis behind",
    "shift cancels the bias",
    "two in a row",
    "residual after",
    "run-time shift behind",
    "read twice behind",
    "shared filter",
    "filter also bare",
    "stacked",
    "loop",
    "cast of the shape",
)


@dataclass
class Settings:
    """What is the same for all programs."""

    tool: str
    seed: int
    flags: list[str] | None
    keep: Path | None
    perturb: int | None
    timeout: float = 120.0


@dataclass
class Checked:
    """A program and what became of it."""

    program: Program
    body: Body
    expected: Expectation
    folds: list[dict] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    used: dict[str, float] = field(default_factory=dict)  # share of the tolerance

    @property
    def found(self) -> str:
        """What the pass decided, for the table."""
        kept = [str(one["reason"]) for one in self.folds if one["decision"] == "kept"]
        gates = sorted({reason.partition(":")[0] for reason in kept})
        if any(one["decision"] == "folded" for one in self.folds):
            return "folded"
        return f"kept by {', '.join(gates)}" if gates else "no chain"


def typed(array: Array, element: str) -> Array:
    """The array in the type that the runtime saves for `element`."""
    if element == "bf16":
        bits = np.atleast_1d(array).astype("<f4").view("<u4").astype(np.uint64)
        rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
        return rounded.astype("<u2").reshape(array.shape)
    return array.astype(f"<f{int(element[1:]) // 8}")


def check_values(one: Checked, plain: list[Array], folded: list[Array], perturbed: bool) -> None:
    """Compare the three sets of results."""
    element = result_element(one.program)
    factor = 1 + 10 * RTOL[element] if perturbed else 1.0
    expected = [typed(array * factor, element) for array in reference(one.program)]
    pairs = {
        "unfolded and numpy": (expected, plain),
        "folded and numpy": (expected, folded),
        "folded and unfolded": (plain, folded),
    }
    for name, (ref, other) in pairs.items():
        for index, (a, b) in enumerate(zip(ref, other, strict=True)):
            try:
                difference = compare_arrays(f"result {index}", a, b)
            except CompareError as error:
                one.problems.append(f"wrong value: {name}: {error}")
                continue
            one.used[name] = max(one.used.get(name, 0.0), difference.used)
            if not difference.equal:
                one.problems.append(
                    f"wrong value: {name}: result {index} is off by {difference.d_acc:.3g} of"
                    f" {difference.largest:.3g}, {difference.used:.3g} times the tolerance"
                )


def check_decision(one: Checked) -> None:
    """Compare the decisions with the expected ones."""
    folded = sum(fold["decision"] == "folded" for fold in one.folds)
    kept = [fold for fold in one.folds if fold["decision"] != "folded"]
    said = "; ".join(f"{fold['decision']} ({fold.get('reason', '')})" for fold in one.folds) or "nothing found"
    expected = one.expected
    if expected.folded is not None and folded != expected.folded:
        what = "missed fold" if folded < expected.folded else "illegal fold"
        one.problems.append(f"{what}: expected {expected.folded} folds, found {folded}: {said}")
    elif expected.reasons is not None and [fold["reason"] for fold in kept] != list(expected.reasons):
        wanted = "; ".join(expected.reasons) or "nothing"
        one.problems.append(f"wrong reason: expected {wanted}, found {said}")


ELEMENTWISE = re.compile(r"= linalg\.(generic|map|elementwise|add|sub|mul|div|negf|sqrt|rsqrt)\b")


def check_rest(one: Checked, text: str) -> None:
    """Constant weights that are folded leave nothing of the normalisation."""
    program, rest = one.program, one.body.kept
    if not one.expected.folded or program.twist not in COMPLETE:
        return
    if program.weights not in ("constant", "resource", "splat"):
        return
    if program.form != "named":
        rest += 2 if program.marked("shared filter", "filter also bare", "stacked") else 1
    left = len(ELEMENTWISE.findall(text))
    if left > rest:
        one.problems.append(f"missed fold: expected at most {rest} elementwise operations to be left, found {left}")


def run(source: Path, tool: str, flags: list[str], scratch: Path, timeout: float) -> list[Array]:
    """Transform (if there are flags), lower and run; the saved results."""
    runner = Runner(tool, 0, timeout)
    if flags:
        runner.passes(source, flags, scratch / "folded.mlir")
        source = scratch / "folded.mlir"
    runner.lower(source, scratch / "lowered.mlir")
    saved = scratch / "saved"
    saved.mkdir(exist_ok=True)
    runner.execute(scratch / "lowered.mlir", saved)
    names = sorted(saved.glob("*.npy"), key=lambda path: int(path.stem.removeprefix("result")))
    return [np.load(path, allow_pickle=False) for path in names]


def check_batch(batch: list[Checked], settings: Settings) -> None:
    """Run and check programs of one mode; where a stage fails, each alone."""
    with tempfile.TemporaryDirectory(prefix="fuse-conv-bn-") as directory:
        scratch = Path(directory)
        text = module([one.body for one in batch])
        source, report = scratch / "source.mlir", scratch / "report.json"
        source.write_text(text)
        stock = scratch / "stock.mlir"
        stock.write_text(strip_dialect(text, "fuse"))
        mode = batch[0].program.mode
        flags = settings.flags if settings.flags is not None else ["--fuse-boundary", f"--fuse-conv-bn=weights={mode}"]
        flags = [*flags, f"--fuse-explain=json file={report}"]
        what = "unfolded"
        try:
            (scratch / "plain").mkdir()
            plain = run(stock, str(llvm_bin() / "mlir-opt"), [], scratch / "plain", settings.timeout)
            what = "folded"
            folded = run(source, settings.tool, flags, scratch, settings.timeout)
            folds = json.loads(report.read_text())["folds"]
        except StageError as error:
            if len(batch) == 1:
                lines = str(error).partition("PLEASE submit")[0].splitlines()[:6]
                batch[0].problems.append("\n    ".join([f"crash or error: {what}: {lines[0]}", *lines[1:]]))
                keep(batch[0], settings, text, "")
                return
            for one in batch:
                check_batch([one], settings)
            return
        after = (scratch / "folded.mlir").read_text()
        parts = {one.name: after[one.start : one.end] for one in functions(after)}
        Runner(settings.tool, 0, settings.timeout).passes(scratch / "folded.mlir", flags, scratch / "again.mlir")
        again = (scratch / "again.mlir").read_text()
        parts_again = {one.name: again[one.start : one.end] for one in functions(again)}
        start = 0
        for one in batch:
            name, end = f"k{one.program.number}", start + len(one.body.results)
            one.folds = [fold for fold in folds if fold["function"] == name]
            check_decision(one)
            check_rest(one, parts[name])
            if parts_again[name] != parts[name]:
                one.problems.append("not idempotent: the flags change the folded program")
            check_values(one, plain[start:end], folded[start:end], one.program.number == settings.perturb)
            start = end
            keep(one, settings, module([one.body]), parts[name])


def keep(one: Checked, settings: Settings, source: str, after: str) -> None:
    """Leave the program and its folded function in the directory to keep."""
    if settings.keep is None:
        return
    stem = f"program-{one.program.number:04d}"
    (settings.keep / f"{stem}.mlir").write_text(f"// {describe(one.program)}\n{source}")
    (settings.keep / f"{stem}.folded.mlir").write_text(after)


def describe(program: Program) -> str:
    """The program in one line."""
    norm = program.norms[0]
    parts = [
        program.twist,
        program.kind.name,
        program.form,
        program.element,
        f"{norm.name} by {norm.style} and {norm.way}",
        f"{program.weights} weights={program.mode}",
        f"bias {program.bias}",
        program.layout,
    ]
    return ", ".join(part for part in parts if part)


def table(title: str, rows: Iterable[tuple[str, Checked]]) -> str:
    """How many were folded, kept and without a chain, by a property."""
    groups: dict[str, Counter[str]] = {}
    for name, one in rows:
        groups.setdefault(name, Counter())[one.found.split(" by")[0]] += 1
    lines = [f"{title:32} programs  folded    kept  no chain"]
    for name in sorted(groups):
        count = groups[name]
        lines.append(f"{name:32} {count.total():8} {count['folded']:7} {count['kept']:7} {count['no chain']:9}")
    return "\n".join(lines)


def summary(checked: list[Checked]) -> str:
    """The tables of counts."""
    tables = [
        table("convolution", ((one.program.kind.name, one) for one in checked)),
        table("form", ((one.program.form, one) for one in checked)),
        table("element type", ((one.program.element, one) for one in checked)),
        table("spelling", ((one.program.norms[0].name, one) for one in checked)),
        table("weights", ((f"{one.program.weights}, {one.program.mode}", one) for one in checked)),
        table("twist", ((one.program.twist, one) for one in checked)),
    ]
    reasons = Counter(str(fold["reason"]) for one in checked for fold in one.folds if "reason" in fold)
    lines = [f"{'reason of what is kept':64} chains"]
    lines += [f"{reason:64} {count:6}" for reason, count in sorted(reasons.items())]
    used: dict[tuple[str, str], float] = {}
    for one in checked:
        for name, share in one.used.items():
            key = name, result_element(one.program)
            used[key] = max(used.get(key, 0.0), share)
    lines.append("")
    lines.append("largest share of the tolerance")
    lines += [f"{name}, {element}: {share:.2g}" for (name, element), share in sorted(used.items())]
    return "\n\n".join(tables) + "\n\n" + "\n".join(lines)


def check_all(numbers: list[int], settings: Settings, jobs: int) -> list[Checked]:
    """All programs, generated and checked."""
    checked = []
    for number in numbers:
        program = draw(settings.seed, number)
        checked.append(Checked(program, kernel(program), expectation(program)))
    batches = []
    for mode in ("auto", "always", "constants"):
        some = [one for one in checked if one.program.mode == mode]
        batches += [some[start : start + BATCH] for start in range(0, len(some), BATCH)]
    with ThreadPoolExecutor(jobs) as pool:
        for done in [pool.submit(check_batch, batch, settings) for batch in batches]:
            done.result()
    return checked


def main(arguments: list[str]) -> int:
    """Command line; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fuse-opt", required=True)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=lambda text: [int(one) for one in text.split(",")], metavar="I,J,...")
    parser.add_argument("--keep", type=Path, metavar="DIR")
    parser.add_argument("--passes", type=shlex.split, help="instead of the flags that fold")
    parser.add_argument("--perturb", type=int, metavar="I", help="make the expected values of a program wrong")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args(arguments)
    if options.count < 1 or options.jobs < 1:
        parser.error("--count and --jobs must be positive")
    if options.keep is not None:
        options.keep.mkdir(parents=True, exist_ok=True)
    settings = Settings(options.fuse_opt, options.seed, options.passes, options.keep, options.perturb)
    checked = check_all(options.only or list(range(options.count)), settings, options.jobs)
    print(summary(checked))
    failed = [one for one in checked if one.problems]
    for one in failed:
        print(f"\nFAILED program {one.program.number}: {describe(one.program)}")
        for problem in one.problems:
            print(f"  {problem}")
        print(f"  again: gen_conv_bn.py --seed={options.seed} --only={one.program.number} --keep=DIR --fuse-opt=...")
    kinds = Counter(problem.partition(":")[0] for one in failed for problem in one.problems)
    found = Counter(one.found.split(" by")[0] for one in checked)
    problems = ("wrong value", "missed fold", "illegal fold", "wrong reason", "not idempotent", "crash or error")
    print(
        f"\n{len(checked)} programs: {found['folded']} folded, {found['kept']} kept,"
        f" {found['no chain']} without a chain; {', '.join(f'{what} {kinds[what]}' for what in problems)}"
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
