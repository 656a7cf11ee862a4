#!/usr/bin/env python3
"""Run the commands of hand-written pages and compare what they print with what the pages show.

usage: run_doc_commands.py [--update] PAGE.md...

Every ```sh block is preceded by a line that says what to do with it:
  <!-- test -->               run it; it must succeed
  <!-- test fails -->         run it; it must fail
  <!-- no test: WHY -->       leave it, for the reason given
A block after <!-- output --> shows what the command before it printed, stdout and stderr together; with
<!-- output head=N tail=M --> its first N and last M lines, `...` between. A block after <!-- file PATH --> shows that
file of the repository from the line `// docs: begin` to the line `// docs: end`.

The blocks of a page run in order in one folder that looks like a built repository: its files are links, `build` holds
links to `bin`, `lib` and `include` of the build in FUSE_BUILD_DIR, and what a command writes stays out of both. With
--update the pages are rewritten to show what is printed now.
"""

import argparse
import difflib
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


class PageError(Exception):
    """A page that breaks the rules above, or a command that does not do what the page says."""


@dataclass
class Block:
    """A fenced block: the marker before it, its language, and the lines between its fences."""

    marker: str
    language: str
    first: int  # index of the first line inside
    last: int  # index of the closing fence
    lines: list[str]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


def blocks_of(lines: list[str]) -> list[Block]:
    blocks = []
    index = 0
    while index < len(lines):
        if fence := re.fullmatch(r"```(\w*)", lines[index]):
            end = lines.index("```", index + 1)
            comment = re.fullmatch(r"<!-- (.*) -->", lines[index - 1]) if index else None
            marker = comment[1] if comment else ""
            blocks.append(Block(marker, fence[1], index + 1, end, lines[index + 1 : end]))
            index = end
        index += 1
    return blocks


def make_workspace(folder: Path, build: Path) -> None:
    for entry in ROOT.iterdir():
        if not entry.name.startswith((".", "build")):
            (folder / entry.name).symlink_to(entry)
    (folder / "build").mkdir()
    for name in ("bin", "lib", "include"):
        (folder / "build" / name).symlink_to(build / name)


def run(block: Block, folder: Path) -> str:
    """What the commands of `block` print; PageError if they do not end as its marker says."""
    command = ["bash", "-euo", "pipefail", "-c", block.text]
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if (done.returncode == 0) != (block.marker == "test"):
        raise PageError(f"exit status {done.returncode} of\n{block.text}\n{done.stdout}")
    return done.stdout


def excerpt(text: str, marker: str) -> list[str]:
    lines = text.rstrip("\n").split("\n")
    limits = dict(re.findall(r"(head|tail)=(\d+)", marker))
    head, tail = int(limits.get("head", len(lines))), int(limits.get("tail", 0))
    if head + tail >= len(lines):
        return lines
    return [*lines[:head], "...", *lines[len(lines) - tail :]]


def marked_part(path: Path) -> list[str]:
    lines = path.read_text().splitlines()
    return lines[lines.index("// docs: begin") + 1 : lines.index("// docs: end")]


def expected_lines(block: Block, printed: str | None, where: str) -> list[str] | None:
    """What `block` has to show; None if it may show anything."""
    if block.marker.startswith("output"):
        if printed is None:
            raise PageError(f"{where}: an output without a tested command before it")
        return excerpt(printed, block.marker)
    if block.marker.startswith("file "):
        return marked_part(ROOT / block.marker.removeprefix("file "))
    return None


def process(page: Path, build: Path, update: bool) -> int:
    """Runs the commands of `page`; returns how many it ran."""
    lines = page.read_text().splitlines()
    changes: list[tuple[Block, list[str]]] = []
    printed = None
    count = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_workspace(folder, build)
        for block in blocks_of(lines):
            where = f"{page.name}:{block.first}"
            if block.marker in ("test", "test fails"):
                printed = run(block, folder)
                count += 1
            elif block.language == "sh" and not block.marker.startswith("no test: "):
                raise PageError(f"{where}: a command that is neither tested nor excused")
            expected = expected_lines(block, printed, where)
            if expected is not None and expected != block.lines:
                changes.append((block, expected))
    if not update:
        for block, expected in changes:
            where = f"{page.name}:{block.first}"
            print("\n".join(difflib.unified_diff(block.lines, expected, where, "now", lineterm="")))
        if changes:
            raise PageError("the page shows something else; see scripts/run_doc_commands.py --update")
        return count
    for block, expected in reversed(changes):
        lines[block.first : block.last] = expected
    page.write_text("\n".join(lines) + "\n")
    return count


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--update", action="store_true", help="rewrite the pages instead of comparing")
    parser.add_argument("pages", nargs="+", type=Path)
    arguments = parser.parse_args()
    build = Path(os.environ.get("FUSE_BUILD_DIR", ROOT / "build")).resolve()
    failed = 0
    for page in arguments.pages:
        try:
            print(f"{page.name}: {process(page, build, arguments.update)} commands")
        except PageError as error:
            print(f"{page.name}: {error}")
            failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
