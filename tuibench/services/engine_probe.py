"""Runs a small model with an engine and compares its outputs with those of ONNX Runtime."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

from tuibench.core.cell import Check
from tuibench.core.engine import split_id
from tuibench.core.errors import EngineError
from tuibench.core.record import to_plain
from tuibench.core.scenario import PROFILED
from tuibench.core.settings.request import BenchmarkRequest, to_spec
from tuibench.engines.installation import RECORD, Installation, place_of
from tuibench.runs.task import StopSwitch
from tuibench.services.api import Services
from tuibench.services.runs import RunOptions
from tuibench.services.settings import Settings

_MODEL = "sample:tiny"
_OTHER_MODELS = {"torch": str(Path(__file__).resolve().parents[1] / "data" / "samples" / "tiny.pt")}
"""Files for engines that do not read ONNX; the ONNX file beside each is the same network."""
_AGREES = "agrees"


def probe(services: Services, engine_id: str, stop: StopSwitch, *, is_new: bool = False) -> float:
    """Measure a small model once with an engine; return how much its outputs differ from the reference.

    Raise EngineError if it fails, or if the difference is more than the tolerance; of a new engine, the error says
    that it was not installed.
    """
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
        why = cell.failure.as_reason()
        raise EngineError("probe_failed" if is_new else "test_failed", engine=engine_id, why=why)
    check = cell.check or Check("unchecked", None, None)
    if check.state != _AGREES:
        facts = {"difference": check.difference, "tolerance": check.tolerance}
        raise EngineError("probe_differs" if is_new else "test_differs", engine=engine_id, why=check.reason, **facts)
    return check.difference or 0.0


def probe_unfinished(settings: Settings, new: Path, record: Installation, stop: StopSwitch) -> None:
    """Probe an installation that is not finished yet, from a directory of installations that only this run sees."""
    data = new / "probe"
    place = place_of(data / "engines", record.id)
    place.mkdir(parents=True)
    (place / "venv").symlink_to(new / "venv")
    (place / RECORD).write_text(json.dumps(to_plain(record)), encoding="utf-8")
    services = Services(replace(settings, places=replace(settings.places, data=data)))
    try:
        probe(services, record.id, stop, is_new=True)
    finally:
        services.close()
    shutil.rmtree(data)
