"""A store with names that contain control sequences, and a checker of the bytes sent to a terminal."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path

from tests.present.build import HOSTILE, hostile_run, model
from tests.tui.sample_data import add, add_project, make, make_id, sweep, sweep_cell
from tuibench.core.reason import legacy_text
from tuibench.core.result import RunResult
from tuibench.core.spec import ModelSource
from tuibench.services.api import Services

SAMPLE = Path(__file__).resolve().parents[2] / "tuibench" / "data" / "samples" / "tiny.onnx"
EVIL = "\x1b]0;owned\x07\x1b[2J\x9b31m[@click=app.quit_now]x[/][/no]\u202e\u2066\u200b\r\n\t\x7f" + HOSTILE.replace(
    "\udcff", ""
)
LONG = "N" * 1000
_OURS = re.compile(
    r"\x1b\[[0-9;]*m|\x1b\[\d+;\d+H|\x1b\[\?(?:100[02346]|1015|1049|2004|2026|2048|25|7)[hl]|\x1b\[\?(?:2026|2048)\$p|\x1b\[>\d+u|\x1b\[<u|\x1b\[[ABCDJK]"
    r"|\x1b\[2[23];0t|\x1b\]22;[a-z]*\x07|\x1b\]52;c;[A-Za-z0-9+/=]*\x07|\x1b\]0;tuibench[^\x00-\x1f\x7f-\x9f\u202a-\u202e]*\x07|\x1b\(B"
)
"""Everything that the dashboard and Textual send on purpose."""
_CONTROL = re.compile(
    "[\x00-\x09\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufffd\ud800-\udfff]"
)
"""Whatever a terminal could take for more than a letter; lines end with CR and LF."""


def check_sent(sent: str, where: str) -> None:
    """Assert that the bytes contain only control sequences sent on purpose."""
    rest = _OURS.sub("", sent)
    found = _CONTROL.search(rest)
    assert found is None, f"{where}: {rest[max(0, found.start() - 60) : found.end() + 60]!r}"
    assert "owned\x07" not in sent, where


def fill_hostile(services: Services, place: Path) -> tuple[str, tuple[str, ...], str]:
    """Create a project with hostile names; return its id, the benchmarks' ids and the path of a model."""
    place.mkdir(parents=True, exist_ok=True)
    file = place / "\x1b[31mred\x9b[bold]\u202e[@click=app.quit_now]q\udcff.onnx"
    shutil.copy(SAMPLE, file)
    project = add_project(services, "[bold]b[/] [@click=app.quit_now]q[/] [/no]", file=file)
    named = {"name": EVIL, "note": EVIL}
    first = dressed(sweep(1, 60))
    ids = (
        add(services, first, project, **named, rerun_of=make_id(2, 120)),
        add(services, dressed(sweep(2, 120)), project, **named),
        add(services, evil_run(3), project, **named),
        add(services, dressed(make(4, 500, sweep_cell(1, 1))), project, name=LONG, note=LONG),
    )
    services.store.trash.remove([add(services, evil_run(5), project, **named)])
    return project, ids, str(file)


def evil_run(number: int) -> RunResult:
    """Return a run with failed cells, unusual dims, reasons and sentences, as in the report tests."""
    return clean(replace(hostile_run(), id=make_id(number, 60.0 * number), started_utc="2026-11-18T12:00:00Z"))


def dressed(run: RunResult) -> RunResult:
    """Return the run with hostile names and plausible numbers."""
    return replace(
        run,
        spec=replace(run.spec, models=(ModelSource(EVIL, "/abs/" + EVIL),)),
        models=(model(path="/abs/" + EVIL, producer=EVIL),),
        warnings=(legacy_text(EVIL),), environment={EVIL: EVIL},
    )  # fmt: skip


def clean(run: RunResult) -> RunResult:
    """Return the run without lone surrogates, which no record can store."""
    from tuibench.core.record import from_plain, to_plain

    return from_plain(RunResult, _without(to_plain(run)))


def _without(value: object) -> object:
    if isinstance(value, str):
        return value.replace("\udcff", "\x9b")
    if isinstance(value, dict):
        return {_without(key): _without(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_without(one) for one in value]
    return value
