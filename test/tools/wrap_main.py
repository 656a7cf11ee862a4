#!/usr/bin/env python3
# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Wrap a linalg program in a `@main` that feeds it seeded inputs.

Usage: wrap_main.py MODULE.mlir -o OUT.mlir [--entry=main] [--seed=N]
                    [--dims=N] [--unit=I,J,...]

The entry function becomes private. The new `@main` allocates one buffer for
each of its arguments, fills buffer I with values that depend on `seed + I`
and the type alone (see tools/fuse-test-runtime), calls the entry and saves
result I as result<I>.npy; memref arguments, which the entry may write, are
saved as argument<I>.npy. So two forms of a program with equal signatures see
identical inputs. `?` extents become --dims; arguments named by --unit are
standard normal instead of normal / sqrt(fan-in).

Exit status: 0, or 2 with a message (unknown entry, type that has no fill).
"""

from __future__ import annotations

import argparse
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

from mlir_text import Function, MlirTextError, functions, parse_shaped

#: MLIR element type to the suffix of the runtime's functions.
SUFFIX = {
    "f32": "F32",
    "f64": "F64",
    "f16": "F16",
    "bf16": "BF16",
    "i1": "I1",
    "i8": "I8",
    "i16": "I16",
    "i32": "I32",
    "i64": "I64",
    "index": "Index",
}


class WrapError(ValueError):
    """The module cannot be wrapped; the message says why."""


@dataclass
class _Main:
    """The text of `@main` under construction."""

    dims: int
    seed: int
    lines: list[str] = field(default_factory=list)
    used: set[tuple[str, str]] = field(default_factory=set)  # (what, element)

    def suffix(self, element: str, role: str) -> str:
        """The runtime's name for an element type; raises WrapError."""
        if element not in SUFFIX:
            known = ", ".join(SUFFIX)
            raise WrapError(
                f"unsupported element type '{element}' of {role}; supported: {known}"
            )
        return SUFFIX[element]

    def call(self, what: str, element: str, arguments: str, types: str) -> None:
        """Emit a call of `fuse<what><Element>`."""
        self.used.add((what, element))
        self.lines.append(
            f"func.call @fuse{what}{SUFFIX[element]}({arguments}) : ({types}) -> ()"
        )

    def integer(self, name: str, value: int, kind: str = "i64") -> str:
        """Emit a constant; returns its name."""
        self.lines.append(f"{name} = arith.constant {value} : {kind}")
        return name

    def unranked(self, name: str, value: str, memref: str, element: str) -> str:
        """Emit a cast to an unranked memref; returns its name."""
        self.lines.append(
            f"{name} = memref.cast {value} : {memref} to memref<*x{element}>"
        )
        return name


def _extents(shape: list[int | None]) -> str:
    return "".join(f"{'?' if one is None else one}x" for one in shape)


def _argument(main: _Main, index: int, text: str, unit: bool) -> str:
    """Emit the value of argument `index`; returns its SSA name."""
    role = f"argument {index}, '{text}'"
    shaped = parse_shaped(text)
    shape: list[int | None] = [1] if shaped is None else shaped.shape
    element = text if shaped is None else shaped.element
    if shaped is not None and (shaped.rest or shaped.kind == "vector"):
        raise WrapError(
            f"unsupported type of {role}: only tensors without encoding, memrefs"
            " of identity layout and scalars can be filled"
        )
    main.suffix(element, role)
    memref = f"memref<{_extents(shape)}{element}>"
    sizes: list[str] = []
    for dim, extent in enumerate(shape):
        if extent is None:
            sizes.append(main.integer(f"%d{index}_{dim}", main.dims, "index"))
    main.lines.append(f"%m{index} = memref.alloc({', '.join(sizes)}) : {memref}")
    cast = main.unranked(f"%u{index}", f"%m{index}", memref, element)
    seed = main.integer(f"%seed{index}", main.seed + index)
    fill = "Unit" if unit and element in ("f32", "f64", "f16", "bf16") else "Fill"
    main.call(fill, element, f"{cast}, {seed}", f"memref<*x{element}>, i64")
    if shaped is None:
        zero = main.integer(f"%zero{index}", 0, "index")
        main.lines.append(f"%a{index} = memref.load %m{index}[{zero}] : {memref}")
        return f"%a{index}"
    if shaped.kind == "memref":
        return f"%m{index}"
    main.lines.append(
        f"%a{index} = bufferization.to_tensor %m{index} restrict : {memref} to {text}"
    )
    return f"%a{index}"


def _save(
    main: _Main, name: str, value: str, text: str, number: int, kind: int
) -> None:
    """Emit the saving of a value as file `number` of `kind` (0: result)."""
    role = f"{'argument' if kind else 'result'} {number}, '{text}'"
    shaped = parse_shaped(text)
    element = text if shaped is None else shaped.element
    main.suffix(element, role)
    if shaped is not None and shaped.rest:
        raise WrapError(f"unsupported type of {role}: encoding or layout")
    if shaped is None:
        memref = f"memref<1x{element}>"
        zero = main.integer(f"{name}_zero", 0, "index")
        main.lines.append(f"{name}_m = memref.alloc() : {memref}")
        main.lines.append(f"memref.store {value}, {name}_m[{zero}] : {memref}")
        value = f"{name}_m"
    else:
        memref = f"memref<{_extents(shaped.shape)}{element}>"
        if shaped.kind == "tensor":
            main.lines.append(
                f"{name}_m = bufferization.to_buffer {value} read_only :"
                f" {text} to {memref}"
            )
            value = f"{name}_m"
    cast = main.unranked(f"{name}_u", value, memref, element)
    numbers = [main.integer(f"{name}_n", number), main.integer(f"{name}_k", kind)]
    main.call(
        "Save", element, ", ".join([cast, *numbers]), f"memref<*x{element}>, i64, i64"
    )


def _find(text: str, entry: str) -> Function:
    defined = [one for one in functions(text) if not one.is_declaration]
    for one in defined:
        if one.name == entry:
            return one
    names = ", ".join("@" + one.name for one in defined) or "none"
    raise WrapError(f"no function @{entry} with a body; the module has: {names}")


def _rename(text: str, old: str, new: str) -> str:
    quoted = re.escape(old)
    return re.sub(rf'@(?:"{quoted}"|{quoted}(?![\w.$-]))', f"@{new}", text)


def wrap(
    text: str,
    entry: str = "main",
    seed: int = 0,
    dims: int = 7,
    unit: frozenset[int] = frozenset(),
) -> str:
    """The wrapped module; raises WrapError or MlirTextError."""
    taken = {one.name for one in functions(text)}
    function = _find(text, entry)
    inner = "fuse_test_entry"
    while inner in taken:
        inner += "_"
    main = _Main(dims=dims, seed=seed)
    values = [
        _argument(main, index, one, index in unit)
        for index, one in enumerate(function.argument_types)
    ]
    results = [f"%r{index}" for index in range(len(function.result_types))]
    prefix = ", ".join(results) + " = " if results else ""
    main.lines.append(
        f"{prefix}func.call @{inner}({', '.join(values)}) :"
        f" ({', '.join(function.argument_types)})"
        f" -> ({', '.join(function.result_types)})"
    )
    for index, one in enumerate(function.result_types):
        _save(main, f"%s{index}", f"%r{index}", one, index, 0)
    for index, one in enumerate(function.argument_types):
        if one.startswith("memref<"):
            _save(main, f"%t{index}", f"%m{index}", one, index, 1)
    return _insert(text, function, inner, main)


def _insert(text: str, function: Function, inner: str, main: _Main) -> str:
    """`text` with the entry renamed and `@main` placed before it."""
    head = text[function.start : function.name_start]
    private = re.sub(r"\s+(?:public|private|nested)?\s*$", " private ", head)
    before, after = text[: function.start], text[function.name_start :]
    if function.name != "main":
        before, after = (
            _rename(one, "main", "fuse_test_main") for one in (before, after)
        )
    before = _rename(before, function.name, inner)
    after = _rename(after, function.name, inner)
    declarations = []
    for what, element in sorted(main.used):
        more = ", i64" if what == "Save" else ""
        declarations.append(
            f"func.func private @fuse{what}{SUFFIX[element]}"
            f"(memref<*x{element}>, i64{more}) attributes {{llvm.emit_c_interface}}\n"
        )
    body = "".join(f"  {line}\n" for line in main.lines)
    driver = f"{''.join(declarations)}func.func @main() {{\n{body}  return\n}}\n"
    return before + driver + private + after


def main(arguments: list[str]) -> int:
    """Command line; returns the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("module", type=Path)
    parser.add_argument("-o", dest="output", default="-", help="default: stdout")
    parser.add_argument("--entry", default="main")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--dims", type=int, default=7)
    parser.add_argument("--unit", default="", metavar="I,J,...")
    options = parser.parse_args(arguments)
    try:
        unit = frozenset(int(one) for one in options.unit.split(",") if one)
        text = options.module.read_text()
        wrapped = wrap(text, options.entry, options.seed, options.dims, unit)
    except (OSError, UnicodeDecodeError, MlirTextError, ValueError) as error:
        print(f"error: {options.module}: {error}", file=sys.stderr)
        return 2
    if options.output == "-":
        sys.stdout.write(wrapped)
    else:
        Path(options.output).write_text(wrapped)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
