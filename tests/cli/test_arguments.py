from __future__ import annotations

import argparse
import json
import subprocess
import sys
from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.refusal import refused
from tuibench import __version__
from tuibench.cli.arguments import parse
from tuibench.cli.command import COMMANDS, LATER
from tuibench.cli.parser import Action, argument, parse_command
from tuibench.core.errors import ExitCode, UsageError
from tuibench.core.settings import benchmark as benchmark_setting
from tuibench.core.settings.request import BenchmarkRequest, DashboardRequest, Info
from tuibench.core.spec import EFFORTS
from tuibench.core.text import show
from tuibench.present.error.words import error_line, hint_words, message_words


def request(*argv: str) -> BenchmarkRequest:
    parsed = parse(["benchmark", *argv])
    assert isinstance(parsed, BenchmarkRequest)
    return parsed


def info(*argv: str) -> str:
    parsed = parse(argv)
    assert isinstance(parsed, Info)
    return parsed.text


def refusal(*argv: str) -> UsageError:
    with pytest.raises(UsageError) as caught:
        parse(argv)
    assert caught.value.exit_code == ExitCode.USAGE
    assert "\n" not in error_line(caught.value)
    return caught.value


@pytest.mark.parametrize(
    "argv",
    [
        ["-b8"], ["-b", "8"], ["-b=8"], ["--batch_size", "8"], ["--batch-size", "8"], ["--batch-size=8"],
        ["--batch_size=8"],
    ],
)  # fmt: skip
def test_flag_spellings_have_the_same_meaning(argv: list[str]) -> None:
    assert request("m.onnx", *argv) == BenchmarkRequest(("m.onnx",), batches="8")


@pytest.mark.parametrize(
    ("argv", "fields"),
    [
        (["-ncores=4"], {"cores": "4"}),
        (["-ncores", "1,2"], {"cores": "1,2"}),
        (["-nstreams", "8"], {"streams": 8}),
        (["-seq_len", "32"], {"sequence_lengths": "32"}),
        (["-seq-len=32"], {"sequence_lengths": "32"}),
        (["-pin", "none"], {"pin": "none"}),
        (["-shapes", "[1,2]"], {"shapes": ((1, 2),)}),
        (["-i[1,2]"], {"shapes": ((1, 2),)}),
        (["-s", "sync"], {"scenarios": "sync"}),
        (["-sasync"], {"scenarios": "async"}),
        (["-q"], {"quiet": True}),
        (["-t0.5", "-w", "1"], {"time_s": 0.5, "warmup_s": 1.0}),
        (["-x", "-"], {"export_path": "-"}),
        (["--dim", "a=1", "--dim=b=2"], {"dims": ("a=1", "b=2")}),
        (["-e", "onnxruntime", "-e", "openvino"], {"engines": "onnxruntime,openvino"}),
        (["--seed", "1", "--seed", "2"], {"seed": 2}),
        (["--no_check", "--no-save", "--dry-run"], {"no_check": True, "no_save": True, "dry_run": True}),
    ],
)
def test_flags_set_their_field(argv: list[str], fields: dict[str, Any]) -> None:
    assert request("m.onnx", *argv) == BenchmarkRequest(("m.onnx",), **fields)


def test_deepsparse_benchmark_command_lines_are_parsed() -> None:
    line = "m.onnx --batch_size 16 --time 10 --scenario async --num_streams 8 -x benchmark.json -q"
    assert request(*line.split()) == BenchmarkRequest(
        ("m.onnx",), batches="16", time_s=10.0, scenarios="async", streams=8, export_path="benchmark.json", quiet=True
    )


def test_models_anywhere_and_flag_like_names_after_dashes_are_models() -> None:
    assert request("a.onnx", "-b", "8", "b.onnx", "--", "-b", "--help").models == ("a.onnx", "b.onnx", "-b", "--help")


@pytest.mark.parametrize(
    "flag", ["-ncore", "--batch", "-n", "-seq", "-seq_len32", "-pi", "--tim", "-batch_size", "-time"]
)
def test_abbreviated_and_clustered_flags_are_refused(flag: str) -> None:
    error = refusal("benchmark", "m.onnx", flag, "4")
    assert message_words(error).endswith(flag)
    assert hint_words(error)


def test_value_attached_to_short_shapes_flag_is_a_shape() -> None:
    assert message_words(refusal("benchmark", "m.onnx", "-input_ids_len", "3")).endswith("-input_ids_len")
    assert message_words(refusal("benchmark", "m.onnx", "-i1,3")).endswith("-i1,3")
    assert request("m.onnx", "-i[1,3]").shapes == ((1, 3),)


def test_misspelled_flag_error_names_the_right_flag() -> None:
    assert hint_words(refusal("benchmark", "m", "--batchsize", "4")).startswith("did you mean --batch-size")
    assert "-ncores" in hint_words(refusal("benchmark", "m", "-ncore", "4"))
    assert "--batch" in hint_words(refusal("benchmark", "m", "--bacth", "4"))
    assert hint_words(refusal("list", "--profile")) == "did you mean --profiles?"


def test_flag_like_no_other_gets_no_suggestion() -> None:
    assert hint_words(refusal("benchmark", "m", "--fast")) == "tuibench benchmark --help lists all"


@pytest.mark.parametrize(("command", "allowed"), [
    ("project", "list, show, new, edit, copy or remove"), ("trash", "list, restore or empty"),
    ("store", "check or migrate"),
])  # fmt: skip
def test_unknown_action_error_lists_the_actions_once(command: str, allowed: str) -> None:
    error = refusal(command, "bogus")
    assert error_line(error) == f"unknown command '{command} bogus'; {command} takes {allowed}"


def test_unknown_flag_of_action_names_the_help_of_the_action() -> None:
    assert hint_words(refusal("project", "copy", "x", "y", "--fast")) == "tuibench project copy --help lists all"


@pytest.mark.parametrize("flag", benchmark_setting.LATER)
def test_flags_of_missing_features_are_refused(flag: str) -> None:
    for typed in (flag, flag.replace("-", "_").replace("__", "--", 1), f"{flag}=x"):
        assert message_words(refusal("benchmark", "m.onnx", typed)).startswith(f"{flag} ")


@pytest.mark.parametrize("command", LATER)
def test_missing_commands_are_refused(command: str) -> None:
    assert message_words(refusal(command, "whatever", "--flag")).startswith(f"tuibench {command} ")


@pytest.mark.parametrize("argv", [[], ["model.onnx"], ["dir/thing"], ["sample"]])
def test_no_command_or_model_like_word_opens_dashboard(argv: list[str]) -> None:
    assert parse(argv) == DashboardRequest(
        "".join(argv).removeprefix("--") if argv != ["--", "--odd.onnx"] else argv[1]
    )


def test_dashboard_flags_are_parsed() -> None:
    assert parse(["--mouse", "--ascii", "sample"]) == DashboardRequest("sample", mouse=True, ascii=True)
    assert parse(["--no-mouse", "--debug"]) == DashboardRequest(mouse=False, debug=True)

    assert parse(["--no_mouse"]) == DashboardRequest(mouse=False)
    assert message_words(refusal("--mouse", "--no-mouse")).startswith("--mouse and --no-mouse")
    assert all(f" {flag}" in info("--help") for flag in ("--mouse", "--no-mouse", "--ascii", "--debug"))
    assert "\n  tuibench PATH " in info("--help")


def test_existing_file_with_any_name_is_a_model(tmp_path: Path) -> None:
    (tmp_path / "resnet").touch()
    with chdir(tmp_path):
        assert parse(["resnet"]) == DashboardRequest("resnet")
        assert message_words(refusal("resnut")).endswith(" 'resnut'")


def test_help_flag_works_in_every_position() -> None:
    assert info("--ascii", "--help") == info("m.onnx", "-h") == info("--help")
    assert parse(["--", "--help.onnx"]) == DashboardRequest("--help.onnx")
    assert "'benchmrk'" in message_words(refusal("benchmrk", "--help"))


def test_flag_before_command_error_names_its_place() -> None:
    error = refusal("--ascii", "list")
    assert hint_words(error).endswith(": tuibench list --ascii")
    assert hint_words(refusal("-b", "m.onnx")).endswith(": tuibench benchmark MODEL -b")


def test_dashboard_takes_one_model() -> None:
    refusal("a.onnx", "b.onnx")


def test_other_first_words_are_unknown_commands() -> None:
    assert message_words(refusal("benchmrk")).endswith(" 'benchmrk'")
    assert message_words(refusal("--frobnicate")).endswith(" --frobnicate")
    assert message_words(refusal("\x1b[31m")).endswith(" '\\e[31m'")


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        ([], "benchmark needs a model"),
        (["-b", "8"], "benchmark needs a model"),
        (["m", "-b"], "-b needs a value"),
        (["m", "-b", "-q"], "-b needs a value"),
        (["m", "-b", "--", "x"], "-b needs a value"),
        (["m", "-x="], "-x needs a value"),
        (["m", "--quick=yes"], "--quick takes no value"),
        (["m", "-nstreams", "0"], "-nstreams takes 1 to 4096, or auto, not '0'"),
        (["m", "-pin", "socket"], "-pin takes core, numa or none, not 'socket'"),
        (["m", "--seed", "-1"], "--seed takes a whole number from 0 to 9223372036854775807, not '-1'"),
    ],
)
def test_usage_errors_are_one_line(argv: list[str], message: str) -> None:
    assert message_words(refusal("benchmark", *argv)) == message


@given(st.lists(st.text(max_size=12), max_size=5))
def test_any_argv_is_parsed_or_refused_with_printable_text(argv: list[str]) -> None:
    try:
        parse(["benchmark", *argv])
    except UsageError as error:
        line = error_line(error)
        assert show(line, 9999) == line


def test_version_and_help_are_printed() -> None:
    assert info("--version") == f"tuibench {__version__}\n"
    assert info("--help") == info("-h") == info("help")
    assert all(f"\n  {command.usage} " in info("--help") for command in COMMANDS.values())
    assert info("benchmark", "--help") == info("help", "benchmark") == info("benchmark", "m", "-b", "8", "-h")


def test_help_fits_80_columns_and_shows_every_flag_with_its_default() -> None:
    text = info("benchmark", "--help")
    assert all(len(line) <= 79 for line in (text + info("--help")).splitlines())
    for setting in benchmark_setting.settings():
        assert ", ".join(setting.flags) in text
        assert setting.kind.is_switch or setting.default_words, f"{setting.flags} has no default in its help"
    flat = " ".join(text.split())
    assert "[onnxruntime]" in flat and "[core]" in flat
    assert f"{EFFORTS['quick'].limit_s:g} s" in flat
    assert text.isascii() and info("--help").isascii()


def test_samples_are_listed() -> None:
    text = info("benchmark", "sample:?")
    assert [line.split()[0] for line in text.splitlines()] == ["sample", "sample:text", "sample:tiny"]


def test_other_commands_have_their_own_parser() -> None:
    action = Action(None, "", (argument("--include-private"),))
    parsed = parse_command(["doctor", "--include_private=a_b"], action)
    assert isinstance(parsed, argparse.Namespace)
    assert (parsed.command, parsed.include_private, parsed.debug) == ("doctor", "a_b", False)
    also = parse_command(["doctor", "--debug"], action)
    assert isinstance(also, argparse.Namespace) and also.debug
    for wrong in ("--nonsense", "--include", "--include-priv=1"):
        with refused(UsageError, "unknown_flag", flag=wrong, command="doctor") as caught:
            parse_command(["doctor", wrong], action)
        hint = "tuibench doctor --help lists all" if "incl" not in wrong else "did you mean --include-private?"
        assert error_line(caught.value) == f"unknown flag {wrong}; {hint}"


@pytest.mark.parametrize("command", [name for name, command in COMMANDS.items() if command.module])
def test_every_command_in_the_table_has_a_parser(command: str) -> None:
    text = info(command, "--help")
    assert info("help", command) == text
    assert text.startswith(f"usage: tuibench {command}")
    assert all(len(line) <= 79 for line in text.splitlines()) and text.isascii()


@pytest.mark.parametrize("argv", [["--version"], ["--help"], ["benchmark", "--help"], ["benchmark", "m", "-b8"]])
def test_parsing_imports_no_heavy_module(argv: list[str]) -> None:
    program = (
        "import json, sys; from tuibench.cli.arguments import parse; parse(json.loads(sys.argv[1]));"
        "print(json.dumps(sorted(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, json.dumps(argv)], capture_output=True, text=True, check=True, timeout=60
    )
    loaded = set(json.loads(done.stdout))
    assert "tuibench.cli.arguments" in loaded
    assert not loaded & {
        "numpy",
        "onnx",
        "onnxruntime",
        "textual",
        "rich",
        "openvino",
        "psutil",
        "difflib",
        "argparse",
        "tinydb",
    }
    assert ("textwrap" in loaded) == ("--help" in argv)


def test_flags_before_command_and_id_error_names_their_place() -> None:
    error = refusal("--ascii", "show", "last")
    assert hint_words(error).endswith(": tuibench show --ascii")
