# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions, operations and kernels of a module in MLIR's generic text form.

Reads what `fuse-opt --mlir-print-op-generic` prints, one operation a line, the
end of its regions on a line of the same indentation, and shares nothing with
the compiler. Raises MlirTextError on anything else.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from mlir_text import MlirTextError, mask, matching, parse_shaped, split_top

#: Operations that move or name data without a copy, or make it from nothing.
VIEWS = {
    *("tensor.cast", "tensor.expand_shape", "tensor.collapse_shape"),
    "tensor.reshape",
}
FREE = VIEWS | {
    *("tensor.extract_slice", "tensor.empty", "tensor.dim", "tensor.extract"),
    *("linalg.fill", "func.return", "func.call", "cf.assert"),
}

HEAD = re.compile(r"( *)(?:(%\S+) = )?\"([\w.$-]+)\"\(([^()]*)\)")


@dataclass
class Op:
    """One operation; `body` holds the operations of all its regions."""

    name: str
    line: int
    results: list[str]
    operands: list[str]
    operand_types: list[str] = field(default_factory=list)
    result_types: list[str] = field(default_factory=list)
    attributes: str = ""  # the text between operands and types
    arguments: list[str] = field(default_factory=list)  # of its first block
    argument_types: list[str] = field(default_factory=list)
    body: list[Op] = field(default_factory=list)

    def attribute(self, name: str) -> str:
        """The value of a string attribute, "" without it."""
        match = re.search(rf'\b{name} = "([^"]*)"', self.attributes)
        return match.group(1) if match else ""


def _names(result: str | None) -> list[str]:
    if not result:
        return []
    name, _, count = result.partition(":")
    return [f"{name}#{i}" for i in range(int(count))] if count else [name]


def _signature(op: Op, tail: str) -> None:
    """Read ` : (types) -> types` at the end of `tail`."""
    masked = mask(tail)
    start = masked.rfind(") -> ")
    depth, begin = 0, start
    while begin >= 0:
        depth += {")": 1, "(": -1}.get(masked[begin], 0)
        if depth == 0:
            break
        begin -= 1
    if start < 0 or begin < 0:
        raise MlirTextError(f"line {op.line}: no types at the end of {op.name}")
    op.operand_types = split_top(tail[begin + 1 : start])
    results = tail[start + len(") -> ") :].strip()
    op.result_types = split_top(results[1:-1] if results.startswith("(") else results)
    op.attributes += tail[: masked.rfind(" : ", 0, begin + 1)]


def _block(op: Op, line: str) -> None:
    """Read the arguments of a block's label; only the first block's count."""
    if op.arguments or "(" not in line:
        return
    start = line.index("(")
    for one in split_top(line[start + 1 : matching(mask(line), start)]):
        name, _, kind = one.partition(":")
        op.arguments.append(name.strip())
        op.argument_types.append(kind.strip())


def parse(text: str) -> Op:
    """The module, with everything in it."""
    root = Op("", 0, [], [])
    stack = [root]
    indents = [-1]
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if not stripped or stripped.startswith(("#", "!", "//", "{-#", "#-}", "}, {")):
            continue
        if "{-#" in line:
            break
        indent = len(line) - len(line.lstrip())
        if stripped.startswith("^"):
            _block(stack[-1], stripped)
        elif stripped.startswith("})"):
            if indent != indents[-1]:
                raise MlirTextError(f"line {number}: a region ends at an unknown place")
            indents.pop()
            _signature(stack.pop(), stripped[2:])
        elif match := HEAD.match(line):
            op = Op(match.group(3), number, _names(match.group(2)), split_top(match.group(4)))
            stack[-1].body.append(op)
            tail = line[match.end() :]
            if stripped.endswith("({"):
                op.attributes = tail
                stack.append(op)
                indents.append(indent)
            else:
                _signature(op, tail)
        elif len(stack) == 1:
            break  # resources after the module
        else:
            raise MlirTextError(f"line {number}: not an operation: {stripped[:60]}")
    if len(stack) > 1 or not root.body:
        raise MlirTextError(f"{'no operation' if not root.body else stack[-1].name + ' does not end'}")
    return root.body[0]


def functions(module: Op) -> dict[str, Op]:
    """The functions of a module by name."""
    return {one.attribute("sym_name"): one for one in module.body if one.name == "func.func"}


def bytes_of(kind: str) -> int:
    """Bytes of a static tensor; a scalar counts nothing."""
    shaped = parse_shaped(kind)
    if shaped is None:
        return 0
    elements = shaped.elements
    if elements is None:
        raise MlirTextError(f"'{kind}' has no static size")
    bits = re.fullmatch(r"(?:bf|f|i|si|ui)(\d+)(?:E\w+)?", shaped.element)
    width = 8 if shaped.element == "index" else max(1, int(bits.group(1)) // 8) if bits else 0
    if not width:
        raise MlirTextError(f"'{kind}' has an element type without a known size")
    return elements * width


@dataclass
class Kernel:
    """A kernel, or an operation that runs as one; bytes of what it reads and writes."""

    op: Op
    kind: str  # kernel class, or the operation's name
    inputs: dict[str, int]  # distinct tensors behind free reshapes
    outputs: dict[str, int]

    @property
    def moved(self) -> int:
        """Bytes: each input once, each output once."""
        return sum(self.inputs.values()) + sum(self.outputs.values())


def is_free(op: Op) -> bool:
    """True if the operation moves no data."""
    return op.name in FREE or op.name.startswith(("arith.", "math.", "affine."))


def kernels_of(function: Op) -> list[Kernel]:
    """What runs as a kernel in a function, in program order."""
    source: dict[str, str] = {}
    empty: set[str] = set()
    found: list[Kernel] = []
    for op in function.body:
        if op.name in VIEWS:
            source[op.results[0]] = source.get(op.operands[0], op.operands[0])
        if op.name in ("tensor.empty", "linalg.fill"):
            empty.update(op.results)
        if is_free(op):
            continue
        inputs: dict[str, int] = {}
        for name, kind in zip(op.operands, op.operand_types, strict=True):
            root = source.get(name, name)
            if root not in empty and name not in empty:
                inputs[root] = max(inputs.get(root, 0), bytes_of(kind))
        outputs = {name: bytes_of(kind) for name, kind in zip(op.results, op.result_types, strict=True)}
        found.append(Kernel(op, op.attribute("kernel_class") or op.name, inputs, outputs))
    return found
