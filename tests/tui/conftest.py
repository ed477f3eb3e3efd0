"""Run coroutine tests of the dashboard, each in its own event loop."""

from __future__ import annotations

import asyncio
import inspect
from collections import defaultdict
from collections.abc import Iterator

import pytest
from textual.cache import LRUCache
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet

from tuibench.services.machine import MachineFacts
from tuibench.tui import app, textual_seam
from tuibench.tui.screens.run import actions as run_log
from tuibench.tui.screens.run import screen as run

_NEVER_S = 3600.0


@pytest.fixture(autouse=True, scope="package")
def parsed_once() -> Iterator[None]:
    """Parse each style sheet once per set of variables and share its rules between apps."""
    shared: dict[frozenset[tuple[str, str]], LRUCache[tuple[object, ...], list[RuleSet]]]
    shared = defaultdict(lambda: LRUCache(4096))
    begin, change = Stylesheet.__init__, Stylesheet.set_variables

    def begin_shared(sheet: Stylesheet, *, variables: dict[str, str] | None = None) -> None:
        begin(sheet, variables=variables)
        sheet._parse_cache = shared[frozenset(sheet._variables.items())]

    def change_shared(sheet: Stylesheet, variables: dict[str, str]) -> None:
        sheet._parse_cache = LRUCache(1)  # set_variables clears it
        change(sheet, variables)
        sheet._parse_cache = shared[frozenset(variables.items())]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Stylesheet, "__init__", begin_shared)
        patch.setattr(Stylesheet, "set_variables", change_shared)
        yield


@pytest.fixture(autouse=True)
def when_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Disable the dashboard's timers, so that no test result depends on speed.

    It polls when the test says so, and each key waits until the effects of earlier keys are finished.
    """
    for module in (app, run, run_log):
        monkeypatch.setattr(module, "LOOK_S", _NEVER_S)
    # Longer than a busy machine stalls, but finite: a key is awaited this long after its screen has closed.
    monkeypatch.setattr(textual_seam, "KEY_WAIT_S", 2.0)
    monkeypatch.setattr(textual_seam, "HOLD_S", _NEVER_S)


@pytest.fixture(autouse=True)
def unknown_load(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide the load that other processes cause on this machine."""
    monkeypatch.setattr(MachineFacts, "load_words", lambda facts: "")


@pytest.fixture(autouse=True)
def ask_once(shared_answers: None) -> None:
    """Read a small model in a child process once per session."""


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a coroutine test to its end; leave other tests to pytest."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = inspect.signature(pyfuncitem.obj).parameters
    asyncio.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
    return True
