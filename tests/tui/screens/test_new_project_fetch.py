from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from tests.cli.shell import PATIENCE_S
from tests.tui.frame import frame
from tests.tui.idle import all_handled
from tests.tui.pilot import open_app, press, replace_methods, settle
from tests.tui.screens.new_project_stage import page_of, put
from tuibench.core.model import FetchProgress
from tuibench.services.api import Services
from tuibench.tui import route
from tuibench.tui.widgets.field import TextField


async def test_address_is_fetched_on_enter_with_progress() -> None:
    services: Services = Services()
    asked: list[str] = []
    real = services.models.find

    def find(text: str, tell: Any = None) -> Any:
        asked.append(text)
        tell(FetchProgress(5_000_000, 10_000_000))
        return real("sample:tiny")

    replace_methods(services, models__find=find)
    async with open_app(services=services) as (app, pilot):
        app.go(route.new_project())
        await settle(pilot)
        await put(app, pilot, "https://example.com/model.onnx")
        assert asked == [] and "downloads" in frame(app)
        heard: list[str] = []
        page = page_of(app)
        show = page._show_summary

        def listen(lines: Any = ()) -> None:
            heard.append(str(list(lines)))
            show(lines)

        page._show_summary = listen  # type: ignore[method-assign]
        page.column.focus_field("model")
        await press(pilot, "enter")
        assert asked == ["https://example.com/model.onnx"]
        assert any("downloading: 5.00 MB of 10.0 MB" in said for said in heard), heard


@pytest.mark.parametrize("leave", [True, False])
async def test_fetch_stops_when_model_is_no_longer_wanted(leave: bool) -> None:
    services: Services = Services()
    begun, go_on, ended = threading.Event(), threading.Event(), threading.Event()
    stopped: list[str] = []

    def find(text: str, tell: Any = None) -> Any:
        begun.set()
        go_on.wait(PATIENCE_S)
        try:
            tell(FetchProgress(1, 10))
        except Exception as error:
            stopped.append(type(error).__name__)
            raise
        finally:
            ended.set()

    replace_methods(services, models__find=find)
    async with open_app(services=services) as (app, pilot):
        app.go(route.new_project())
        await settle(pilot)
        await put(app, pilot, "https://example.com/model.onnx")
        page_of(app).column.focus_field("model")
        await pilot.press("enter")
        await asyncio.to_thread(begun.wait, PATIENCE_S)
        if leave:
            await pilot.press("escape")
        else:
            field = page_of(app).column.fields["model"]
            assert isinstance(field, TextField)
            field.input.value = "https://example.com/other.onnx"
        await all_handled()
        go_on.set()
        await asyncio.to_thread(ended.wait, PATIENCE_S)
        await settle(pilot)
        assert stopped == ["_DownloadCancelled"]
        assert "internal" not in frame(app)
