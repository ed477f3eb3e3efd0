"""tuibench beside other tools on the same cores, in alternating pairs: latency, and throughput of streams.

python -m tests.benchmarks.peers [--pairs 10] [--seconds 3] [--vendor PYTHON]

PYTHON is an interpreter with the whole package of DeepSparse 1.8.0, whose own command is a peer. `benchmark_app` comes
with OpenVINO. A peer that is not installed is left out, with the reason. Leave the machine alone meanwhile.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from onnx import ModelProto, TensorProto, helper, numpy_helper

LATENCY_WITHIN, THROUGHPUT_FROM = 0.03, 0.99
WARMUP_S = 1.0

Measure = Callable[[Path, tuple[int, ...], int], float]
"""Model, shape of its input and seconds to the figure: median ms of a call, or items per second."""


@dataclass(frozen=True)
class Peer:
    """One comparison: a figure of ours and the same of another tool."""

    name: str
    ours: Measure
    theirs: Measure
    is_latency: bool
    missing: str = ""
    """Why it is left out."""


def main() -> None:
    """Print the ratio of ours to theirs for each peer and model."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--seconds", type=int, default=3, help="of each figure; the other tools take whole seconds")
    parser.add_argument("--vendor", default="")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        for name, model, shape in make_models(Path(scratch)):
            for peer in find_peers(given.vendor):
                if peer.missing:
                    print(f"{name}, {peer.name}: left out: {peer.missing}")
                    continue
                ratios = [pair(peer, model, shape, given.seconds, number) for number in range(given.pairs)]
                print(f"{name}, {peer.name}: {verdict(ratios, peer.is_latency)}", flush=True)


def pair(peer: Peer, model: Path, shape: tuple[int, ...], seconds: int, number: int) -> float:
    """Return ours / theirs; every other pair begins with theirs."""
    both = [peer.ours, peer.theirs]
    order = (0, 1) if number % 2 == 0 else (1, 0)
    found = {index: both[index](model, shape, seconds) for index in order}
    return found[0] / found[1]


def verdict(ratios: list[float], is_latency: bool) -> str:
    """Return the median ratio with the interval of its order statistics, and whether it holds."""
    ranked = sorted(ratios)
    middle = statistics.median(ranked)
    # The second smallest and second largest of ten enclose the median with 97.9 %.
    low, high = ranked[min(1, len(ranked) - 1)], ranked[max(len(ranked) - 2, 0)]
    if is_latency:
        holds = abs(middle - 1) <= LATENCY_WITHIN
    else:
        holds = middle >= THROUGHPUT_FROM and high >= 1.0
    wanted = f"1 +- {LATENCY_WITHIN:g}" if is_latency else f"at least {THROUGHPUT_FROM:g}, interval up to 1"
    return f"ours / theirs {middle:.4f} [{low:.4f}, {high:.4f}] of {len(ranked)}  ({wanted}: {holds_words(holds)})"


def holds_words(holds: bool) -> str:
    """Return the end of a figure's line."""
    return "holds" if holds else "DOES NOT HOLD"


def find_peers(vendor: str) -> list[Peer]:
    """Return every comparison, with the reason for those that cannot be made here."""
    cores = len(os.sched_getaffinity(0))
    app = Path(sys.executable).with_name("benchmark_app")
    no_app = "" if app.exists() else "OpenVINO is not installed here"
    no_vendor = "" if vendor else "no --vendor interpreter was given"
    no_engine = "" if vendor and has_engine("deepsparse") else "tuibench engines install deepsparse comes first"
    return [
        Peer("latency of benchmark_app", ours("openvino", "sync", "p50"), app_figure(app, cores, 1), True, no_app),
        Peer(
            "throughput of benchmark_app", ours("openvino", "async", ""), app_figure(app, cores, cores), False, no_app
        ),
        Peer("throughput of a bare loop", ours("onnxruntime", "async", ""), bare_loop, False),
        Peer(
            "latency of deepsparse.benchmark",
            ours("deepsparse", "sync", "p50"),
            vendor_figure(vendor, cores, "sync"),
            True,
            no_vendor or no_engine,
        ),
        Peer(
            "throughput of deepsparse.benchmark",
            ours("deepsparse", "async", ""),
            vendor_figure(vendor, cores, "async"),
            False,
            no_vendor or no_engine,
        ),
    ]


def has_engine(name: str) -> bool:
    """Return whether an engine is installed in an interpreter of its own."""
    command = [sys.executable, "-P", "-m", "tuibench", "engines", "--json"]
    listed = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)["engines"]
    return any(one["id"].startswith(name) and one["state"] == "installed" for one in listed)


def ours(engine: str, scenario: str, figure: str) -> Measure:
    """Return the measurement with tuibench: the median of a call, or the items per second without ramp and drain."""

    def measure(model: Path, shape: tuple[int, ...], seconds: int) -> float:
        flags = ["-e", engine, "-s", scenario, "--executions", "1", "-t", str(seconds), "-w", str(WARMUP_S)]
        given = ["-shapes", str(list(shape)).replace(" ", ""), "--no-save", "--no-check", "--distinct-inputs", "1"]
        command = [sys.executable, "-P", "-m", "tuibench", "benchmark", str(model), *flags, *given, "-q", "-x", "-"]
        exported = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        if figure:
            return float(exported["benchmark_result"]["median"])
        (cell,) = exported["tuibench"]["cells"]
        return float(np.mean([one["calls_per_s"] for one in cell["executions"]])) * shape[0]

    return measure


def app_figure(app: Path, cores: int, streams: int) -> Measure:
    """Return the measurement with benchmark_app: latency with one stream, else throughput."""

    def measure(model: Path, shape: tuple[int, ...], seconds: int) -> float:
        command = [str(app), "-m", str(model), "-hint", "none", "-nstreams", str(streams), "-nthreads", str(cores)]
        command += ["-infer_precision", "f32", "-shape", str(list(shape)).replace(" ", ""), "-t", str(seconds)]
        command += ["-api", "sync" if streams == 1 else "async"]
        environment = {**os.environ, "CI": "true"}  # its telemetry stays off
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
        return number(r"Median:\s+([\d.]+) ms" if streams == 1 else r"Throughput:\s+([\d.]+) FPS", done.stdout)

    return measure


def vendor_figure(python: str, cores: int, scenario: str) -> Measure:
    """Return the measurement with deepsparse.benchmark, whose default is a stream for every second core."""

    def measure(model: Path, shape: tuple[int, ...], seconds: int) -> float:
        command = [python, "-m", "deepsparse.benchmark.benchmark_model", str(model), "-s", scenario]
        command += ["-ncores", str(cores), "-nstreams", str(cores if scenario == "async" else 1)]
        command += ["-t", str(seconds), "-w", str(int(WARMUP_S)), "-b", str(shape[0])]
        environment = {**os.environ, "NM_DISABLE_ANALYTICS": "1"}
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
        sought = (
            r"Latency Median \(ms/batch\): ([\d.]+)" if scenario == "sync" else r"Throughput \(items/sec\): ([\d.]+)"
        )
        return number(sought, done.stdout)

    return measure


BARE = """
import os, sys, threading, time
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
import numpy as np, onnxruntime as ort
path, seconds, warmup, shape = sys.argv[1], float(sys.argv[2]), float(sys.argv[3]), eval(sys.argv[4])
cpus = sorted(os.sched_getaffinity(0))
feed = np.random.default_rng(0).random(shape, dtype=np.float32)
counts, gate = [0] * len(cpus), threading.Barrier(len(cpus))
def stream(index):
    os.sched_setaffinity(0, {cpus[index]})
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    binding = session.io_binding()
    name = session.get_inputs()[0].name
    binding.bind_ortvalue_input(name, ort.OrtValue.ortvalue_from_numpy(feed))
    binding.bind_output(session.get_outputs()[0].name, "cpu")
    run = session.run_with_iobinding
    run(binding)
    binding.bind_ortvalue_output(session.get_outputs()[0].name, binding.get_outputs()[0])
    end = time.perf_counter() + warmup
    while time.perf_counter() < end:
        run(binding)
    gate.wait()
    end, count = time.perf_counter() + seconds, 0
    begin = time.perf_counter()
    while (now := time.perf_counter()) < end:
        run(binding)
        count += 1
    counts[index] = count / (time.perf_counter() - begin)
threads = [threading.Thread(target=stream, args=(i,)) for i in range(len(cpus))]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(sum(counts) * shape[0])
"""
"""One session and one pinned thread per core, and nothing else."""


def bare_loop(model: Path, shape: tuple[int, ...], seconds: int) -> float:
    """Return the items per second of a loop without any tool."""
    command = [sys.executable, "-c", BARE, str(model), str(seconds), str(WARMUP_S), str(shape)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def number(expression: str, text: str) -> float:
    """Return the number that a tool printed."""
    found = re.search(expression, text)
    if found is None:
        raise ValueError(f"no {expression} in: {text[-500:]}")
    return float(found[1])


def make_models(folder: Path) -> list[tuple[str, Path, tuple[int, ...]]]:
    """Write the models: a perceptron at batch 1, and the architecture of ResNet-50 with random weights."""
    made = {"MLP 1024-4096-4096-4096-1000": (mlp(), (1, 1024)), "ResNet-50": (resnet50(), (1, 3, 224, 224))}
    found = []
    for name, (model, shape) in made.items():
        path = folder / f"{name.partition(' ')[0].lower()}.onnx"
        path.write_bytes(model.SerializeToString())
        found.append((name, path, shape))
    return found


class Graph:
    """Nodes and seeded weights of a model in the making."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.weights: list[Any] = []
        self._random = np.random.default_rng(0)

    def add(self, op: str, fed: list[str], **attributes: Any) -> str:
        """Add a node; return the name of its output."""
        name = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, fed, [name], **attributes))
        return name

    def weight(self, *shape: int) -> str:
        """Add a weight, scaled so that values keep their size through the layers."""
        name = f"w{len(self.weights)}"
        scale = math.sqrt(2.0 / max(math.prod(shape[1:]), 1))
        values = self._random.standard_normal(shape, dtype=np.float32) * np.float32(scale)
        self.weights.append(numpy_helper.from_array(values, name))
        return name

    def conv(self, fed: str, wide: int, narrow: int, size: int, stride: int = 1, relu: bool = True) -> str:
        """Add a convolution with its folded normalization."""
        pads = [size // 2] * 4
        inner = [fed, self.weight(wide, narrow, size, size), self.weight(wide)]
        out = self.add("Conv", inner, kernel_shape=[size, size], strides=[stride] * 2, pads=pads)
        return self.add("Relu", [out]) if relu else out

    def model(self, fed: list[int], out: str, width: int) -> ModelProto:
        """Return the model with one input and one output."""
        ports = [helper.make_tensor_value_info("x", TensorProto.FLOAT, fed)]
        outs = [helper.make_tensor_value_info(out, TensorProto.FLOAT, [fed[0], width])]
        graph = helper.make_graph(self.nodes, "peer", ports, outs, self.weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8)


def mlp() -> ModelProto:
    """Return a perceptron whose weights are read from memory in every call."""
    graph, out, sizes = Graph(), "x", (1024, 4096, 4096, 4096, 1000)
    for index, (narrow, wide) in enumerate(itertools.pairwise(sizes)):
        out = graph.add("Gemm", [out, graph.weight(wide, narrow), graph.weight(wide)], transB=1)
        out = graph.add("Relu", [out]) if index < len(sizes) - 2 else out
    return graph.model([1, sizes[0]], out, sizes[-1])


def resnet50() -> ModelProto:
    """Return the 50 layers of ResNet-50."""
    graph = Graph()
    out = graph.conv("x", 64, 3, 7, 2)
    out = graph.add("MaxPool", [out], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    channels = 64
    for stage, blocks in enumerate((3, 4, 6, 3)):
        for block in range(blocks):
            inner, wide = 64 << stage, 256 << stage
            stride = 2 if stage and not block else 1
            skip = graph.conv(out, wide, channels, 1, stride, relu=False) if not block else out
            out = graph.conv(graph.conv(out, inner, channels, 1), inner, inner, 3, stride)
            out = graph.add("Relu", [graph.add("Add", [graph.conv(out, wide, inner, 1, relu=False), skip])])
            channels = wide
    out = graph.add("Flatten", [graph.add("GlobalAveragePool", [out])])
    return graph.model(
        [1, 3, 224, 224], graph.add("Gemm", [out, graph.weight(1000, 2048), graph.weight(1000)], transB=1), 1000
    )


if __name__ == "__main__":
    main()
