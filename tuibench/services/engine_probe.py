"""Runs a small model with an engine and compares its outputs with those of ONNX Runtime."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from tuibench.core.cell import Check
from tuibench.core.engine import install_command, split_id
from tuibench.core.errors import EngineError
from tuibench.core.record import to_plain
from tuibench.core.scenario import PROFILED
from tuibench.core.settings.request import BenchmarkRequest, to_spec
from tuibench.core.value import dataclass
from tuibench.engines.installation import RECORD, Installation, place_of
from tuibench.runs.task import StopSwitch
from tuibench.services.api import Services
from tuibench.services.runs import RunOptions
from tuibench.services.settings import Settings

_MODEL = "sample:tiny"
_OTHER_MODELS = {"torch": str(Path(__file__).resolve().parents[1] / "data" / "samples" / "tiny.pt")}
"""Files for engines that do not read ONNX; the ONNX file beside each is the same network."""
_AGREES = "agrees"
_POLL_S = 0.05


@dataclass(frozen=True, slots=True)
class ProbeAnswer:
    """The difference of an engine's outputs from the reference, which is within the tolerance."""

    difference: float
    tolerance: float
    version: str


def probe(services: Services, engine_id: str, stop: StopSwitch) -> ProbeAnswer:
    """Measure a small model once with an engine; raise EngineError unless its outputs agree."""
    request = BenchmarkRequest(
        (_OTHER_MODELS.get(split_id(engine_id)[0], _MODEL),),
        engines=engine_id,
        scenarios=PROFILED,
        cores="1",
        executions=1,
        time_s=0.05,
        warmup_s=0.05,
    )
    spec, _ = to_spec(request, services.machine.topology())
    active, _ = services.runs.start(spec, RunOptions(save=False, share_host=True))
    try:
        for _ in active.events(lambda _: None):
            stop.check()
        result = active.result()
    finally:
        active.close()
    cell = result.cells[0]
    if cell.failure is not None:
        raise EngineError(
            "probe_failed", engine=engine_id, why=cell.failure.as_reason(), command=install_command(engine_id)
        )
    check = cell.check or Check("unchecked", None, None)
    if check.state != _AGREES:
        facts = {"difference": check.difference, "tolerance": check.tolerance}
        raise EngineError("probe_differs", engine=engine_id, why=check.reason, **facts)
    return ProbeAnswer(check.difference or 0.0, check.tolerance or 0.0, result.versions.get(engine_id, ""))


def probe_unfinished(settings: Settings, new: Path, record: Installation, stop: StopSwitch) -> ProbeAnswer:
    """Probe an installation that is not finished yet, from a directory of installations that only this run sees."""
    data = new / "probe"
    place = place_of(data / "engines", record.id)
    place.mkdir(parents=True)
    (place / "venv").symlink_to(new / "venv")
    (place / RECORD).write_text(json.dumps(to_plain(record)), encoding="utf-8")
    services = Services(replace(settings, places=replace(settings.places, data=data)))
    try:
        return probe(services, record.id, stop)
    finally:
        services.close()
