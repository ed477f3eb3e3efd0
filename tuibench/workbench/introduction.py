"""The facts of a run before its first worker starts, for any observer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tuibench.core.profile_spec import LOSS, ProfileSpec
from tuibench.core.scenario import any_streams
from tuibench.core.spec import BenchmarkSpec
from tuibench.core.units import count_of
from tuibench.host.tree import parse_cpus
from tuibench.report.preamble import EngineFact, Preamble, StreamChoice
from tuibench.runs.replay import Replay
from tuibench.workbench.forecast import expected_s, limit_s


def introduce(replay: Replay, notes: Sequence[str] = (), cpus: Sequence[int] = ()) -> Preamble:
    """Return the preamble of a planned run; without `cpus`, the CPUs come from its journal."""
    spec = replay.spec
    dead = {point.id for point in replay.points if point.failure is not None}
    ahead = sum(cell.point not in dead for cell in replay.cells)
    host: dict[str, Any] = dict(replay.start.get("host", {}))
    versions = dict(replay.start.get("versions", {}))
    return Preamble(
        pin=spec.pin,
        cpus=tuple(cpus) or _cpus(host),
        engines=tuple(
            EngineFact(name, str(versions.get(name) or "?"), spec.cores, _isa(host)) for name in spec.engines
        ),
        models=tuple(source.asked for source in spec.models),
        points=replay.points,
        streams=tuple(_streams(spec)),
        cells=ahead,
        expected_s=expected_s(spec, ahead),
        limit_s=limit_s(spec, ahead, replay.extended_s),
        notes=(*notes, *replay.warnings),
        summaries=replay.models,
        parts=part_words(spec.profile) if spec.profile is not None else (),
    )


def process_words(asked: ProfileSpec) -> str:
    """Return the number of processes that time the layers, in words."""
    return "1 process" if asked.processes == 1 else f"{asked.processes} processes"


def part_words(asked: ProfileSpec) -> tuple[str, ...]:
    """Return the parts of a profile in words."""
    if asked.kind == LOSS:
        changed = () if asked.approximate else (f"each layer at {', '.join(asked.levels)}",)
        return ("costs by shapes", "weights", *changed)
    alone = ("heavy layers alone in INT8",) if asked.what_if else ()
    layers = f"layers in {process_words(asked)} of {count_of(asked.runs, 'profiled run')}"
    return ("costs by shapes", "roofs of this machine", "what zeros gain here", layers, *alone)


def _streams(spec: BenchmarkSpec) -> list[StreamChoice]:
    if not any_streams(spec.scenarios):
        return []
    why = "as asked" if spec.streams is not None else "one thread each: the default, not tuned"
    return [StreamChoice(cores, spec.streams or cores, why) for cores in spec.cores]


def _cpus(host: Mapping[str, Any]) -> tuple[int, ...]:
    affinity = host.get("affinity")
    return parse_cpus(str(affinity.get("cpus", ""))) if isinstance(affinity, dict) else ()


def _isa(host: Mapping[str, Any]) -> tuple[str, ...]:
    found = host.get("cpu", {}).get("isa") if isinstance(host.get("cpu"), dict) else host.get("isa")
    return tuple(str(name) for name in found or ())
