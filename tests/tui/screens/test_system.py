from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.present.test_doctor import facts_of, write_intel
from tests.tui.frame import check_frame, frame, rows
from tests.tui.pilot import look, open_app, press, replace_methods, settle, status_of
from tests.tui.screens.system_services import RUN, STATES, SystemServices
from tuibench.core.engine_state import AVAILABLE, DOWNLOAD, PROBE, EngineState, InstallOrder, InstallProgress
from tuibench.core.errors import TuibenchError
from tuibench.core.ids import short_id
from tuibench.core.reason import LEGACY_TEXT
from tuibench.core.record import to_plain
from tuibench.engines.installation import RECORD, Installation, installations_held
from tuibench.present.doctor import paragraphs
from tuibench.present.error.words import hint_words, message_words
from tuibench.services import engines
from tuibench.services.api import Services
from tuibench.tui.screens.system import describe
from tuibench.tui.terminal import Display

SHOWN = Display(environ=(("TEXTUAL_FPS", "15"),), remote=True)


@pytest.fixture
def facts(tmp_path: Path) -> dict[str, Any]:
    """Return the facts of a machine made of files, with two sources of measurement noise."""
    write_intel(tmp_path)
    return facts_of(tmp_path)


@pytest.mark.parametrize(("display", "name"), [(SHOWN, "system-80x24"), (Display(ascii_only=True), "system-ascii")])
async def test_system_matches_golden_frame(facts: dict[str, Any], display: Display, name: str) -> None:
    async with open_app(services=SystemServices(facts), display=display) as (app, pilot):
        await press(pilot, "f2")
        check_frame(app, name)
        assert not display.ascii_only or frame(app).isascii()


async def test_system_screen_examines_once_and_again_on_request(facts: dict[str, Any]) -> None:
    services = SystemServices(facts)
    async with open_app(services=services) as (app, pilot):
        await press(pilot, "f2")
        assert services.looks == 1
        await look(app, pilot)
        await press(pilot, "question_mark", "escape", "pagedown")
        assert services.looks == 1
        facts["noise"]["load1"] = 7.5
        await press(pilot, "r")
        assert services.looks == 2 and "refreshed" in frame(app)
        await press(pilot, "home", "pagedown")
        assert "load 7.50" in frame(app)
        await press(pilot, "f5")
        assert services.looks == 3


async def test_same_key_closes_system_screen(facts: dict[str, Any]) -> None:
    async with open_app(services=SystemServices(facts)) as (app, pilot):
        home = app.screen
        await press(pilot, "f2", "f2")
        assert app.screen is home
        await press(pilot, "f2", "q")
        assert app.screen is home


async def test_examination_during_measurement_asks_first(facts: dict[str, Any]) -> None:
    services = SystemServices(facts, (RUN,))
    async with open_app(services=services) as (app, pilot):
        await look(app, pilot)
        await press(pilot, "f2")
        assert services.looks == 0
        assert short_id(RUN.info.id) in rows(app)[2] and rows(app)[3].startswith("r ")
        await press(pilot, "r")
        assert services.looks == 1 and "Intel(R)" in frame(app)


async def test_failed_examination_shows_reason_and_allows_retry(facts: dict[str, Any]) -> None:
    error = TuibenchError(LEGACY_TEXT, text="no process could be started", hint="close some")
    services = SystemServices(error)
    async with open_app(services=services) as (app, pilot):
        await press(pilot, "f2")
        assert rows(app)[2:4] == [message_words(error), hint_words(error)] and rows(app)[4].startswith("r ")
        services.facts = facts
        await press(pilot, "r")
        assert "Intel(R)" in frame(app)
        services.facts = error
        await press(pilot, "r")
        assert "Intel(R)" in frame(app) and message_words(error) in status_of(app).said


def test_facts_have_all_paragraphs_of_doctor(facts: dict[str, Any]) -> None:
    found = list(paragraphs(facts))
    made = list(describe(STATES, found, SHOWN))
    assert {each.text for each in found} <= {fact.text for fact in made}
    labels = [fact.label for fact in made if fact.indent == 11 and fact.label]
    assert labels == [*(each.label for each in found if each.label), "Dashboard"]
    assert [fact.label for fact in made if fact.indent == 2] == ["!", "!", "-", "-"]
    at = next(n for n, fact in enumerate(made) if fact.label == "Engines")
    assert "tuibench[openvino]" in made[at + 1].text


class _Job:
    """An installation that goes on when the test says so."""

    def __init__(self, order: InstallOrder) -> None:
        self.order, self.id = order, order.id
        self.progress = InstallProgress(DOWNLOAD, "deepsparse", 1, 2)
        self.record: Installation | None = None
        self.error: TuibenchError | None = None
        self.failure: Exception | None = None
        self.is_done = self.is_shown = False
        self.on_change: Callable[[], object] = list

    def cancel(self) -> None:
        """End with the error of a cancelled installation."""
        self.end(error=TuibenchError("installation_cancelled", engine=self.id))

    def end(self, record: Installation | None = None, error: TuibenchError | None = None) -> None:
        """End with a result."""
        self.record, self.error, self.is_done = record, error, True
        self.on_change()


@pytest.fixture
def jobs(facts: dict[str, Any]) -> tuple[SystemServices, list[_Job]]:
    """Return services whose installations are scripted, and those that were begun."""
    services, begun = SystemServices(facts), list[_Job]()
    states, real = {one.id: one for one in STATES}, services.engines.state

    def state(engine_id: str) -> EngineState:
        return states[engine_id] if engine_id in states else real(engine_id)

    def begin(order: InstallOrder) -> _Job:
        begun.append(_Job(order))
        return begun[-1]

    replace_methods(
        services,
        engines__state=state,
        engines__begin=begin,
        installing=lambda: begun[-1] if begun else None,
    )
    return services, begun


async def test_engine_is_installed_after_its_licence_was_accepted(jobs: tuple[SystemServices, list[_Job]]) -> None:
    services, begun = jobs
    async with open_app(services=services) as (app, pilot):
        await press(pilot, "f2", "tab", "j", "j", "j", "i", "enter")
        assert "Install deepsparse, about 200 MB?" in frame(app)
        await press(pilot, "y")
        assert "no production" in frame(app) and "y accept" in frame(app) and not begun
        await press(pilot, "t")
        assert "https://github.com/neuralmagic/deepsparse/blob/main/LICENSE" in frame(app)
        await press(pilot, "escape")
        assert "no production" in frame(app) and "y accept" in frame(app) and not begun
        await press(pilot, "escape")
        assert not begun
        await press(pilot, "i", "enter", "y", "y")
        (job,) = begun
        assert job.order == InstallOrder("deepsparse", accepts_licence=True)
        assert "downloading 1 of 2: deepsparse; X cancels" in status_of(app).said
        await press(pilot, "i")
        assert "is being installed" in status_of(app).said
        job.end(Installation("deepsparse@1.8.0", "3.10.13", size_bytes=200_000_000))
        await settle(pilot)
        assert status_of(app).said == "installed deepsparse@1.8.0 for Python 3.10.13: 200 MB"


async def test_installation_goes_on_without_its_page_and_is_cancelled(
    jobs: tuple[SystemServices, list[_Job]],
) -> None:
    services, begun = jobs
    async with open_app(services=services) as (app, pilot):
        await press(pilot, "f2", "X")
        assert "no engine is being installed" in status_of(app).said
        await press(pilot, "tab", "j", "j", "j", "i", "enter", "y", "y", "escape")
        begun[0].progress = InstallProgress(PROBE)
        begun[0].on_change()
        await press(pilot, "f2")
        assert "running a small model" in status_of(app).said
        await press(pilot, "X")
        assert "cancelled" in status_of(app).said


@pytest.mark.parametrize("keys", [("ctrl+q",), ("escape", "q")])
async def test_quitting_asks_before_it_cancels_an_installation(
    jobs: tuple[SystemServices, list[_Job]], keys: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    services, begun = jobs
    async with open_app(services=services) as (app, pilot):
        ended: list[int] = []
        monkeypatch.setattr(app, "exit", ended.append)
        await press(pilot, "f2", "tab", "j", "j", "j", "i", "enter", "y", "y", *keys)
        assert "deepsparse is being installed; quitting cancels it" in frame(app) and "y quit" in frame(app)
        await press(pilot, "escape")
        assert not ended
        await press(pilot, keys[-1], "y")
        assert ended == [0]
        begun[0].end(Installation("deepsparse@1.8.0", "3.10.13"))
        await press(pilot, keys[-1])
        assert ended == [0, 0]


async def test_engine_that_cannot_be_installed_names_the_reason_in_the_dialog(
    jobs: tuple[SystemServices, list[_Job]], monkeypatch: pytest.MonkeyPatch
) -> None:
    services, begun = jobs
    monkeypatch.setattr(engines, "find_interpreters", lambda _: iter(()))
    async with open_app(services=services) as (app, pilot):
        await press(pilot, "f2", "tab", "G", "i", "enter")
        assert "executor@1.4.2 needs Python 3.10 or 3.11" in frame(app) and "[executor " in frame(app)
        await press(pilot, "escape", "g", "j", "i", *"onnxruntime==1.27.0", "enter")
        assert "onnxruntime@1.27.0 is installed already" in frame(app)
        await press(pilot, *"1.2.0", "enter")
        assert "onnxruntime 1.2.0 is too old; releases from 1.15 can be installed" in frame(app)
        await press(pilot, *"onnxruntime", "enter")
        assert "onnxruntime@RELEASE" in frame(app)
        await press(pilot, "escape", "i", "escape")
        assert frame(app).count("onnxruntime@") == 1 and not begun


async def test_release_is_installed_by_its_number_or_its_id(jobs: tuple[SystemServices, list[_Job]]) -> None:
    services, begun = jobs
    replace_methods(services, engines__state=lambda engine_id: EngineState(engine_id, AVAILABLE, ""))
    async with open_app(services=services) as (app, pilot):
        await press(pilot, "f2", "tab", "i", *"1.20.1", "enter")
        assert "Install onnxruntime@1.20.1?" in frame(app)
        await press(pilot, "escape", "i", *"openvino@2024.6.0", "enter", "y")
        assert [job.order for job in begun] == [InstallOrder("openvino@2024.6.0", accepts_licence=True)]


async def test_engine_under_the_cursor_tells_what_it_is_for(facts: dict[str, Any]) -> None:
    async with open_app(services=SystemServices(facts)) as (app, pilot):
        await press(pilot, "f2")
        assert not status_of(app).said
        await press(pilot, "tab")
        assert status_of(app).said.startswith("onnxruntime: ")
        await press(pilot, "j", "j", "j")
        assert status_of(app).said == "deepsparse: faster with zeros in weights; development and testing only"
        await press(pilot, "shift+tab")
        assert not status_of(app).said


async def test_installation_warns_while_a_run_measures(jobs: tuple[SystemServices, list[_Job]]) -> None:
    services, begun = jobs
    replace_methods(services, runs__holder=lambda: "pid 7 of ann, run 8n5p, about 1 min left")
    async with open_app(services=services) as (app, pilot):
        await press(pilot, "f2", "tab", "j", "j", "j", "i", "enter", "y")
        assert "Disturbs a measurement: pid 7 of ann, run 8n5p" in frame(app)
        await press(pilot, "escape", "i", "enter", "y", "y")
        assert "no production" in frame(app) and not begun
        await press(pilot, "y")
        assert len(begun) == 1


@pytest.mark.parametrize("is_installing", [False, True])
async def test_quitting_from_the_dialog_behaves_as_on_the_screen_below(
    jobs: tuple[SystemServices, list[_Job]], monkeypatch: pytest.MonkeyPatch, is_installing: bool
) -> None:
    services, begun = jobs
    async with open_app(services=services) as (app, pilot):
        ended: list[int] = []
        monkeypatch.setattr(app, "exit", ended.append)
        await press(pilot, "f2", "tab", "j", "j", "j", "i")
        if is_installing:
            begun.append(_Job(InstallOrder("deepsparse")))
        await press(pilot, "ctrl+q")
        assert bool(ended) is not is_installing
        assert ("quitting cancels it" in frame(app) and app.screen is app.page) is is_installing
        if is_installing:
            await press(pilot, "escape")
            assert not ended
            await press(pilot, "ctrl+q", "y")
        assert ended == [0]


async def test_installed_engine_is_removed_after_a_question(facts: dict[str, Any]) -> None:
    services = Services()
    root = services.engines.root
    made = root / "onnxruntime@1.27.0"
    (made / "venv" / "bin").mkdir(parents=True)
    (made / "venv" / "bin" / "python").symlink_to(sys.executable)
    (made / RECORD).write_text(json.dumps(to_plain(Installation(made.name, "3.11.7", size_bytes=113_000_000))))
    replace_methods(services, machine__examine=lambda: facts)
    async with open_app(services=services) as (app, pilot):
        await press(pilot, "f2", "tab", "d")
        assert "onnxruntime belongs to tuibench's own environment" in status_of(app).said
        await press(pilot, "j", "d")
        assert "Remove onnxruntime@1.27.0, 113 MB?" in frame(app) and "y remove" in frame(app)
        await press(pilot, "escape")
        with installations_held(root, [made.name]):
            await press(pilot, "d", "y")
            assert "onnxruntime@1.27.0 is in use" in status_of(app).said and made.exists()
        await press(pilot, "d", "y")
        assert status_of(app).said.startswith("removed onnxruntime@1.27.0: ") and not made.exists()
        assert "113 MB" not in frame(app)
