#!/usr/bin/env python3
# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Run passes over the linalg programs of other projects: none may crash.

Usage: foreign_chunks.py DIR... --fuse-opt=TOOL [--passes="FLAGS"] [--limit=N]
                         [--timeout=20] [--save=DIR] [--jobs=2] [--stock=TOOL]

DIR is a directory, searched for .mlir files, or a git directory without work
tree, whose HEAD is read. Files are split at `// -----`; of the chunks that
contain `linalg.` those are kept, each once, that stock mlir-opt accepts. On
each `TOOL CHUNK FLAGS` (default: --fuse-boundary --fuse-conv-bn) must end in
time, well (ok) or with status 1 and an `error:` (diagnosed). Anything else is
a crash, a hang or silent (a failure that says nothing). --save keeps the
chunks that are not ok, with the first lines of stderr, in DIR/<outcome>/.

Exit status: 0; 1 if there was a crash, a hang or a silent failure; 2 if no
chunk was found.
"""

from __future__ import annotations

import argparse
import collections
import hashlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from run_mlir import llvm_bin

OUTCOMES = ("ok", "diagnosed", "crash", "hang", "silent")
BAD = ("crash", "hang", "silent")

#: Bytes of address space that one run may use, where prlimit is installed.
MEMORY = 8 << 30


@dataclass
class Chunk:
    """One program: where it comes from and its text."""

    origin: str  # path#number
    text: str

    @property
    def digest(self) -> str:
        """A name for the text."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:16]


@dataclass
class Result:
    """What became of a chunk; outcome "" if stock mlir-opt refuses it."""

    chunk: Chunk
    outcome: str
    stderr: str = ""


def git_files(directory: Path) -> Iterator[tuple[str, str]]:
    """(path, text) of the .mlir files at HEAD of a git directory."""
    git = ["git", f"--git-dir={directory}"]
    listed = subprocess.run(
        [*git, "ls-tree", "-r", "-z", "--name-only", "HEAD"],
        check=True,
        capture_output=True,
    ).stdout.decode(errors="replace")
    for path in listed.split("\0"):
        if not path.endswith(".mlir"):
            continue
        shown = subprocess.run(
            [*git, "show", f"HEAD:{path}"], check=False, capture_output=True
        )
        if shown.returncode == 0:  # a snapshot may lack its largest files
            yield path, shown.stdout.decode(errors="replace")


def tree_files(directory: Path) -> Iterator[tuple[str, str]]:
    """(path, text) of the .mlir files below a directory."""
    for path in sorted(directory.rglob("*.mlir")):
        if path.is_file():
            yield str(path.relative_to(directory)), path.read_text(errors="replace")


def chunks(directories: list[Path]) -> Iterator[Chunk]:
    """The distinct chunks with linalg operations, in a fixed order."""
    seen: set[str] = set()
    for directory in directories:
        bare = (directory / "HEAD").is_file() and (directory / "objects").is_dir()
        for path, text in git_files(directory) if bare else tree_files(directory):
            parts = re.split(r"^// -----.*$", text, flags=re.MULTILINE)
            for number, part in enumerate(parts):
                chunk = Chunk(f"{directory.name}/{path}#{number}", part)
                if "linalg." in part and chunk.digest not in seen:
                    seen.add(chunk.digest)
                    yield chunk


def run(command: list[str], timeout: float) -> tuple[int | None, str]:
    """(status, stderr) of a command; status None if it ran out of time."""
    if shutil.which("prlimit"):
        command = ["prlimit", f"--as={MEMORY}", *command]
    try:
        done = subprocess.run(
            command,
            check=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            timeout=timeout,
        )
    except subprocess.TimeoutExpired as error:
        return None, (error.stderr or b"").decode(errors="replace")
    return done.returncode, done.stderr.decode(errors="replace")


def outcome(status: int | None, stderr: str) -> str:
    """One of OUTCOMES."""
    if status is None:
        return "hang"
    if status == 0:
        return "ok"
    if status < 0 or status >= 128 or "PLEASE submit a bug report" in stderr:
        return "crash"
    return "diagnosed" if status == 1 and "error:" in stderr else "silent"


@dataclass
class Work:
    """How to treat each chunk."""

    tool: str
    stock: str
    flags: list[str]
    timeout: float
    scratch: Path

    def __call__(self, chunk: Chunk) -> Result:
        """Run the stock tool, then ours."""
        source = self.scratch / f"{chunk.digest}.mlir"
        source.write_text(chunk.text)
        try:
            accepted, _ = run([self.stock, str(source)], self.timeout)
            if accepted != 0:
                return Result(chunk, "")
            status, stderr = run([self.tool, str(source), *self.flags], self.timeout)
        finally:
            source.unlink()
        return Result(chunk, outcome(status, stderr), stderr)


def save(result: Result, directory: Path) -> None:
    """Keep a chunk with its origin and the head of stderr as comments."""
    target = directory / result.outcome
    target.mkdir(parents=True, exist_ok=True)
    head = [f"from {result.chunk.origin}", *result.stderr.splitlines()[:12]]
    comments = "".join(f"// {line}\n" for line in head)
    (target / f"{result.chunk.digest}.mlir").write_text(comments + result.chunk.text)


def first_error(stderr: str) -> str:
    """The first diagnostic, without its location and without quoted names."""
    match = re.search(r"error: (.*)", stderr)
    return re.sub(r"'[^']*'", "'...'", match.group(1)) if match else ""


def results(work: Work, found: Iterator[Chunk], jobs: int) -> Iterator[Result]:
    """The results in the order of the chunks, with few chunks in flight."""
    waiting: collections.deque[Future[Result]] = collections.deque()
    with ThreadPoolExecutor(jobs) as pool:
        try:
            for chunk in found:
                waiting.append(pool.submit(work, chunk))
                if len(waiting) >= 8 * jobs:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for one in waiting:
                one.cancel()


def main(arguments: list[str]) -> int:
    """Command line; returns the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("directories", type=Path, nargs="+", metavar="DIR")
    parser.add_argument("--fuse-opt", required=True)
    parser.add_argument("--passes", default="--fuse-boundary --fuse-conv-bn")
    parser.add_argument("--limit", type=int, help="most chunks to run")
    parser.add_argument("--timeout", type=float, default=20.0, help="seconds")
    parser.add_argument("--save", type=Path)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--stock", default=str(llvm_bin() / "mlir-opt"))
    options = parser.parse_args(arguments)
    for directory in options.directories:
        if not directory.is_dir():
            parser.error(f"no directory {directory}")
    for tool in (options.fuse_opt, options.stock):
        if not shutil.which(tool):
            parser.error(f"cannot run {tool}")
    counts = dict.fromkeys(OUTCOMES, 0)
    refused = 0
    errors: collections.Counter[str] = collections.Counter()
    with tempfile.TemporaryDirectory(prefix="fuse-foreign-") as scratch:
        work = Work(
            tool=options.fuse_opt,
            stock=options.stock,
            flags=shlex.split(options.passes),
            timeout=options.timeout,
            scratch=Path(scratch),
        )
        for result in results(work, chunks(options.directories), options.jobs):
            if not result.outcome:
                refused += 1
                continue
            counts[result.outcome] += 1
            if result.outcome == "diagnosed":
                errors[first_error(result.stderr)] += 1
            if result.outcome in BAD:
                print(f"{result.outcome}: {result.chunk.origin}", flush=True)
            if options.save and result.outcome != "ok":
                save(result, options.save)
            if options.limit and sum(counts.values()) >= options.limit:
                break
    for message, number in errors.most_common(20):
        print(f"diagnosed {number} times: {message}")
    print(
        f"{sum(counts.values())} chunks run ({refused} that stock mlir-opt refuses):"
        f" {', '.join(f'{counts[one]} {one}' for one in OUTCOMES)}"
    )
    if not any(counts.values()):
        print("error: no chunk to run", file=sys.stderr)
        return 2
    return 1 if any(counts[one] for one in BAD) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
