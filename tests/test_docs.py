"""Commands and flags in the guides are accepted by the command line."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tuibench.cli.arguments import parse
from tuibench.cli.command import GROUPS
from tuibench.core.settings import benchmark as benchmark_setting
from tuibench.core.settings import profile as profile_setting
from tuibench.core.settings.request import BenchmarkRequest, Info

ROOT = Path(__file__).resolve().parent.parent
GUIDES = ("README.md", "docs/benchmark.md")
REFUSED = {"-s elastic", "-pin numa"}
"""Flags that a guide shows as refused by this version."""
ELSEWHERE = {"--help", "-m", "-q"}
"""Flags of other commands, or of commands without a request."""


def commands(guide: str) -> list[str]:
    """Return the commands in the code of a guide, in blocks and in lines."""
    text = (ROOT / guide).read_text(encoding="utf-8")
    found = re.findall(r"^(tuibench benchmark .*)$|`(tuibench benchmark [^`]*)`", text, re.MULTILINE)
    return [(block or line).split(" #", maxsplit=1)[0].strip() for block, line in found]


@pytest.mark.parametrize(
    "command", sorted({c for guide in GUIDES for c in commands(guide)} - {"tuibench benchmark --help"})
)
def test_every_command_of_a_guide_is_parsed(command: str) -> None:
    request = parse(command.split()[1:])
    assert isinstance(request, BenchmarkRequest)
    assert all(model.endswith(".onnx") for model in request.models)


@pytest.mark.parametrize("guide", GUIDES)
def test_every_flag_in_a_guide_exists(guide: str) -> None:
    text = (ROOT / guide).read_text(encoding="utf-8")
    named = {code.split()[0] for code in re.findall(r"`(--?[a-zA-Z][^`]*)`", text) if code not in REFUSED}
    known = {flag for one in (*benchmark_setting.settings(), *profile_setting.settings()) for flag in one.flags}
    assert named
    assert named - known - ELSEWHERE == set()


def test_guide_names_every_flag_that_changes_the_measurement() -> None:
    text = (ROOT / "docs" / "benchmark.md").read_text(encoding="utf-8")
    left_out = {"ascii", "no_save"}
    missing = [
        one.name
        for one in benchmark_setting.settings()
        if one.name not in left_out and not any(flag in text for flag in one.flags)
    ]
    assert missing == []


def test_every_command_of_the_store_page_is_parsed() -> None:
    text = (ROOT / "docs" / "store.md").read_text(encoding="utf-8")
    prompted = re.findall(r"^\$ tuibench (.*)$", text, re.MULTILINE)
    inline = [line for line in re.findall(r"`tuibench ([a-z]+ [^`…]*)`", text) if not line.endswith(" -x")]
    assert len(prompted) > 5 and len(inline) > 5
    for line in (*prompted, *inline):
        assert not isinstance(parse(shlex.split(line.replace("MODEL", "m.onnx"))), Info), line


def test_store_page_names_every_store_command() -> None:
    text = (ROOT / "docs" / "store.md").read_text(encoding="utf-8")
    results = next(commands for title, commands in GROUPS if title == "Results")
    assert [
        one.name for one in results if not re.search(rf"`(tuibench )?{one.name}\b|\$ tuibench {one.name}\b", text)
    ] == []


def test_pictures_are_few_and_each_can_be_retaken() -> None:
    dashboard = (ROOT / "tools" / "shoot_dashboard.py").read_text(encoding="utf-8")
    shell = (ROOT / "tools" / "shoot.py").read_text(encoding="utf-8")
    taken = re.findall(r'take\("(\w+)"\)', dashboard) + re.findall(r'^    "(\w+)": \("', shell, re.MULTILINE)
    assert len(taken) == len(set(taken)) <= 8
    assert {"profile", "loss"} <= set(taken)
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    shown = {name for page in pages for name in re.findall(r"screenshots/(\w+)\.svg", page.read_text(encoding="utf-8"))}
    assert shown == {path.stem for path in (ROOT / "screenshots").glob("*.svg")}
    assert shown <= set(taken)


def test_every_named_module_exists() -> None:
    sources = [path for tree in ("tuibench", "tests", "tools") for path in (ROOT / tree).rglob("*.py")]
    endings = {f"/{path.relative_to(ROOT).as_posix()}" for path in sources}
    named = {
        (path.name, name)
        for path in (*sources, *(ROOT / "docs").glob("*.md"), ROOT / "README.md")
        for name in re.findall(r"`([\w/]*[a-z]\w*\.py)\b", path.read_text(encoding="utf-8"))
    }
    assert len(named) > 40
    assert {(where, name) for where, name in named if not any(end.endswith(f"/{name}") for end in endings)} == set()
