"""The text on stderr before measuring: the run's plan, CPUs and inputs, and the flags that change them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tuibench.core.model import ModelSummary, Point
from tuibench.core.text import show
from tuibench.core.units import count_of, cpu_ranges, scaled, seconds, short, size
from tuibench.report.feed import feed_lines
from tuibench.report.style import to_ascii

_MOST_OPERATORS = 4


@dataclass(frozen=True, slots=True)
class EngineFact:
    """An engine with the settings that it will run with."""

    name: str
    version: str
    threads: tuple[int, ...]
    """One number per core count of the sweep."""
    isa: tuple[str, ...]
    """Instruction sets of the CPU: AVX512, VNNI, BF16, AMX …"""


@dataclass(frozen=True, slots=True)
class StreamChoice:
    """The number of async streams at one core count, with the reason."""

    cores: int
    streams: int
    why: str
    """Either asked, or the origin of the default."""


@dataclass(frozen=True, slots=True)
class Preamble:
    """All facts known before the first worker starts."""

    pin: str
    cpus: tuple[int, ...]
    engines: tuple[EngineFact, ...]
    models: tuple[str, ...]
    """Models as the user named them."""
    points: tuple[Point, ...]
    streams: tuple[StreamChoice, ...]
    cells: int
    expected_s: float
    limit_s: float
    notes: tuple[str, ...] = ()
    """Notes from parsing the command line, and warnings."""
    summaries: tuple[ModelSummary, ...] = ()
    parts: tuple[str, ...] = ()
    """Steps of a profile, in order; a profile has no cells."""
    time: tuple[str, ...] = ()
    """Lines about the expected time of a profile, if known yet."""


def preamble_text(preamble: Preamble, ascii_only: bool = False) -> str:
    """Return the text for stderr."""
    text = "\n".join(preamble_lines(preamble)) + "\n"
    return to_ascii(text) if ascii_only else text


def preamble_lines(preamble: Preamble) -> list[str]:
    """Return the lines in the order in which a reader asks, each safe to show."""
    lines = [show(note, 500) for note in preamble.notes]
    # A profile uses the default pinning and has no flag for it.
    lines.append(pinning_line(preamble.pin, preamble.cpus) + ("" if preamble.parts else " (-pin none|core)"))
    lines += [engine_line(engine) for engine in preamble.engines]
    lines += [model_line(*pair) for pair in zip(preamble.models, preamble.summaries, strict=False)]
    lines += feed_lines(preamble.points, preamble.models, rotating=not preamble.parts)
    lines += [stream_line(choice) for choice in preamble.streams]
    if preamble.parts:
        return [*lines, f"Plan: {', '.join(preamble.parts)}", *preamble.time]
    return [*lines, plan_line(preamble.cells, preamble.expected_s, preamble.limit_s)]


def pinning_line(pin: str, cpus: Sequence[int]) -> str:
    """Return the line about the CPUs of the workers."""
    where = f"CPU {cpu_ranges(cpus)}" if cpus else "the CPUs of its process"
    how = "each engine thread on one CPU" if pin == "core" else "threads move among them"
    return f"Pinning: {show(pin, 20)}, {where}, {how}"


def engine_line(engine: EngineFact) -> str:
    """Return the line about engine, version, threads and instruction sets."""
    threads = ",".join(str(count) for count in engine.threads)
    isa = " ".join(show(name, 20) for name in engine.isa) or "unknown"
    return f"Engine: {show(engine.name, 40)} {show(engine.version, 40)}, threads {threads}, ISA {isa}"


def model_line(name: str, model: ModelSummary) -> str:
    """Return the line about the model, with the facts that its inspection found."""
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
    """Return the line about the number of async requests in flight."""
    where = count_of(choice.cores, "core")
    return f"Streams: {choice.streams} on {where}, {show(choice.why, 200)} (-nstreams N)"


def plan_line(cells: int, expected_s: float, limit_s: float) -> str:
    """Return the line about the amount of work."""
    return f"Plan: {count_of(cells, 'cell')}, about {seconds(expected_s)}, at most {seconds(limit_s)}"
