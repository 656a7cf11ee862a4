#!/usr/bin/env python3
# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Run an MLIR program on the CPU by upstream's unfused lowering and mlir-runner.

Usage: run_mlir.py FILE [--opt=TOOL] [--save-dir=DIR] [--opt-level=N]
                   [--shared-lib=LIB ...] [--timeout=SECONDS] [--times]
                   [-- PASSES ...]

FILE defines `@main` without arguments and results. PASSES are flags for TOOL
(default: $MLIR_OPT, else mlir-opt), applied before the lowering. What the
program prints goes to stdout, without addresses; --times adds the seconds of
each stage to stderr. Exit status: 0; 3, 4 or 5 when the passes, the lowering or the run failed; 2 for misuse.

Tools are found in $FUSE_LLVM_BIN (default /usr/lib/llvm-22/bin), runner
libraries in ../lib of it; libfuse_test_runtime.so is $FUSE_TEST_RUNTIME, or
the one in build/lib of this checkout, where there is one.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from mlir_text import strip_dialect

ROOT = Path(__file__).resolve().parents[2]

#: One-shot bufferisation, loops, LLVM. Nothing in it fuses linalg operations.
LOWERING = """
    one-shot-bufferize{%s bufferize-function-boundaries=1
        function-boundary-type-conversion=identity-layout-map
        allow-unknown-ops=1 allow-return-allocs-from-loops=1},
    func.func(convert-linalg-to-loops),
    convert-vector-to-scf,
    expand-strided-metadata,
    lower-affine,
    convert-scf-to-cf,
    memref-expand,
    arith-expand,
    convert-complex-to-standard,
    convert-vector-to-llvm,
    convert-math-to-llvm,
    convert-math-to-libm,
    convert-complex-to-llvm,
    finalize-memref-to-llvm,
    convert-arith-to-llvm,
    convert-index-to-llvm,
    convert-func-to-llvm,
    convert-cf-to-llvm,
    reconcile-unrealized-casts
"""

#: Exit status of this script for each stage that can fail.
STAGE_STATUS = {"passes": 3, "lowering": 4, "run": 5}


class StageError(RuntimeError):
    """A stage failed: `stage` (see STAGE_STATUS), `status`, `stderr`."""

    def __init__(self, stage: str, status: int | None, stderr: str) -> None:
        how = "timed out" if status is None else f"exited with status {status}"
        super().__init__(f"{stage} {how}\n{stderr.strip()}".strip())
        self.stage = stage
        self.status = status
        self.stderr = stderr

    @property
    def crashed(self) -> bool:
        """True for a signal, an abort or a hang: never a right answer."""
        return self.status is None or self.status < 0 or self.status >= 128


def llvm_bin() -> Path:
    """The directory of mlir-opt and mlir-runner."""
    return Path(os.environ.get("FUSE_LLVM_BIN", "/usr/lib/llvm-22/bin"))


def default_opt() -> str:
    """The tool that runs passes unless told otherwise."""
    return os.environ.get("MLIR_OPT", str(llvm_bin() / "mlir-opt"))


def runner_libraries() -> list[str]:
    """The shared libraries that mlir-runner loads, those that exist."""
    lib = llvm_bin().parent / "lib"
    names = ["mlir_runner_utils", "mlir_c_runner_utils", "mlir_float16_utils"]
    found = [lib / f"lib{name}.so" for name in names]
    own = os.environ.get("FUSE_TEST_RUNTIME")
    found.append(Path(own) if own else ROOT / "build/lib/libfuse_test_runtime.so")
    return [str(path) for path in found if path.exists()]


@dataclass
class Runner:
    """Runs the stages of one program; times are wall-clock seconds."""

    opt: str = field(default_factory=default_opt)
    opt_level: int = 2  # faster than 3 on the loops that the lowering makes
    timeout: float = 300.0
    libraries: list[str] = field(default_factory=runner_libraries)
    seconds: dict[str, float] = field(default_factory=dict)

    def _call(
        self, stage: str, command: list[str], env: dict[str, str] | None = None
    ) -> str:
        start = time.perf_counter()
        try:
            done = subprocess.run(
                command,
                check=False,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=self.timeout,
                env=env,
            )
        except subprocess.TimeoutExpired as error:
            stderr = error.stderr or b""
            text = (
                stderr if isinstance(stderr, str) else stderr.decode(errors="replace")
            )
            raise StageError(stage, None, text) from None
        self.seconds[stage] = time.perf_counter() - start
        if done.returncode != 0:
            raise StageError(stage, done.returncode, done.stderr)
        return done.stdout

    def passes(self, source: Path, flags: list[str], output: Path) -> None:
        """Apply pass flags to `source`; raises StageError."""
        self._call("passes", [self.opt, str(source), *flags, "-o", str(output)])

    def lower(self, source: Path, output: Path) -> None:
        """Lower to the LLVM dialect, without attributes of `fuse`.

        Raises StageError.
        """
        options = os.environ.get("FUSE_REF_BUFFERIZE_OPTS", "")
        passes = " ".join((LOWERING % options).split())
        pipeline = f"builtin.module({passes})"
        self._call(
            "lowering",
            [self.opt, str(source), f"--pass-pipeline={pipeline}", "-o", str(output)],
        )
        # What is left of our attributes sits on the module and its functions;
        # mlir-runner does not know the dialect.
        text = output.read_text()
        if "fuse." in text:
            output.write_text(strip_dialect(text, "fuse"))

    def execute(self, lowered: Path, save_dir: Path | None = None) -> str:
        """Run `@main`; returns what it printed. Raises StageError."""
        env = dict(os.environ)
        if save_dir is not None:
            env["FUSE_SAVE_DIR"] = str(save_dir)
        command = [
            str(llvm_bin() / "mlir-runner"),
            str(lowered),
            f"-O{self.opt_level}",
            "-e",
            "main",
            "--entry-point-result=void",
        ]
        if self.libraries:
            command.append("--shared-libs=" + ",".join(self.libraries))
        return self._call("run", command, env)

    def run(self, source: Path, flags: list[str], save_dir: Path | None = None) -> str:
        """Passes (if any), lowering and run; returns what `@main` printed."""
        with tempfile.TemporaryDirectory(prefix="fuse-run-") as scratch:
            program = source
            if flags:
                program = Path(scratch) / "passes.mlir"
                self.passes(source, flags, program)
            lowered = Path(scratch) / "lowered.mlir"
            self.lower(program, lowered)
            return self.execute(lowered, save_dir)


def strip_addresses(printed: str) -> str:
    """Remove the buffer addresses from what printMemref wrote."""
    return re.sub(r"base@ = 0x[0-9a-f]+ ", "", printed)


def main(arguments: list[str]) -> int:
    """Command line; returns the exit status."""
    flags: list[str] = []
    if "--" in arguments:
        split = arguments.index("--")
        arguments, flags = arguments[:split], arguments[split + 1 :]
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path)
    parser.add_argument("--opt", default=default_opt())
    parser.add_argument("--save-dir", type=Path)
    parser.add_argument("--opt-level", type=int, default=2, choices=range(4))
    parser.add_argument("--shared-lib", action="append", default=[])
    parser.add_argument("--timeout", type=float, default=300.0)
    parser.add_argument("--times", action="store_true", help="print stage seconds")
    options = parser.parse_args(arguments)
    if options.save_dir is not None:
        options.save_dir.mkdir(parents=True, exist_ok=True)
    runner = Runner(options.opt, options.opt_level, options.timeout)
    runner.libraries += options.shared_lib
    try:
        printed = runner.run(options.file, flags, options.save_dir)
    except StageError as error:
        print(f"error: {error}", file=sys.stderr)
        return STAGE_STATUS[error.stage]
    sys.stdout.write(strip_addresses(printed))
    if options.times:
        for stage, seconds in runner.seconds.items():
            print(f"{stage}: {seconds:.2f} s", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
