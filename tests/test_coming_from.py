"""The guide for users of other tools: our flags exist, its commands parse, unsupported flags are refused."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tuibench.cli.arguments import parse
from tuibench.cli.command import COMMANDS
from tuibench.core.errors import TuibenchError
from tuibench.core.settings import benchmark as benchmark_setting
from tuibench.core.settings import profile as profile_setting
from tuibench.core.settings.request import BenchmarkRequest, to_spec
from tuibench.services.api import Services
from tuibench.tui.key import KEYS, spelled

ROOT = Path(__file__).resolve().parent.parent
TEXT = (ROOT / "docs" / "coming-from.md").read_text(encoding="utf-8")
TOOLS = ("Sparsify", "deepsparse.benchmark", "ITREX", "benchmark_app", "onnxruntime_perf_test")
OWN_FLAGS = {flag for one in (*benchmark_setting.settings(), *profile_setting.settings()) for flag in one.flags} | {
    "--help"
}


def table(tool: str) -> list[tuple[str, str, str]]:
    """Return the rows of a tool: its flag, ours, the reason."""
    section = TEXT.partition(f"\n## {tool}\n")[2].partition("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| ") and not line.startswith("| there ")]
    found = []
    for row in rows:
        there, here, why = (cell.strip() for cell in row.strip("|").split("|"))
        found.append((there, here, why))
    return found


def codes(text: str) -> list[str]:
    return re.findall(r"`([^`]+)`", text)


@pytest.mark.parametrize("tool", TOOLS)
def test_each_tool_has_a_table(tool: str) -> None:
    assert len(table(tool)) >= 13 and all(there and here for there, here, _ in table(tool))


@pytest.mark.parametrize("tool", TOOLS)
def test_every_flag_of_ours_exists(tool: str) -> None:
    named = {
        word for _, here, _ in table(tool) for code in codes(here) for word in code.split() if word.startswith("-")
    }
    assert named - OWN_FLAGS == set()


@pytest.mark.parametrize("tool", TOOLS)
def test_every_set_of_flags_can_be_typed(tool: str) -> None:
    """Use the flags that have a value."""
    for _, here, _ in table(tool):
        for code in codes(here):
            if code.startswith("-") and " " in code:
                line = code.replace("FILE.npz", "f.npz").replace(" N", " 2").replace("SEC", "3").replace(" ID", " last")
                line = line.replace("NAME=LIST", "seq=1,2").replace("FILE", "out")
                assert isinstance(parse(["benchmark", "m.onnx", *shlex.split(line)]), BenchmarkRequest), code


def test_every_command_exists() -> None:
    for code in codes(TEXT):
        words = shlex.split(code)
        if words[:1] != ["tuibench"] or len(words) == 1:
            continue
        assert words[1] in COMMANDS, code
        if words[1] == "benchmark" and words[2].endswith(".onnx"):
            assert isinstance(parse(words[1:]), BenchmarkRequest), code


def test_single_letters_are_keys_of_the_dashboard() -> None:
    bound = {spelled(name) for key in KEYS.values() for name in key.keys.split(",")}
    letters = {code for _, here, _ in table("Sparsify") for code in codes(here) if re.fullmatch(r"[a-zA-Z]|f\d", code)}
    assert letters >= {"c", "r", "d", "u", "m", "f2"} and letters <= bound


@pytest.mark.parametrize("line", ["-s server", "-input_ids_len 3", "-e script.py:Class", "--precision int3"])
def test_unsupported_flags_are_refused(line: str) -> None:
    def begin() -> None:
        request = parse(["benchmark", "sample:tiny", *line.split()])
        assert isinstance(request, BenchmarkRequest)
        services = Services()
        spec, _ = to_spec(request, services.machine.topology())
        services.machine.check_engines(spec.engines)

    with pytest.raises(TuibenchError):
        begin()


@pytest.mark.parametrize("page", ["coming-from", "ssh", "keys"])
def test_links_have_existing_targets(page: str) -> None:
    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)]+)\)", text):
        file, _, anchor = target.partition("#")
        path = ROOT / "docs" / (file or f"{page}.md")
        assert path.is_file(), target
        headings = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
        anchors = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
        assert not anchor or anchor in anchors, target
