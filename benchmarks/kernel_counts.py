#!/usr/bin/env python3
# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Count kernels, and the bytes between them, on all exports of benchmarks/models.

Usage: kernel_counts.py --fuse-opt=TOOL [--models=NAME,NAME] [--target=sm_80]
                        [--list] [--check] [--write-docs] [--values]

Each export goes through mark-params, boundary, conv-bn and greedy, once for
each objective. Counted by the rules of peers.json, on the printed IR alone:

  kernels  each fuse.kernel outside the preparation, and each operation outside
           of one that computes or copies (reshapes, casts, slices, empty
           tensors and fills are free)
  bytes    each distinct tensor that a kernel reads once in full, each that it
           writes once, summed over the kernels; scalars are nothing

What depends on parameters only is computed once (@main.prepare) and listed
beside it. --list names each kernel. --check fails where a limit is exceeded or
docs/KernelCounts.md is out of date; --write-docs writes that page. --values
also runs the programs, fused and unfused again, against the originals.
Exit status: 0, 1 if a check fails, 2 if something cannot be run or read.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "test" / "tools"))

from kernel_text import Kernel, Op, bytes_of, functions, kernels_of, parse  # noqa: E402
from mlir_text import MlirTextError  # noqa: E402

PAGE = ROOT / "docs" / "KernelCounts.md"
OBJECTIVES = ("time", "bytes")

#: Most kernels under objective=time.
MOST_KERNELS = {
    **dict.fromkeys(("conv_bn_relu_b1", "conv_bn_relu_b8"), 1),
    **dict.fromkeys(("softmax", "layernorm", "gelu_chain", "rms_rope"), 1),
    **dict.fromkeys(("residual_block", "mlp"), 2),
    **dict.fromkeys(("bert_layer", "gpt2_block"), 7),
    **{"resnet18": 20, "resnet50": 55, "mobilenetv2": 43},
}
#: Most kernels under objective=bytes, where chains pay more often.
MOST_KERNELS_FOR_BYTES = {"resnet18": 19, "resnet50": 54, "mobilenetv2": 19}


class CountError(RuntimeError):
    """A model that cannot be planned or whose output cannot be read."""


@dataclass
class Result:
    """One model under one objective; bytes are exact."""

    kernels: list[Kernel]
    prepared: list[Kernel]
    bound: int
    seconds: float = 0.0  # predicted, without the preparation

    @property
    def moved(self) -> int:
        return sum(one.moved for one in self.kernels)


def flags(objective: str, target: str) -> list[str]:
    """The passes, as options of fuse-opt."""
    return [
        "--fuse-mark-params=args=1-",
        f"--fuse-boundary=target={target}",
        "--fuse-conv-bn",
        f"--fuse-greedy=objective={objective}",
    ]


#: What the planner predicts for one call of @main.
PREDICTED = re.compile(r"plan \| .*Function=main .*\bMicroSeconds=([0-9.]+)")


def plan(tool: str, model: Path, objective: str, target: str) -> tuple[Op, float]:
    """The planned module and the seconds it is predicted to take; raises CountError."""
    printing = ["--mlir-print-op-generic", "--mlir-elide-elementsattrs-if-larger=8"]
    command = [tool, str(model), *flags(objective, target), *printing, "--mlir-elide-resource-strings-if-larger=8"]
    command += ["--remarks-filter=fuse-plan", "--remark-format=emitRemark"]
    try:
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=300)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CountError(str(error)) from None
    if done.returncode != 0:
        raise CountError(f"{model.name}: status {done.returncode}\n{done.stderr[:2000]}")
    predicted = PREDICTED.search(done.stderr)
    if not predicted:
        raise CountError(f"{model.name}: the planner predicts no time")
    try:
        return parse(done.stdout), float(predicted.group(1)) * 1e-6
    except MlirTextError as error:
        raise CountError(f"{model.name}: {error}") from None


def count(module: Op, seconds: float) -> Result:
    """Kernels and bytes of a planned module with a @main."""
    found = functions(module)
    main = found["main"]
    types = next(one for one in main.body if one.name == "func.return").operand_types
    bound = sum(bytes_of(kind) for kind in [*main.argument_types, *types])
    prepare = found.get("main.prepare")
    return Result(
        kernels=kernels_of(found.get("main.body", main)),
        prepared=kernels_of(prepare) if prepare else [],
        bound=bound,
        seconds=seconds,
    )


def listing(name: str, objective: str, result: Result) -> str:
    """Every kernel: class, bytes, what it holds."""
    lines = [f"{name}, objective {objective}: {len(result.kernels)} kernels, {mega(result.moved)} MB"]
    for index, one in enumerate(result.kernels):
        glue = ("tensor.empty", "linalg.fill", "fuse.yield", "arith.constant")
        inside = [op.name.partition(".")[2] for op in one.op.body if op.name not in glue]
        reads = " + ".join(f"{size / 1e6:.3g}" for size in one.inputs.values() if size > 50000)
        writes = " + ".join(f"{size / 1e6:.3g}" for size in one.outputs.values())
        lines.append(f"  {index:3} {one.kind:12} {one.moved / 1e6:8.3f} MB ({reads} -> {writes})  {' '.join(inside)}")
    return "\n".join(lines)


def mega(size: float) -> str:
    """Bytes as MB with at least three digits."""
    return f"{size / 1e6:.2f}" if size < 20e6 else f"{size / 1e6:.1f}"


def rounded(size: float, like: Decimal) -> Decimal:
    """Bytes in MB, rounded to the digits of `like`."""
    return Decimal(size).scaleb(-6).quantize(like)


def exceeded(name: str, results: dict[str, Result], peers: dict[str, Any]) -> list[str]:
    """Limits that a model exceeds, in words."""
    wrong = []
    kernels = len(results["time"].kernels)
    if kernels > MOST_KERNELS[name]:
        wrong.append(f"{name}: {kernels} kernels under objective=time, at most {MOST_KERNELS[name]}")
    kernels = len(results["bytes"].kernels)
    if name in MOST_KERNELS_FOR_BYTES and kernels > MOST_KERNELS_FOR_BYTES[name]:
        wrong.append(f"{name}: {kernels} kernels under objective=bytes, at most {MOST_KERNELS_FOR_BYTES[name]}")
    others = peers["bytes"]["rows"][name]
    if rounded(results["time"].bound, others["bound"]) != others["bound"]:
        wrong.append(f"{name}: arguments and results of {results['time'].bound} bytes, expected {others['bound']} MB")
    best = Decimal(others["best"])
    moved = results["bytes"].moved
    if rounded(moved, best) > best:
        wrong.append(f"{name}: {moved / 1e6:.3f} MB under objective=bytes, at most {best} MB")
    return wrong


def geomean(values: list[float]) -> float:
    """The geometric mean."""
    return math.exp(sum(math.log(one) for one in values) / len(values))


COLUMNS = (
    *("model", "kernels (time)", "kernels (bytes)", "best peer", "ours/best"),
    *("prepared", "MB (time)", "MB (bytes)", "best peer", "ours/best", "bound"),
)


def table(counted: dict[str, dict[str, Result]], peers: dict[str, Any]) -> str:
    """Our numbers beside the peers'; `ours` is the objective that the columns minimise."""
    lines = []
    ratios: list[tuple[float, float, float]] = []
    for name, results in counted.items():
        time, size = results["time"], results["bytes"]
        row = peers["kernels"]["rows"][name]["peers"]
        fewest = min(row)
        who = peers["kernels"]["columns"][row.index(fewest)]
        others = peers["bytes"]["rows"][name]
        best = Decimal(others["best"])
        ratio = (len(time.kernels) / fewest, size.moved / 1e6 / float(best), size.moved / size.bound)
        ratios.append(ratio)
        lines.append(
            f"| {name} | {len(time.kernels)} | {len(size.kernels)} | {fewest} ({who}) | {ratio[0]:.2f}"
            f" | {len(time.prepared)} | {mega(time.moved)} | {mega(size.moved)} | {best} | {ratio[1]:.2f}"
            f" | {mega(size.bound)} |"
        )
    means = [geomean([one[index] for one in ratios]) for index in range(3)]
    lines.append(f"| geomean | | | | {means[0]:.2f} | | | | | {means[1]:.2f} | {means[2]:.2f} x |")
    head = [f"| {' | '.join(COLUMNS)} |", "|---" * len(COLUMNS) + "|"]
    return "\n".join(head + lines) + "\n"


def contents(kernel: Kernel) -> tuple[str, ...]:
    """What a kernel computes, by name, to tell kernels of two plans apart."""
    return (kernel.kind, *(one.name for one in kernel.op.body))


def replaced(results: dict[str, Result]) -> str:
    """Classes of the kernels of either plan that the other has not, in words."""
    time, size = (Counter(contents(one) for one in results[key].kernels) for key in OBJECTIVES)

    def classes(difference: Counter[tuple[str, ...]]) -> str:
        found = Counter[str]()
        for (kind, *_), number in difference.items():
            found[kind] += number
        return ", ".join(f"{number} {kind}" for kind, number in sorted(found.items()))

    return f"{classes(size - time)} instead of {classes(time - size)}"


def trade_offs(counted: dict[str, dict[str, Result]]) -> str:
    """Where fewer bytes are predicted to take more time: both plans, and what differs."""
    lines = []
    for name, results in counted.items():
        time, size = results["time"], results["bytes"]
        if size.moved >= time.moved or size.seconds <= time.seconds:
            continue
        plans = [f"{len(one.kernels)}, {mega(one.moved)} MB, {one.seconds * 1e6:.1f} us" for one in (time, size)]
        lines.append(f"| {name} | {plans[0]} | {plans[1]} | {replaced(results)} |")
    head = ["| model | objective `time` | objective `bytes` | for fewer bytes |", "|---|---|---|---|"]
    return "\n".join(head + lines) + "\n"


def peer_tables(peers: dict[str, Any]) -> str:
    """What the peers reach, as measured."""
    text = ""
    for key, title in (("kernels", "Kernels of the peers"), ("bytes", "MB between kernels of the peers")):
        part = peers[key]
        lines = [f"| model | {' | '.join(part['columns'])} |", "|---" * (len(part["columns"]) + 1) + "|"]
        lines += [f"| {name} | {' | '.join(map(str, row['peers']))} |" for name, row in part["rows"].items()]
        text += f"\n## {title}\n\n" + "\n".join(lines) + "\n"
        for name, note in part.get("notes", {}).items():
            text += f"\n{name}: {note}.\n"
    return text


def page(counted: dict[str, dict[str, Result]], peers: dict[str, Any]) -> str:
    """docs/KernelCounts.md."""
    rules = "\n".join(f"- {name}: {rule}" for name, rule in peers["kernels"]["rules"].items())
    return f"""<!-- Generated by benchmarks/kernel_counts.py --write-docs; edit that and benchmarks/peers.json. -->

# Kernels and bytes on the exports

What `--fuse-mark-params=args=1- --fuse-boundary=target=sm_80 --fuse-conv-bn --fuse-greedy` makes of the exports in
`benchmarks/models`, under both objectives, beside the best of eleven configurations of other compilers on the same
files. A kernel is a `fuse.kernel`, or an operation outside of one that computes or copies; reshapes, casts, slices,
empty tensors and fills are free. What depends on parameters only is computed once, in `@main.prepare`, and counts as
*prepared*. Bytes: each distinct tensor that a kernel reads once in full, each that it writes once, summed over the
kernels; the bound is arguments plus results, and MB are 10^6 bytes. The column `ours/best` compares objective `time`
in kernels and objective `bytes` in bytes; below 1 is better than the best.

{table(counted, peers)}
Where fewer bytes are predicted to take more time, both plans (kernels, bytes and the time of a call), and the kernels
of one that the other has not: what such a kernel evaluates again, or the smaller tile that it needs, takes longer than
the bytes that it saves.

{trade_offs(counted)}
Limits that `benchmarks/kernel_counts.py --check` holds: kernels under objective `time`
{", ".join(f"{name} {most}" for name, most in MOST_KERNELS.items())}; under `bytes`
{", ".join(f"{name} {most}" for name, most in MOST_KERNELS_FOR_BYTES.items())}; bytes under objective `bytes`
at most those of the best peer.

Peers, measured {peers["measured"]}; {peers["versions"]}. Their kernels are counted as

{rules}
{peer_tables(peers)}"""


def compare_values(tool: str, models: list[Path], target: str) -> int:
    """Run test/tools/compare_models.py on plans that are dissolved again; its exit status."""
    status = 0
    for objective in OBJECTIVES:
        passes = " ".join([*flags(objective, target), "--fuse-unfuse"])
        script = str(ROOT / "test" / "tools" / "compare_models.py")
        command = [sys.executable, script, f"--fuse-opt={tool}", f"--passes={passes}", *map(str, models)]
        print(f"values, objective {objective}:", flush=True)
        status = max(status, subprocess.run(command, check=False).returncode)
    return status


def check_page(text: str) -> list[str]:
    """What is wrong with the committed page."""
    if PAGE.exists() and PAGE.read_text() == text:
        return []
    return [f"{PAGE.relative_to(ROOT)} is out of date; run benchmarks/kernel_counts.py --write-docs"]


def main(arguments: list[str]) -> int:
    """Command line; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fuse-opt", required=True)
    parser.add_argument("--models", default="", help="names without .linalg.mlir; default: all")
    parser.add_argument("--target", default="sm_80")
    for flag in ("--list", "--check", "--write-docs", "--values"):
        parser.add_argument(flag, action="store_true")
    options = parser.parse_args(arguments)
    peers = json.loads((ROOT / "benchmarks" / "peers.json").read_text(), parse_float=Decimal)
    names = [one for one in options.models.split(",") if one] or list(peers["kernels"]["rows"])
    counted: dict[str, dict[str, Result]] = {}
    models = [ROOT / "benchmarks" / "models" / f"{name}.linalg.mlir" for name in names]
    wrong: list[str] = []
    try:
        for name, model in zip(names, models, strict=True):
            counted[name] = {one: count(*plan(options.fuse_opt, model, one, options.target)) for one in OBJECTIVES}
            wrong += exceeded(name, counted[name], peers)
    except (CountError, KeyError, MlirTextError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    if options.list:
        for name, results in counted.items():
            for objective, result in results.items():
                print(listing(name, objective, result))
    print(table(counted, peers), end="")
    print(trade_offs(counted), end="")
    if options.write_docs:
        PAGE.write_text(page(counted, peers))
    elif options.check and not options.models:
        wrong += check_page(page(counted, peers))
    status = 0
    for one in wrong if options.check else []:
        print(f"error: {one}", file=sys.stderr)
        status = 1
    return max(status, compare_values(options.fuse_opt, models, options.target)) if options.values else status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
