"""Lets tests of the dashboard be coroutines, each with an event loop of its own."""

from __future__ import annotations

import asyncio
import hashlib
import inspect
import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from textual.cache import LRUCache
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet

from tuibench.tui import app, textual_seam
from tuibench.tui.screens import run, run_log
from tuibench.workbench import model, theory
from tuibench.workbench.asking import ask_child
from tuibench.workbench.hall import Workbench

_NEVER_S = 3600.0
_SMALL_BYTES = 1_000_000


@pytest.fixture(autouse=True, scope="package")
def parsed_once() -> Iterator[None]:
    """Let every app take the rules of a style sheet from the first that read it with the same variables."""
    shared: dict[frozenset[tuple[str, str]], LRUCache[tuple[object, ...], list[RuleSet]]]
    shared = defaultdict(lambda: LRUCache(4096))
    begin, change = Stylesheet.__init__, Stylesheet.set_variables

    def begin_shared(sheet: Stylesheet, *, variables: dict[str, str] | None = None) -> None:
        begin(sheet, variables=variables)
        sheet._parse_cache = shared[frozenset(sheet._variables.items())]

    def change_shared(sheet: Stylesheet, variables: dict[str, str]) -> None:
        sheet._parse_cache = LRUCache(1)  # it is emptied
        change(sheet, variables)
        sheet._parse_cache = shared[frozenset(variables.items())]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Stylesheet, "__init__", begin_shared)
        patch.setattr(Stylesheet, "set_variables", change_shared)
        yield


@pytest.fixture(autouse=True)
def when_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a dashboard do nothing because some time has passed: what a test sees must not hang on how slow it is.

    It looks at what others do when the test says so, and keys wait for what the ones before them led to.
    """
    for module in (app, run, run_log):
        monkeypatch.setattr(module, "LOOK_S", _NEVER_S)
    # Longer than a busy machine stands still, but not for ever: a key whose screen has gone is waited for until then.
    monkeypatch.setattr(textual_seam, "PATIENCE_S", 2.0)
    monkeypatch.setattr(textual_seam, "HOLD_S", _NEVER_S)


@pytest.fixture(autouse=True)
def unknown_load(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let what is on the screen not depend on who else is at work on this machine."""
    monkeypatch.setattr(Workbench, "load_words", lambda bench: "")


@pytest.fixture(autouse=True)
def ask_once(monkeypatch: pytest.MonkeyPatch, answers: dict[str, Any]) -> None:
    """Ask a child about a small model once per session: files with the same bytes share the answer."""

    def ask(task: str, request: dict[str, Any], **options: Any) -> Any:
        key = _key_of(task, request)
        if key is None:
            return ask_child(task, request, **options)
        if key not in answers:
            answer = ask_child(task, request, **options)
            if task == "inspect" and len(answer["files"]) > 1:
                return answer  # its weights lie beside it, and are not in these bytes
            answers[key] = answer
        return _for_another(answers[key], Path(request["path"])) if task == "inspect" else answers[key]

    for module in (model, theory):
        monkeypatch.setattr(module, "ask_child", ask)


@pytest.fixture(scope="session")
def answers() -> dict[str, Any]:
    """Answers of children, by the task, the content of the model and what else was asked."""
    return {}


def _key_of(task: str, request: dict[str, Any]) -> str | None:
    """Return what decides the answer; None where a file beside the model does, or the task is not shared."""
    path = Path(request.get("path", ""))
    if task not in ("inspect", "cost", "weights") or not path.is_file() or path.stat().st_size > _SMALL_BYTES:
        return None
    asked = {name: request[name] for name in ("static", "levels", "batch", "dims", "point") if name in request}
    if "spec" in request:
        spec = request["spec"]
        if spec["inputs"]["file"] is not None:
            return None
        asked["spec"] = {**spec, "models": len(spec["models"])}
    return json.dumps([task, hashlib.sha256(path.read_bytes()).hexdigest(), asked], sort_keys=True)


def _for_another(answer: dict[str, Any], path: Path) -> dict[str, Any]:
    """The same answer of a file that lies elsewhere."""
    (stamp,) = answer["files"]
    return {**answer, "path": str(path), "files": [{**stamp, "path": str(path), "mtime_ns": path.stat().st_mtime_ns}]}


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a test that is a coroutine to its end; leave others to pytest."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = inspect.signature(pyfuncitem.obj).parameters
    asyncio.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
    return True
