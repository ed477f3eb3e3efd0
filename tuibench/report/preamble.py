"""What is said on stderr before measuring: what will run, on which CPUs, fed with what, and which flag changes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tuibench.core.model import ModelSummary, Point
from tuibench.core.text import show
from tuibench.core.units import count_of, cpu_ranges, scaled, seconds, short, size
from tuibench.report.feed import ROTATING, feed_lines
from tuibench.report.style import to_ascii

_MOST_OPERATORS = 4


@dataclass(frozen=True, slots=True)
class EngineFact:
    """An engine as it will be used."""

    name: str
    version: str
    threads: tuple[int, ...]
    """One number per core count of the sweep."""
    isa: tuple[str, ...]
    """What the CPU offers: AVX512, VNNI, BF16, AMX …"""


@dataclass(frozen=True, slots=True)
class StreamChoice:
    """How many streams async uses at one core count, and why."""

    cores: int
    streams: int
    why: str
    """asked, or how the default came about."""


@dataclass(frozen=True, slots=True)
class Preamble:
    """All that is known before the first worker starts."""

    pin: str
    cpus: tuple[int, ...]
    engines: tuple[EngineFact, ...]
    models: tuple[str, ...]
    """As the user named them."""
    points: tuple[Point, ...]
    streams: tuple[StreamChoice, ...]
    cells: int
    expected_s: float
    limit_s: float
    notes: tuple[str, ...] = ()
    """What the reading of the command line had to say, and warnings."""
    summaries: tuple[ModelSummary, ...] = ()
    parts: tuple[str, ...] = ()
    """Of a profile: what is made, one after the other; there are no cells then."""
    time: tuple[str, ...] = ()
    """Of a profile: lines about how long that takes, where it can be told by now."""


def preamble_text(preamble: Preamble, ascii_only: bool = False) -> str:
    """Return the text for stderr."""
    text = "\n".join(preamble_lines(preamble)) + "\n"
    return to_ascii(text) if ascii_only else text


def preamble_lines(preamble: Preamble) -> list[str]:
    """Return the lines in the order in which a reader asks, each safe to show."""
    lines = [show(note, 500) for note in preamble.notes]
    pinning = pinning_line(preamble.pin, preamble.cpus)
    # A profile pins as every benchmark does by default, and has no flag for it.
    lines.append(pinning.partition(" (")[0] if preamble.parts else pinning)
    lines += [engine_line(engine) for engine in preamble.engines]
    lines += [model_line(*pair) for pair in zip(preamble.models, preamble.summaries, strict=False)]
    fed = feed_lines(preamble.points, preamble.models)
    lines += [line for line in fed if not line.startswith(ROTATING)] if preamble.parts else fed
    lines += [stream_line(choice) for choice in preamble.streams]
    if preamble.parts:
        return [*lines, f"Plan: {', '.join(preamble.parts)}", *preamble.time]
    return [*lines, plan_line(preamble.cells, preamble.expected_s, preamble.limit_s)]


def pinning_line(pin: str, cpus: Sequence[int]) -> str:
    """Where the workers may run."""
    where = f"CPU {cpu_ranges(cpus)}" if cpus else "the CPUs of its process"
    how = "each engine thread on one CPU" if pin == "core" else "threads move among them"
    return f"Pinning: {show(pin, 20)}, {where}, {how} (-pin none|core)"


def engine_line(engine: EngineFact) -> str:
    """Engine, version, threads and instruction sets."""
    threads = ",".join(str(count) for count in engine.threads)
    isa = " ".join(show(name, 20) for name in engine.isa) or "unknown"
    return f"Engine: {show(engine.name, 40)} {show(engine.version, 40)}, threads {threads}, ISA {isa}"


def model_line(name: str, model: ModelSummary) -> str:
    """What the model is, as far as inspecting it could tell."""
    facts = [size(model.file_bytes + model.external_bytes)]
    if model.opsets:
        facts.append("opset " + ", ".join(f"{show(d, 20)} {v}" if d else str(v) for d, v in model.opsets.items()))
    if model.nodes is not None:
        facts.append(count_of(model.nodes, "node"))
    if model.operators:
        top = sorted(model.operators.items(), key=lambda item: -item[1])[:_MOST_OPERATORS]
        facts[-1] += " (" + ", ".join(f"{count} {show(op, 30)}" for op, count in top) + ")"
    if model.parameters:
        facts.append(
            f"{scaled(model.parameters)} parameters {'+'.join(show(t, 20) for t in model.weight_types or {})}".rstrip()
        )
        if model.zeros is not None:
            facts[-1] += f", {short(100 * model.zeros / model.parameters, 2)} % zeros"
    if model.quantization:
        facts.append(show(model.quantization, 60))
    if model.reason:
        facts.append(show(model.reason, 120))
    return f"Model {show(name, 100)}: " + " · ".join(facts)


def stream_line(choice: StreamChoice) -> str:
    """How many requests are in flight in async."""
    where = count_of(choice.cores, "core")
    return f"Streams: {choice.streams} on {where}, {show(choice.why, 200)} (-nstreams N)"


def plan_line(cells: int, expected_s: float, limit_s: float) -> str:
    """How much work is ahead."""
    return f"Plan: {count_of(cells, 'cell')}, about {seconds(expected_s)}, at most {seconds(limit_s)}"
