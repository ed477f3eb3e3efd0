from __future__ import annotations

import asyncio
import threading
from dataclasses import replace

import pytest

from tests.cli.shell import PATIENCE_S
from tests.tui.idle import all_handled, until
from tests.tui.pilot import replace_methods, settle, until_seen
from tests.tui.screens.profile_stage import ProfileAnswers, Profiled, profiled
from tests.tui.screens.stage import answers_of
from tests.tui.stub_page import opened_page, stub_routes
from tuibench.core.errors import UsageError
from tuibench.core.ids import short_id
from tuibench.core.machine import EngineChoice, Machine
from tuibench.core.reason import LEGACY_TEXT
from tuibench.core.spec import LEVELS
from tuibench.present.error.words import message_words
from tuibench.services.form_values import FLOPS, ProfileCheck, ProfileStart, ProfileValues
from tuibench.tui import route
from tuibench.tui.screens.profile import form as profile_set_up
from tuibench.tui.screens.profile.form import ProfileFormScreen


@pytest.fixture(autouse=True)
def ways(monkeypatch: pytest.MonkeyPatch) -> None:
    stub_routes(monkeypatch, "run", "theory")
    monkeypatch.setattr(profile_set_up, "CHECK_S", 0.001)


def page_of(seen: Profiled) -> ProfileFormScreen:
    page = seen.app.page
    assert isinstance(page, ProfileFormScreen)
    return page


async def go_to(seen: Profiled, name: str) -> None:
    assert page_of(seen).column.focus_field(name)
    await settle(seen.pilot)


async def checked(seen: Profiled) -> None:
    """Run the check that follows the last key after a pause."""
    await asyncio.sleep(0.02)
    await settle(seen.pilot)


async def test_profile_form_defaults_focus_engines_and_commands() -> None:
    async with profiled() as seen:
        # both kinds are on and one key starts them
        await seen.go(route.profile_form(seen.project))
        assert " 12 s" in seen.text and " 48 s" in seen.text
        await seen.press("enter")
        values, project, again = seen.answers.started[0]
        assert (values.performance, values.loss, values.name, values.loss_name) == (True, True, "baseline", "baseline")
        assert (project, again) == (seen.project, "")
        assert opened_page(seen.app)[:2] == ("run", (seen.answers.runs[0],))
        assert short_id(seen.answers.runs[1]) in seen.text
        # focus skips fields of disabled kind
        await seen.go(route.profile_form(seen.project, "performance"))
        await go_to(seen, "performance")
        await seen.press("right", "down")
        assert page_of(seen).column.fields["loss"].has_focus
        await seen.press("down")
        assert page_of(seen).column.fields["run"].has_focus
        await seen.press("up", "up")
        assert page_of(seen).column.fields["performance"].has_focus
        # engines without layer times say so
        engines = (
            EngineChoice("onnxruntime", True, "1.20", "", (), True),
            EngineChoice("openvino", True, "2026.1", ""),
        )
        machine = Machine(2, 2, 2, (), (*engines, EngineChoice("tvm", False, "", "")))
        replace_methods(seen.app.services, machine__read=lambda: machine)
        await seen.go(route.profile_form(seen.project))
        line = next(row for row in seen.rows if "Engine" in row)
        assert "openvino (" in line and "onnxruntime (" not in line and "tvm" not in line
        await go_to(seen, "engine")
        await seen.press("right", "ctrl+r")
        assert seen.answers.started[0][0].engine == "onnxruntime"
        # key y copies one command per run
        commands = ("tuibench profile a", "tuibench profile a --loss")
        seen.answers.check = replace(seen.answers.check, commands=commands)
        await seen.go(route.profile_form(seen.project))
        await seen.press("y")
        assert seen.app.clipboard == " && ".join(commands)


async def test_adding_one_kind_leaves_other_off() -> None:
    fields = {"performance": ("runs", "what if"), "loss": ("samples", "levels")}
    async with profiled() as seen:
        for kind, other in (("performance", "loss"), ("loss", "performance")):
            await seen.go(route.profile_form(seen.project, kind))
            assert not any(word in seen.text for word in fields[other])
            assert all(word in seen.text for word in fields[kind])
            await seen.press("ctrl+r")
            values = seen.answers.started[-1][0]
            assert (values.performance, values.loss) == (kind == "performance", kind == "loss")
            await seen.press("q")


async def test_both_kinds_off_shows_theory_and_starts_nothing() -> None:
    async with profiled() as seen:
        # both kinds off shows theory and starts nothing
        seen.answers.check = replace(seen.answers.check, busy="run 12ab")
        await seen.go(route.profile_form(seen.project))
        assert " 12ab" in seen.text
        await go_to(seen, "performance")
        await seen.press("right")
        await go_to(seen, "loss")
        await seen.press("right")
        await checked(seen)
        assert "FLOPS" in seen.text and "Batch" not in seen.text and "12ab" not in seen.text
        await seen.press("ctrl+r")
        assert opened_page(seen.app)[:2] == ("theory", (seen.project, FLOPS)) and seen.answers.started == []
        # all errors appear at once beside fields
        wrong = {"batch": "1 to 65536, not 'x'", "cores": "1 to 2, not '99'", "inputs_file": "there is no file a.npz"}
        seen.answers.check = ProfileCheck(errors=wrong)
        await seen.go(route.profile_form(seen.project))
        for text in wrong.values():
            assert f"! {text}" in seen.text
        await seen.press("ctrl+r")
        assert seen.answers.started == [] and seen.app.focused is not None
        assert page_of(seen).column.fields["batch"] in seen.app.focused.ancestors_with_self
        assert "1 to 65536" in seen.news


async def test_typed_values_are_checked_and_started() -> None:
    answers = ProfileAnswers()
    answers.start = ProfileStart(ProfileValues(dims=(("sequence", "128"),)), "dir/bert.onnx", place="bert")
    async with profiled(answers=answers) as seen:
        await seen.go(route.profile_form(seen.project))
        await go_to(seen, "batch")
        await seen.type("64")
        await go_to(seen, "dim:sequence")
        await seen.type("256")
        await go_to(seen, "what_if")
        await seen.press("left")
        await checked(seen)
        assert seen.answers.checked[-1].batch == "64"
        await seen.press("ctrl+r")
        values = seen.answers.started[0][0]
        assert (values.batch, values.dims, values.what_if) == ("64", (("sequence", "256"),), True)


MORE = {"runs": "7", "processes": "2", "samples": "16"}


async def test_effort_fields_follow_enabled_kinds() -> None:
    async with profiled() as seen:
        # effort fields follow enabled kinds
        machine = Machine(2, 2, 2, (), (EngineChoice("onnxruntime", True, "1.20", "", (), True),))
        replace_methods(seen.app.services, machine__read=lambda: machine)
        await seen.go(route.profile_form(seen.project))
        for name, text in MORE.items():
            await go_to(seen, name)
            await seen.type(text)
        await go_to(seen, "levels")
        await seen.press("space", "right", "space")
        await go_to(seen, "budget")
        await seen.press("right")
        await checked(seen)
        assert seen.answers.checked[-1].budget is True
        await seen.press("ctrl+r")
        values = seen.answers.started[0][0]
        assert {name: getattr(values, name) for name in MORE} == MORE
        assert (values.levels, values.budget, values.engine) == (LEVELS[2:], True, "onnxruntime")

        # failed start leaves form unchanged
        error = UsageError(LEGACY_TEXT, text="the store cannot be written", hint="free some room")

        def fail(*_: object) -> None:
            raise error

        replace_methods(seen.app.services, profile_forms__start=fail)
        await seen.go(route.profile_form(seen.project))
        for _ in range(2):
            await seen.press("ctrl+r")
            assert message_words(error) in seen.news and seen.status.kind == "bad"
            await seen.press("down")


@pytest.mark.parametrize("size", [(80, 24), (60, 20)])
async def test_second_field_error_appears_at_second_field(size: tuple[int, int]) -> None:
    async with profiled(size) as seen:
        wrong = {"processes": "--processes takes 1 to 50", "levels": "no level is chosen", "engine": "no times"}
        seen.answers.check = ProfileCheck(errors=wrong)
        await seen.go(route.profile_form(seen.project))
        for name, text in wrong.items():
            await go_to(seen, name)
            ends = text.split()[0], text.split()[-1]
            await until_seen(seen.pilot, lambda ends=ends: all(word in seen.text for word in ends))  # type: ignore[misc]


async def test_leaving_keeps_typed_text_and_project() -> None:
    async with profiled() as seen:
        await seen.go(route.project(seen.project, "performance"))
        await seen.press("n")
        await go_to(seen, "batch")
        await seen.type("32")
        await seen.press("escape")
        assert not isinstance(seen.app.page, ProfileFormScreen) and seen.answers.started == []
        await seen.press("n")
        assert str(page_of(seen).column.fields["batch"].answer) == "32"
        await seen.press("ctrl+r", "q")
        await seen.press("n")
        assert str(page_of(seen).column.fields["batch"].answer) == "1"


def slow_kinds(seen: Profiled) -> list[str]:
    """Return the kinds that a warning calls slow."""
    return [row.split()[1] for row in seen.rows if row.strip().startswith("! ") and "long" in row]


def shorter_by(seen: Profiled) -> list[str]:
    """Return the proposals of the only warning."""
    (said,) = [row for row in seen.rows if row.strip().startswith("! ")]
    return said.rpartition(" by ")[2].split(", ")


async def test_slow_kind_is_proposed_for_exclusion() -> None:
    async with profiled() as seen:
        seen.answers.check = replace(seen.answers.check, performance_s=720.0)
        await seen.go(route.profile_form(seen.project))
        assert slow_kinds(seen) == ["performance"] and "FLOPS" in seen.text
        await seen.press("ctrl+r")
        assert "o" in answers_of(seen.status) and "l" not in answers_of(seen.status) and seen.answers.started == []
        await seen.press("o")
        seen.answers.check = replace(seen.answers.check, performance_s=None)
        await checked(seen)
        await seen.press("ctrl+r")
        assert seen.answers.started[0][0].performance is False


async def test_slow_loss_profile_names_savings_and_may_be_excluded() -> None:
    async with profiled() as seen:
        seen.answers.check = replace(seen.answers.check, loss_s=4920.0)
        await seen.go(route.profile_form(seen.project))
        assert "1h22m" in seen.text and slow_kinds(seen) == ["loss"]
        proposed = shorter_by(seen)
        assert len(proposed) == 3
        await go_to(seen, "samples")
        await seen.type("1")
        await go_to(seen, "budget")
        await seen.press("right")
        await checked(seen)
        assert shorter_by(seen) == proposed[1:2]
        await seen.press("ctrl+r")
        assert "l" in answers_of(seen.status) and "o" not in answers_of(seen.status) and seen.answers.started == []
        await seen.press("l")
        await checked(seen)
        assert slow_kinds(seen) == []
        await seen.press("ctrl+r")
        assert (seen.answers.started[0][0].performance, seen.answers.started[0][0].loss) == (True, False)


async def test_new_profile_copies_settings_of_existing_one() -> None:
    answers = ProfileAnswers()
    answers.start = replace(
        answers.start, values=ProfileValues(batch="8", loss=False, runs="4", processes="5"), project="", place=""
    )
    async with profiled(answers=answers) as seen:
        await seen.go(route.profile_form(seen.project, "performance", seen.ids[0]))
        assert f"Profile {short_id(seen.ids[0])} again" in seen.rows[0]
        # The first check covered the given values, also in lines with two fields.
        assert (seen.answers.checked[0].runs, seen.answers.checked[0].processes) == ("4", "5")
        await seen.press("enter")
        values, _, again = seen.answers.started[0]
        assert (values.batch, values.loss, again) == ("8", False, seen.ids[0])


async def test_pending_estimate_says_so() -> None:
    counting = threading.Event()
    async with profiled() as seen:
        answers = seen.answers
        answers.check = ProfileCheck(uncounted=True)
        answers.weights = ProfileCheck(performance_s=633.0, loss_s=48.0)
        weigh, begun = seen.app.services.profile_forms.weigh, list[ProfileValues]()

        def slowly(values: ProfileValues, project: str, rerun_of: str = "") -> None:
            begun.append(values)
            counting.wait(PATIENCE_S)
            weigh(values, project, rerun_of)

        replace_methods(seen.app.services, profile_forms__weigh=slowly)
        seen.app.go(route.profile_form(seen.project))
        await until(lambda: bool(begun) and "performance: estimating ..." in seen.text)
        looks = len(answers.checked)
        page_of(seen).check()
        await until(lambda: len(answers.checked) > looks)
        await all_handled()
        assert len(begun) == 1, "one look at a time"
        counting.set()
        await settle(seen.pilot)
        assert " 10m33" in seen.text and slow_kinds(seen) == ["performance"]
        assert len(answers.weighed) == 1
