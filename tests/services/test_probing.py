from __future__ import annotations

import io
import json
import os
import subprocess
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from tuibench.services.machine import ask_engines, describe_terminal

GOOD = {"name": "onnxruntime", "available": True, "version": "1.20.0", "error": None}


def answering(stdout: str, code: int = 0, stderr: str = "") -> Callable[..., Any]:
    return lambda *_, **__: SimpleNamespace(stdout=stdout, returncode=code, stderr=stderr)


def test_engines_are_probed_by_name_in_a_child() -> None:
    calls: list[tuple[list[str], dict[str, Any]]] = []

    def start(command: list[str], **settings: Any) -> Any:
        calls.append((command, settings))
        chatter = "some engine greets\n"
        return SimpleNamespace(stdout=chatter + json.dumps({"ok": True, "result": [GOOD]}) + "\n", returncode=0)

    assert ask_engines(["onnxruntime"], start) == [GOOD]
    command, settings = calls[0]
    assert command[1:] == ["-P", "-m", "tuibench.child", "engines"]
    assert json.loads(settings["input"]) == {"names": ["onnxruntime"]}
    assert settings["timeout"] > 0


@pytest.mark.parametrize(
    "stdout",
    [
        "",
        "not json",
        "[]",
        "null",
        '{"ok": false, "error": "x"}',
        '{"ok": true, "result": [{"name": "a"}]}',
        '{"ok": 1}',
    ],
)
def test_nonsense_answer_leaves_the_engines_unknown(stdout: str) -> None:
    answer = ask_engines(["a", "b"], answering(stdout, 1, "Traceback\nImportError: no tuibench.child"))
    assert [engine["available"] for engine in answer] == [None, None]
    assert answer[0]["error"] == "the child ended with 1: ImportError: no tuibench.child"


def test_hanging_or_failing_child_leaves_the_engines_unknown() -> None:
    def hang(*_: Any, **settings: Any) -> Any:
        raise subprocess.TimeoutExpired("x", settings["timeout"])

    def fail(*_: Any, **__: Any) -> Any:
        raise OSError(11, "Resource temporarily unavailable")

    assert "more than 5 s" in ask_engines(["a"], hang, timeout_s=5.0)[0]["error"]
    assert "Resource temporarily unavailable" in ask_engines(["a"], fail)[0]["error"]


def test_terminal_description_has_tty_term_and_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    main, other = os.openpty()
    try:
        with open(other, "w", encoding="utf-8") as stream:
            assert describe_terminal(stream)["isatty"] is True
    finally:
        os.close(main)
    described = describe_terminal(io.StringIO())
    assert described == {"isatty": False, "term": "dumb", "encoding": None, "columns": None, "lines": None}
