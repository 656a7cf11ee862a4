# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Write the operations of generated conv-BN programs as MLIR."""

from __future__ import annotations

import ast
import re
import textwrap
from dataclasses import dataclass

import numpy as np
from conv_bn_numpy import Array, Program

#: Element type to the suffix of the runtime's functions.
SUFFIX = {"f32": "F32", "f64": "F64", "f16": "F16", "bf16": "BF16"}
OPS = {ast.Add: "addf", ast.Sub: "subf", ast.Mult: "mulf", ast.Div: "divf"}
CALLS = {"sqrt": "math.sqrt", "rsqrt": "math.rsqrt", "fma": "math.fma", "max": "arith.maximumf"}
CALLS |= {"tanh": "math.tanh", "abs": "math.absf"}


def literal(value: float) -> str:
    """A float as MLIR reads it."""
    text = repr(float(value))
    return text if "." in text else text.replace("e", ".0e")


def dense(array: Array) -> str:
    """The elements in brackets."""
    return literal(float(array)) if np.ndim(array) == 0 else f"[{', '.join(dense(one) for one in array)}]"


def raw(array: Array, element: str) -> bytes:
    """The elements as they lie in memory."""
    if element == "bf16":
        return (array.astype("<f4").view("<u4") >> 16).astype("<u2").tobytes()
    return array.astype(f"<f{int(element[1:]) // 8}").tobytes()


@dataclass(frozen=True)
class Value:
    """An SSA value; a scalar has no shape. Dynamic dimensions have the batch's extent."""

    name: str
    shape: tuple[int, ...] | None
    element: str
    dynamic: frozenset[int] = frozenset()

    @property
    def type(self) -> str:
        """As MLIR writes it."""
        if self.shape is None:
            return self.element
        extents = "".join(f"{'?' if dim in self.dynamic else one}x" for dim, one in enumerate(self.shape))
        return f"tensor<{extents}{self.element}>"


#: An operand with the results of its indexing map.
Operand = tuple[Value, list[str]]


def loops(rank: int) -> list[str]:
    """The results of an identity map."""
    return [f"d{dim}" for dim in range(rank)]


class Body:
    """The text of `@kernel` while it is written."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.lines: list[str] = []
        self.arguments: list[tuple[str, str, Array]] = []  # declaration, type, value
        self.resources: dict[str, str] = {}
        self.results: list[Value] = []
        self.batch = ""  # its extent, where it is dynamic
        self.kept = 0  # elementwise operations that no fold removes
        self.count = 0
        self.shared: list[tuple[Array, str, Value]] = []

    def value(
        self, text: str, shape: tuple[int, ...] | None, element: str, dynamic: frozenset[int] | None = None
    ) -> Value:
        """Write `%n = text`; `{T}` in it stands for the type."""
        self.count += 1
        result = Value(f"%{self.count}", shape, element, dynamic or frozenset())
        self.lines.append(f"{result.name} = {text.replace('{T}', result.type)}")
        return result

    def constant(self, array: Array, element: str, resource: bool = False) -> Value:
        """A constant tensor."""
        attribute = f"dense<{dense(array)}>"
        if resource and array.size > 1:
            key = f"k{self.program.number}_{len(self.resources)}"
            self.resources[key] = "0x08000000" + raw(array, element).hex()
            attribute = f"dense_resource<{key}>"
        return self.value(f"arith.constant {attribute} : {{T}}", array.shape, element)

    def scalar(self, value: float, element: str) -> Value:
        """A constant scalar."""
        return self.value(f"arith.constant {literal(value)} : {{T}}", None, element)

    def argument(self, array: Array, element: str, attribute: str = "", scalar: bool = False) -> Value:
        """An argument of the kernel."""
        result = Value(f"%arg{len(self.arguments)}", None if scalar else array.shape, element)
        self.arguments.append((f"{result.name}: {result.type}{attribute}", result.type, array))
        return result

    def weight(self, array: Array, element: str, role: str = "norm", scalar: bool = False) -> Value:
        """A weight of the program's sort; the other role (filter or norm) may be a constant beside it."""
        for one, element_, value in self.shared:
            if one is array and element_ == element:
                return value
        value = self._weight(array, element, role, scalar)
        self.shared.append((array, element, value))
        return value

    def _weight(self, array: Array, element: str, role: str, scalar: bool) -> Value:
        sort = self.program.weights
        kind, _, only = sort.partition(" ")
        if kind in ("parameter", "run-time") and only in ("", role, "hinted"):
            return self.argument(array, element, " {fuse.param}" if kind == "parameter" else "", scalar)
        if scalar:
            return self.scalar(float(array), element)
        if sort == "computed" and role == "filter" and self.program.choice % 2:
            larger = self.constant(np.concatenate([array, array + 1]), element)
            ones, zeros = [1] * array.ndim, [0] * array.ndim
            text = f"tensor.extract_slice {larger.name}{zeros} {list(array.shape)} {ones} : {larger.type} to {{T}}"
            return self.value(text, array.shape, element)
        if sort == "computed" and role == "filter":
            order = list(range(array.ndim))[::-1]
            source, init = self.constant(array.transpose(), element), self.empty(Value("", array.shape, element))
            text = f"linalg.transpose ins({source.name} : {source.type}) outs({init.name} : {init.type})"
            return self.value(f"{text} permutation = {order}", array.shape, element)
        return self.constant(array, element, sort == "resource")

    def empty(self, like: Value, element: str = "") -> Value:
        """An uninitialised tensor."""
        sizes = ", ".join(self.batch for _ in like.dynamic)
        return self.value(f"tensor.empty({sizes}) : {{T}}", like.shape, element or like.element, like.dynamic)

    def fill(self, like: Value, value: float) -> Value:
        """A tensor that repeats a value."""
        source, init = self.scalar(value, like.element), self.empty(like)
        text = f"linalg.fill ins({source.name} : {source.type}) outs({init.name} : {init.type}) -> {{T}}"
        return self.value(text, like.shape, like.element, like.dynamic)

    def generic(
        self, operands: list[Operand], init: Operand, body: list[str], reduced: frozenset[int] = frozenset()
    ) -> Value:
        """A generic operation; `body` reads %b0, %b1... and yields %r."""
        every = [*operands, init]
        rank = 1 + max((int(one) for _, map_ in every for one in re.findall(r"d(\d+)", " ".join(map_))), default=-1)
        head = ", ".join(loops(rank))
        maps = ", ".join(f"affine_map<({head}) -> ({', '.join(map_)})>" for _, map_ in every)
        iterators = ", ".join('"reduction"' if dim in reduced else '"parallel"' for dim in range(rank))
        ins = f" ins({_list([one for one, _ in operands])})" if operands else ""
        arguments = ", ".join(f"%b{index}: {one.element}" for index, (one, _) in enumerate(every))
        lines = "".join(f"  {line}\n" for line in body)
        out = init[0]
        text = (
            f"linalg.generic {{indexing_maps = [{maps}], iterator_types = [{iterators}]}}{ins}"
            f" outs({out.name} : {out.type}) {{\n^bb0({arguments}):\n{lines}"
            f"  linalg.yield %r : {out.element}\n}} -> {{T}}"
        )
        return self.value(text, out.shape, out.element, out.dynamic)

    def apply(
        self,
        expression: str,
        names: dict[str, Operand],
        like: Value,
        way: str = "generic",
        in_place: bool = False,
        permutation: list[int] | None = None,
    ) -> Value:
        """An elementwise operation of the shape of `like`; the expression reads `names`.

        Loop `permutation[i]` runs over dimension i of the result.
        """
        tree = ast.parse(expression, mode="eval").body
        used = [one for one in names if any(isinstance(n, ast.Name) and n.id == one for n in ast.walk(tree))]
        rank = len(like.shape or ())
        scalars = [one for one in used if names[one][0].shape is None]
        full = all(names[one][1] == loops(rank) for one in used)
        binary = isinstance(tree, ast.BinOp) and isinstance(tree.left, ast.Name) and isinstance(tree.right, ast.Name)
        if binary and not scalars and (full or way == "elementwise") and way != "generic":
            assert isinstance(tree, ast.BinOp) and isinstance(tree.left, ast.Name) and isinstance(tree.right, ast.Name)
            operands = [names[tree.left.id], names[tree.right.id]]
            init = names["y"][0] if in_place and "y" in used else self.empty(like)
            ins = f"ins({_list([one for one, _ in operands])}) outs({init.name} : {init.type})"
            operation = OPS[type(tree.op)]
            if way == "map":
                text = f"linalg.map {{ arith.{operation} }} {ins}"
            elif way == "named":
                text = f"linalg.{operation[:-1]} {ins} -> {{T}}"
            else:
                head = ", ".join(loops(rank))
                maps = [map_ for _, map_ in operands] + [loops(rank)]
                maps_text = ", ".join(f"affine_map<({head}) -> ({', '.join(one)})>" for one in maps)
                kind = f"#linalg.elementwise_kind<{operation[:-1]}>"
                text = f"linalg.elementwise kind={kind} indexing_maps = [{maps_text}] {ins} -> {{T}}"
            return self.value(text, like.shape, like.element, like.dynamic)
        captured = {one: names[one][0].name for one in scalars if self.program.choice % 2}
        read = [one for one in used if one not in captured and not (in_place and one == "y")]
        args = captured | {one: f"%b{index}" for index, one in enumerate(read)}
        args["y"] = args.get("y", f"%b{len(read)}")
        init = names["y"][0] if in_place and "y" in used else self.empty(like)
        lines = scalar_code(tree, args, like.element)
        written = loops(rank)
        if permutation:
            written = [f"d{dim}" for dim in permutation]
            shape = tuple((like.shape or ())[dim] for dim in permutation)
            init = self.empty(Value("", shape, like.element))
        return self.generic([names[one] for one in read], (init, written), lines)

    def spread(self, value: Value, axes: tuple[int, ...], like: Value, style: str) -> Operand:
        """Values per channel as an operand of an elementwise operation on `like`.

        map: an indexing map picks the channel; torch: unit dimensions behind
        it; unit: all dimensions, of extent 1 but for the channel; broadcast:
        an operation repeats the values; scalar: no tensor at all.
        """
        rank = len(like.shape or ())
        if value.shape is None:
            return value, []
        if list(axes) != sorted(axes):
            style = "map"
        if style == "broadcast":
            others = [dim for dim in range(rank) if dim not in axes]
            init = self.empty(like)
            text = (
                f"linalg.broadcast ins({value.name} : {value.type}) outs({init.name} : {init.type})"
                f" dimensions = {others}"
            )
            return self.value(text, like.shape, like.element, like.dynamic), loops(rank)
        first = 0 if style == "unit" else axes[0] if axes else rank
        shape = tuple((like.shape or ())[dim] if dim in axes else 1 for dim in range(first, rank))
        if style in ("map", "scalar") or shape == value.shape:
            return value, [f"d{dim}" for dim in axes]
        ends = [*axes[1:], rank] if axes else []
        starts = [first, *axes[1:]] if axes else []
        groups = [[dim - first for dim in range(a, b)] for a, b in zip(starts, ends, strict=True)]
        text = f"tensor.expand_shape {value.name} {groups} output_shape {list(shape)} : {value.type} into {{T}}"
        map_ = [f"d{dim}" if dim in axes else "0" for dim in range(first, rank)]
        return self.value(text, shape, value.element), map_

    def collapse(self, y: Value, first: int, count: int) -> Value:
        """`count` dimensions from `first` on become one."""
        shape = y.shape or ()
        groups = [[dim] for dim in range(first)] + [list(range(first, first + count))]
        groups += [[dim] for dim in range(first + count, len(shape))]
        product = 1
        for extent in shape[first : first + count]:
            product *= extent
        collapsed = (*shape[:first], product, *shape[first + count :])
        return self.value(
            f"tensor.collapse_shape {y.name} {groups} : {y.type} into {{T}}", collapsed, y.element, y.dynamic
        )

    def copy(self, y: Value, read: list[str], init: Value) -> Value:
        """A generic operation that yields what it reads."""
        result = self.generic([(y, read)], (init, loops(len(init.shape or ()))), [])
        self.lines[-1] = self.lines[-1].replace("yield %r", "yield %b0")
        return result

    def cast(self, value: Value, dynamic: frozenset[int]) -> Value:
        """The tensor with these dynamic dimensions."""
        if value.dynamic == dynamic:
            return value
        return self.value(f"tensor.cast {value.name} : {value.type} to {{T}}", value.shape, value.element, dynamic)

    def ask_batch(self, value: Value, dim: int = 0) -> None:
        """Let empty tensors take the batch's extent from `value`."""
        index = self.value(f"arith.constant {dim} : index", None, "index")
        self.batch = self.value(f"tensor.dim {value.name}, {index.name} : {value.type}", None, "index").name


def _list(values: list[Value]) -> str:
    """`%a, %b : type, type`."""
    return f"{', '.join(one.name for one in values)} : {', '.join(one.type for one in values)}"


def scalar_code(tree: ast.expr, names: dict[str, str], element: str) -> list[str]:
    """The operations of an expression, the last one named %r."""
    lines: list[str] = []

    def emit(text: str) -> str:
        lines.append(f"%s{len(lines)} = {text}")
        return f"%s{len(lines) - 1}"

    def visit(node: ast.expr) -> str:
        if isinstance(node, ast.Name):
            return names[node.id]
        if isinstance(node, ast.Constant) and isinstance(node.value, float):
            return emit(f"arith.constant {literal(node.value)} : {element}")
        if isinstance(node, ast.NamedExpr):
            names[node.target.id] = visit(node.value)
            return names[node.target.id]
        if isinstance(node, ast.UnaryOp):
            return emit(f"arith.negf {visit(node.operand)} : {element}")
        if isinstance(node, ast.BinOp):
            left, right = visit(node.left), visit(node.right)
            return emit(f"arith.{OPS[type(node.op)]} {left}, {right} : {element}")
        assert isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        if node.func.id == "wide":
            constant = node.args[0]
            assert isinstance(constant, ast.Constant) and isinstance(constant.value, float)
            if element == "f64":
                return visit(constant)
            wide = emit(f"arith.constant {literal(constant.value)} : f64")
            return emit(f"arith.truncf {wide} : f64 to {element}")
        return emit(f"{CALLS[node.func.id]} {', '.join(visit(one) for one in node.args)} : {element}")

    result = visit(tree)
    lines[-1] = lines[-1].replace(f"{result} =", "%r =", 1)
    return lines


def module(bodies: list[Body]) -> str:
    """One module of all kernels; its `@main` saves their results in order."""
    functions, calls, saves = [], [], set()
    resources: dict[str, str] = {}
    saved = 0
    for body in bodies:
        results = ", ".join(one.type for one in body.results)
        names = ", ".join(one.name for one in body.results)
        lines = textwrap.indent("\n".join([*body.lines, f"return {names} : {results}"]), "  ")
        arguments = ", ".join(declaration for declaration, _, _ in body.arguments)
        name = f"k{body.program.number}"
        functions.append(f"func.func @{name}({arguments}) -> ({results}) {{\n{lines}\n}}\n")
        resources |= body.resources
        values = []
        for index, (_, type_, array) in enumerate(body.arguments):
            value = f"%{name}_{index}"
            text = f"dense<{dense(array)}>" if type_.startswith("tensor") else literal(float(array))
            calls.append(f"{value} = arith.constant {text} : {type_}")
            values.append(value)
        types = ", ".join(type_ for _, type_, _ in body.arguments)
        calls.append(f"%{name}:{len(body.results)} = call @{name}({', '.join(values)}) : ({types}) -> ({results})")
        for index, one in enumerate(body.results):
            place = f"%{name}s{index}"
            memref = one.type.replace("tensor", "memref")
            saves.add(one.element)
            calls += [
                f"{place} = bufferization.to_buffer %{name}#{index} read_only : {one.type} to {memref}",
                f"{place}_u = memref.cast {place} : {memref} to memref<*x{one.element}>",
                f"{place}_n = arith.constant {saved} : i64",
                f"{place}_k = arith.constant 0 : i64",
                f"call @fuseSave{SUFFIX[one.element]}({place}_u, {place}_n, {place}_k)"
                f" : (memref<*x{one.element}>, i64, i64) -> ()",
            ]
            saved += 1
    declared = "".join(
        f"func.func private @fuseSave{SUFFIX[one]}(memref<*x{one}>, i64, i64) attributes {{llvm.emit_c_interface}}\n"
        for one in sorted(saves)
    )
    main = textwrap.indent("\n".join([*calls, "return"]), "  ")
    text = f"{declared}{''.join(functions)}func.func @main() {{\n{main}\n}}\n"
    if resources:
        entries = ",\n".join(f'  {key}: "{value}"' for key, value in resources.items())
        text += f"{{-#\n  dialect_resources: {{ builtin: {{\n{entries}\n  }} }}\n#-}}\n"
    return text
