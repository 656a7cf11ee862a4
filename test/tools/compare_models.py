#!/usr/bin/env python3
# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compare models before and after passes, on seeded inputs.

Usage: compare_models.py --fuse-opt=TOOL --passes="FLAGS" MODEL...
                         [--entry=main] [--seed=N] [--dims=N] [--unit=I,J,...]
                         [--cache=DIR] [--keep=DIR] [--require-change]

Each model is wrapped in a driver (wrap_main.py), lowered without any fusion by
upstream passes and run: once as it is, by stock mlir-opt, and once after
`TOOL MODEL FLAGS`, lowered by TOOL. Results are compared by the rule of
compare.py, with K the longest reduction of the model. --cache keeps the
results of unfused models between runs; --keep leaves the transformed modules
and the results there; --require-change fails a model that the flags leave as
it is.

Exit status: 0 all equal, 1 a model differs (or did not change), 2 a model could
not be compared (a failed pass, a crash, a signature that changed).
"""

from __future__ import annotations

import argparse
import hashlib
import shlex
import shutil
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from compare import CompareError, Difference, compare_directories
from count_flops_bytes import longest_reduction
from mlir_text import MlirTextError
from run_mlir import Runner, StageError, llvm_bin, runner_libraries
from wrap_main import WrapError, wrap


@dataclass
class Settings:
    """What is the same for all models."""

    fuse_opt: str
    flags: list[str]
    entry: str = "main"
    seed: int = 0
    dims: int = 7
    unit: frozenset[int] = frozenset()
    cache: Path | None = None
    timeout: float = 300.0  # seconds for each stage


@dataclass
class Row:
    """One line of the table."""

    model: str
    k: int = 0
    differences: list[Difference] = field(default_factory=list)
    error: str = ""
    seconds: tuple[float, float] = (0.0, 0.0)  # unfused run, transformed run
    changed: bool = True  # did the passes change the text

    @property
    def status(self) -> int:
        """0 equal, 1 different, 2 not comparable."""
        if self.error:
            return 2
        return 0 if all(one.equal for one in self.differences) else 1


def wrap_file(source: Path, output: Path, settings: Settings) -> None:
    """Write the driver for a module; raises WrapError."""
    output.write_text(
        wrap(
            source.read_text(),
            settings.entry,
            settings.seed,
            settings.dims,
            settings.unit,
        )
    )


def _cache_key(model: Path, settings: Settings) -> str:
    digest = hashlib.sha256(model.read_bytes())
    for one in (settings.entry, settings.seed, settings.dims, sorted(settings.unit)):
        digest.update(repr(one).encode())
    for one in runner_libraries():
        digest.update(Path(one).read_bytes() if "fuse" in Path(one).name else b"")
    tools = Path(__file__).resolve().parent
    for name in ("wrap_main.py", "run_mlir.py"):
        digest.update((tools / name).read_bytes())
    return digest.hexdigest()[:32]


def reference(model: Path, scratch: Path, settings: Settings) -> tuple[Path, float]:
    """(directory of the unfused results, seconds of the run or 0 if cached)."""
    results = scratch / "unfused"
    cached = settings.cache / _cache_key(model, settings) if settings.cache else None
    if cached and cached.is_dir():
        return cached, 0.0
    results.mkdir()
    wrapped = scratch / "unfused.mlir"
    wrap_file(model, wrapped, settings)
    runner = Runner(opt=str(llvm_bin() / "mlir-opt"), timeout=settings.timeout)
    runner.run(wrapped, [], results)
    if cached:
        partial = cached.with_suffix(".partial")
        shutil.rmtree(partial, ignore_errors=True)
        shutil.copytree(results, partial)
        partial.rename(cached)
    return results, runner.seconds["run"]


def compare_model(model: Path, scratch: Path, settings: Settings) -> Row:
    """Run a model both ways in an empty directory and compare."""
    row = Row(model=model.name.removesuffix(".mlir").removesuffix(".linalg"))
    try:
        row.k = longest_reduction(model.read_text())
        transformed = scratch / "transformed.mlir"
        runner = Runner(opt=settings.fuse_opt, timeout=settings.timeout)
        runner.passes(model, settings.flags, transformed)
        unchanged = scratch / "unchanged.mlir"
        runner.passes(model, [], unchanged)
        row.changed = transformed.read_bytes() != unchanged.read_bytes()
        unfused, seconds = reference(model, scratch, settings)
        wrapped = scratch / "wrapped.mlir"
        wrap_file(transformed, wrapped, settings)
        results = scratch / "results"
        results.mkdir()
        runner.run(wrapped, [], results)
        row.seconds = (seconds, runner.seconds["run"])
        row.differences = compare_directories(unfused, results, row.k)
    except (StageError, WrapError, MlirTextError, CompareError, OSError) as error:
        row.error = str(error)
    return row


HEADER = ("model", "K", "arrays", "d_acc", "max|ref|", "used", "t0 s", "t1 s", "result")


def cells(row: Row) -> list[str]:
    """The row as text; of the arrays the worst counts."""
    if row.error:
        return [row.model, str(row.k), *["-"] * 6, "ERROR"]
    worst = max(row.differences, key=lambda one: one.used)
    verdict = ("ok", "DIFFERENT")[row.status]
    return [
        row.model,
        str(row.k),
        str(len(row.differences)),
        f"{worst.d_acc:.3g}",
        f"{worst.largest:.3g}",
        f"{worst.used:.3g}",
        f"{row.seconds[0]:.2f}" if row.seconds[0] else "cached",
        f"{row.seconds[1]:.2f}",
        verdict if row.changed else f"{verdict} (unchanged)",
    ]


def main(arguments: list[str]) -> int:
    """Command line; returns the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("models", type=Path, nargs="+", metavar="MODEL")
    parser.add_argument("--fuse-opt", required=True)
    parser.add_argument("--passes", required=True, help="flags, as in a shell")
    parser.add_argument("--entry", default="main")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--dims", type=int, default=7)
    parser.add_argument("--unit", default="", metavar="I,J,...")
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--require-change", action="store_true")
    parser.add_argument("--timeout", type=float, default=300.0)
    options = parser.parse_args(arguments)
    settings = Settings(
        fuse_opt=options.fuse_opt,
        flags=shlex.split(options.passes),
        entry=options.entry,
        seed=options.seed,
        dims=options.dims,
        unit=frozenset(int(one) for one in options.unit.split(",") if one),
        cache=options.cache,
        timeout=options.timeout,
    )
    if settings.cache:
        settings.cache.mkdir(parents=True, exist_ok=True)
    layout = "{:<24} {:>6} {:>6} {:>10} {:>9} {:>9} {:>7} {:>7}  {}"
    print(layout.format(*HEADER))
    status = 0
    for model in options.models:
        with tempfile.TemporaryDirectory(prefix="fuse-compare-") as temporary:
            scratch = Path(temporary)
            row = compare_model(model, scratch, settings)
            if options.keep:
                kept = options.keep / row.model
                shutil.copytree(scratch, kept, dirs_exist_ok=True)
        print(layout.format(*cells(row)), flush=True)
        if row.error:
            print(f"error: {model}: {row.error}", file=sys.stderr)
        unchanged = options.require_change and not row.changed
        status = max(status, row.status, int(unchanged))
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
