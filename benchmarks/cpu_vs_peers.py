#!/usr/bin/env python3
# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Time exports of benchmarks/models on the CPU, beside the peers that are installed.

Usage: cpu_vs_peers.py --fuse-run=TOOL [--models=NAME,NAME] [--threads=1]
                       [--engines=NAME,NAME] [--rounds=5] [--seconds=0.5]
                       [--json=FILE]

Engines: fuse, relaxed (fuse-run --numerics=relaxed), unfused (--mode=off), IREE (iree-compile of the same
export), eager and Inductor (torch, the module the export was made of), ORT
(onnxruntime, exported from that module), XLA (jax, for the models that
jax_models.py writes again; on as many threads as the machine has, unless it is
pinned). One that is not installed, or that
fails on a model, is skipped by name.

In each round every engine runs the model for --seconds, one after the other;
the ratio of a peer's p50 to that of `fuse` is taken in each round, so that what
else the machine does hits both. Printed are the median p50 and the largest p99
of the rounds in ms, and the median, least and largest ratio: above 1, fuse is
faster. --engines must hold fuse.

Exit status: 0; 2 if fuse-run fails.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
MODELS = ROOT / "benchmarks" / "models"
sys.path.insert(0, str(MODELS))

#: Models with weights, which are frozen.
NAMES = [
    "conv_bn_relu_b1",
    "conv_bn_relu_b8",
    "residual_block",
    "mlp",
    "bert_layer",
    "gpt2_block",
    "layernorm",
    "softmax",
    "gelu_chain",
    "rms_rope",
    "resnet18",
    "mobilenetv2",
    "resnet50",
]

#: Runs a model for that many seconds; p50 and p99 of the runs, in seconds.
Engine = Callable[[float], tuple[float, float]]


class Skip(Exception):
    """Why an engine does not take part."""


def percentile(times: list[float], share: float) -> float:
    """Nearest-rank percentile."""
    ordered = sorted(times)
    return ordered[max(0, min(len(ordered) - 1, round(share * len(ordered)) - 1))]


def repeated(call: Callable[[], Any]) -> Engine:
    """An engine of this process, after a warm-up."""
    for _ in range(2):
        call()

    def run(seconds: float) -> tuple[float, float]:
        times: list[float] = []
        end = time.perf_counter() + seconds
        while len(times) < 3 or time.perf_counter() < end:
            start = time.perf_counter()
            call()
            times.append(time.perf_counter() - start)
        return percentile(times, 0.5), percentile(times, 0.99)

    return run


def fuse_engine(tool: str, name: str, threads: int, *flags: str) -> Engine:
    """fuse-run with --json; the number of runs follows from the run before."""
    source = MODELS / f"{name}.linalg.mlir"
    last = 0.01

    def run(seconds: float) -> tuple[float, float]:
        nonlocal last
        with tempfile.TemporaryDirectory() as scratch:
            report = Path(scratch) / "report.json"
            command = [tool, str(source), "--params=1-", f"--threads={threads}", *flags]
            command += [f"--repeat={max(3, round(seconds / last))}", f"--json={report}", "--warmup=2"]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                raise RuntimeError(f"{' '.join(command)}: {done.stderr[:500]}")
            program = json.loads(report.read_text())["program"]
        last = program["p50_us"] * 1e-6
        return last, program["p99_us"] * 1e-6

    return run


def input_types(name: str) -> list[tuple[list[int], str]]:
    """Shapes and element types of @main's arguments."""
    text = (MODELS / f"{name}.linalg.mlir").read_text()
    found = re.search(r"func\.func @main\((.*?)\) ->", text, re.DOTALL)
    if not found:
        raise Skip("no @main")
    types = re.findall(r": tensor<((?:\d+x)*)(\w+)>", found[1])
    return [([int(extent) for extent in shape.split("x") if extent], element) for shape, element in types]


def iree_engine(name: str, threads: int, scratch: Path) -> Engine:
    """IREE with the flags that PEERS of the project found fastest: O3, host CPU, aggressive fusion."""
    if not importlib.util.find_spec("iree") or not shutil.which("iree-compile", path=tool_path()):
        raise Skip("not installed")
    import iree.runtime as rt
    import numpy as np

    module = scratch / f"{name}.vmfb"
    command = ["iree-compile", str(MODELS / f"{name}.linalg.mlir"), "-o", str(module)]
    command += ["--iree-hal-target-backends=llvm-cpu", "--iree-llvmcpu-target-cpu=host", "--iree-opt-level=O3"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | {"PATH": tool_path()})
    if done.returncode != 0:
        raise Skip(done.stderr.strip().splitlines()[0][:100] if done.stderr else "does not compile")
    if threads > 1:
        rt.flags.parse_flags(f"--task_topology_max_group_count={threads}")
    config = rt.Config("local-sync" if threads == 1 else "local-task")
    context = rt.SystemContext(config=config)
    context.add_vm_module(rt.VmModule.copy_buffer(config.vm_instance, module.read_bytes()))
    main = context.modules.module["main"]
    random = np.random.default_rng(0)
    inputs = []
    for shape, element in input_types(name):
        if element != "f32":
            raise Skip(f"argument of {element}")
        values = random.uniform(0.5, 1.5, shape).astype(np.float32)
        inputs.append(rt.asdevicearray(config.device, values))
    return repeated(lambda: main(*inputs))


def tool_path() -> str:
    """PATH with the folder of this Python in front."""
    return f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"


def torch_engine(name: str, threads: int, compiled: bool) -> Engine:
    if not importlib.util.find_spec("torch"):
        raise Skip("not installed")
    import torch
    from torch_models import build

    torch.set_num_threads(threads)
    module, inputs = build(name)
    if compiled:
        torch._inductor.config.freezing = True
        module = torch.compile(module)

    def call() -> None:
        with torch.no_grad():
            module(*inputs)

    return repeated(call)


def ort_engine(name: str, threads: int, scratch: Path) -> Engine:
    for needed in ("onnxruntime", "torch", "onnxscript"):
        if not importlib.util.find_spec(needed):
            raise Skip(f"{needed} is not installed")
    import onnxruntime
    import torch
    from torch_models import build

    module, inputs = build(name)
    path = scratch / f"{name}.onnx"
    torch.onnx.export(module, inputs, path, dynamo=True, external_data=False, verbose=False)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    feed = {session.get_inputs()[0].name: inputs[0].numpy()}
    return repeated(lambda: session.run(None, feed))


def xla_engine(name: str, threads: int) -> Engine:
    if not importlib.util.find_spec("jax"):
        raise Skip("not installed")
    flags = f"--xla_cpu_multi_thread_eigen={'true' if threads > 1 else 'false'} intra_op_parallelism_threads={threads}"
    os.environ.setdefault("XLA_FLAGS", flags)
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    import jax
    from jax_models import MODELS as written

    if name not in written:
        raise Skip("jax_models.py does not have it")
    function, inputs = written[name]()
    compiled = jax.jit(function)
    return repeated(lambda: compiled(*inputs).block_until_ready())


def engines_for(name: str, options: argparse.Namespace, scratch: Path) -> dict[str, Engine]:
    """The engines that run `name`; the others are named."""
    makers: dict[str, Callable[[], Engine]] = {
        "fuse": lambda: fuse_engine(options.fuse_run, name, options.threads),
        "relaxed": lambda: fuse_engine(options.fuse_run, name, options.threads, "--numerics=relaxed"),
        "unfused": lambda: fuse_engine(options.fuse_run, name, options.threads, "--mode=off"),
        "IREE": lambda: iree_engine(name, options.threads, scratch),
        "eager": lambda: torch_engine(name, options.threads, compiled=False),
        "Inductor": lambda: torch_engine(name, options.threads, compiled=True),
        "ORT": lambda: ort_engine(name, options.threads, scratch),
        "XLA": lambda: xla_engine(name, options.threads),
    }
    found: dict[str, Engine] = {}
    for engine in options.engines.split(",") if options.engines else makers:
        try:
            found[engine] = makers[engine]()
        except Skip as why:
            print(f"skipped: {engine} on {name}: {why}")
        except Exception as error:  # a peer's own failure is not ours
            if engine in ("fuse", "unfused"):
                raise
            print(f"skipped: {engine} on {name}: {type(error).__name__}: {str(error).splitlines()[0][:100]}")
    return found


def measure(name: str, options: argparse.Namespace, scratch: Path) -> dict[str, Any]:
    """Times and ratios of one model."""
    engines = engines_for(name, options, scratch)
    times: dict[str, list[tuple[float, float]]] = {engine: [] for engine in engines}
    for _ in range(options.rounds):
        for engine, run in engines.items():
            times[engine].append(run(options.seconds))
    ours = [p50 for p50, _ in times["fuse"]]
    return {
        "model": name,
        "engines": {
            engine: {
                "p50_ms": statistics.median(p50 for p50, _ in rounds) * 1e3,
                "p99_ms": max(p99 for _, p99 in rounds) * 1e3,
                "ratios": [p50 / own for (p50, _), own in zip(rounds, ours, strict=True)],
            }
            for engine, rounds in times.items()
        },
    }


def print_model(result: dict[str, Any]) -> None:
    for engine, numbers in result["engines"].items():
        line = f"{result['model']:<16} {engine:<9} {numbers['p50_ms']:>9.3f} {numbers['p99_ms']:>9.3f}"
        ratios = numbers["ratios"]
        if engine != "fuse":
            line += f" {statistics.median(ratios):>7.2f} {min(ratios):>6.2f}-{max(ratios):.2f}"
        print(line, flush=True)


def main(arguments: list[str]) -> int:
    """Command line; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fuse-run", required=True)
    parser.add_argument("--models", default=",".join(NAMES))
    parser.add_argument("--engines", default="")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    results = []
    print(f"{'model':<16} {'engine':<9} {'p50 ms':>9} {'p99 ms':>9} {'ratio':>7} {'spread':>9}", flush=True)
    with tempfile.TemporaryDirectory(prefix="fuse-peers-") as scratch:
        for name in options.models.split(","):
            try:
                results.append(measure(name, options, Path(scratch)))
            except RuntimeError as error:
                print(f"error: {name}: {error}", file=sys.stderr)
                return 2
            print_model(results[-1])
    if options.json:
        report = {"version": 1, "threads": options.threads, "rounds": options.rounds, "models": results}
        temporary = options.json.with_suffix(".tmp")
        temporary.write_text(json.dumps(report, indent=1) + "\n")
        temporary.replace(options.json)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
