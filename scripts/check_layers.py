#!/usr/bin/env python3
"""Check that the code keeps to the table of layers in docs/Layout.md, and to the size budgets.

usage: check_layers.py [--root DIR]

A row of the table names a folder of lib/ (its headers are in include/fuse/) or, with a slash at the end, of the top
level, and the layers it may use; what these may use it may use too. Checked are every `fuse/...` include, every LINK
list of `fuse_library`, and that each layer links what it includes.
"""

import argparse
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

SOURCES = {".h", ".cpp", ".td"}
INCLUDE = re.compile(r'^\s*#?include\s+"([^"]+)"')
CPP_WARN, CPP_LIMIT, LIT_LIMIT = 400, 600, 200


@dataclass
class Layers:
    """The table: per folder its row's layers, and with `allowed` all that it may use."""

    rows: dict[str, list[str]] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)

    def read(self, path: Path) -> None:
        for line in path.read_text().splitlines():
            row = re.match(r"\| `(\w+/?)` \| ([^|]*) \|", line)
            if not row:
                continue
            names = [] if row[2] == "nothing" else row[2].split(", ")
            for name in names:
                if name not in self.rows:
                    self.errors.append(f"docs/Layout.md: row {row[1]} names {name}, which no row above it describes")
            self.rows[row[1]] = [name for name in names if name in self.rows]

    def allowed(self, folder: str) -> set[str]:
        found: set[str] = set()
        work = list(self.rows[folder])
        while work:
            name = work.pop()
            if name not in found:
                found.add(name)
                work += self.rows[name]
        return found


def folders_of(root: Path, row: str) -> list[Path]:
    if row.endswith("/"):
        return [root / row]
    return [root / "lib" / row, root / "include" / "fuse" / row]


def check_rows(root: Path, layers: Layers) -> None:
    """Every row has a folder, and every folder a row."""
    present = {path.name for top in ("lib", "include/fuse") for path in (root / top).glob("*") if path.is_dir()}
    for name in sorted(present - set(layers.rows)):
        layers.errors.append(f"docs/Layout.md: no row for {name}")
    for row in layers.rows:
        if not any(folder.is_dir() for folder in folders_of(root, row)):
            layers.errors.append(f"docs/Layout.md: row {row} has no folder")


def check_includes(root: Path, layers: Layers) -> dict[str, set[str]]:
    """Reports includes that a row does not allow; returns the layers that each row includes."""
    used: dict[str, set[str]] = {row: set() for row in layers.rows}
    for row in layers.rows:
        allowed = layers.allowed(row) | {row}
        files = [path for folder in folders_of(root, row) for path in sorted(folder.rglob("*"))]
        for path in (path for path in files if path.suffix in SOURCES):
            for number, line in enumerate(path.read_text().splitlines(), 1):
                include = INCLUDE.match(line)
                if not include:
                    continue
                where = f"{path.relative_to(root)}:{number}"
                if include[1].startswith("../"):
                    layers.errors.append(f"{where}: {include[1]} leaves its folder")
                elif include[1].startswith("fuse/"):
                    layer = include[1].split("/")[1]
                    used[row].add(layer)
                    if layer not in allowed:
                        layers.errors.append(f"{where}: {row} includes {include[1]}, but may not use {layer}")
    return used


def linked_layers(cmake: Path) -> list[str]:
    """The LINK list of the `fuse_library` in `cmake`, without the prefix Fuse."""
    call = re.search(r"fuse_library\((.*?)\)", cmake.read_text(), re.S)
    words = call[1].split() if call else []
    links = words[words.index("LINK") + 1 :] if "LINK" in words else []
    return [word.removeprefix("Fuse") for word in links if word.startswith("Fuse")]


def check_links(root: Path, layers: Layers, used: dict[str, set[str]]) -> None:
    """LINK lists keep to the rows, and reach every layer that is included."""
    cmakes = {row: root / "lib" / row / "CMakeLists.txt" for row in layers.rows}
    links = {row: linked_layers(cmake) for row, cmake in cmakes.items() if cmake.exists()}
    for row, names in links.items():
        reached, work = {row}, list(names)
        while work:
            name = work.pop()
            if name not in reached:
                reached.add(name)
                work += links.get(name, [])
        where = f"lib/{row}/CMakeLists.txt"
        for name in names:
            if name not in layers.allowed(row):
                layers.errors.append(f"{where}: {row} links Fuse{name}, but may not use {name}")
        for name in sorted(used[row] - reached):
            layers.errors.append(f"{where}: {row} includes headers of {name}, but does not link Fuse{name}")


def check_sizes(root: Path, layers: Layers) -> None:
    for top in ("lib", "tools", "unittests"):
        for path in sorted((root / top).rglob("*.cpp")):
            lines = len(path.read_text().splitlines())
            name = path.relative_to(root)
            if lines > CPP_LIMIT:
                layers.errors.append(f"{name}: {lines} lines, at most {CPP_LIMIT}")
            elif lines > CPP_WARN:
                print(f"warning: {name}: {lines} lines, better at most {CPP_WARN}")
    for path in sorted((root / "test").rglob("*")):
        if path.suffix in (".mlir", ".test") and "RUN:" in (text := path.read_text()):
            lines = len(text.splitlines())
            if lines > LIT_LIMIT:
                layers.errors.append(f"{path.relative_to(root)}: {lines} lines, at most {LIT_LIMIT}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    root = parser.parse_args().root.resolve()
    layers = Layers()
    layers.read(root / "docs" / "Layout.md")
    check_rows(root, layers)
    check_links(root, layers, check_includes(root, layers))
    check_sizes(root, layers)
    for error in layers.errors:
        print(f"error: {error}")
    print(f"{len(layers.rows)} layers, {len(layers.errors)} errors")
    return 1 if layers.errors else 0


if __name__ == "__main__":
    sys.exit(main())
