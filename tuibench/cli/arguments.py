"""From argv to a request.

Nothing heavy is imported, and nothing at all for `--version` and `--help`: both must answer within 60 ms of CPU.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn, TypeAlias

from tuibench import __version__
from tuibench.cli.command import COMMANDS, LATER
from tuibench.core.errors import UsageError
from tuibench.core.text import show
from tuibench.request.flag import FLAGS, RERUN_FLAGS
from tuibench.request.flag_reader import HELP, FlagReader
from tuibench.request.request import BenchmarkRequest, Info, RerunRequest
from tuibench.request.sample import list_samples
from tuibench.request.value import not_in_this_version

if TYPE_CHECKING:
    import argparse

Parsed: TypeAlias = "Info | BenchmarkRequest | RerunRequest | argparse.Namespace"


def parse(argv: Sequence[str]) -> Parsed:
    """Return what argv asks for."""
    command = argv[0] if argv else ""
    if command == "--version":
        return Info(f"tuibench {__version__}\n")
    if command in (*HELP, "help"):
        return _help(argv[1:])
    if command == "benchmark":
        return _parse_benchmark(argv[1:])
    if command == "rerun":
        return _parse_rerun(argv[1:])
    if command in COMMANDS:
        from tuibench.cli.parser import parse_command  # argparse: 14 ms

        return parse_command(argv)
    if command in LATER:
        raise not_in_this_version(f"tuibench {command}")
    if command.startswith("-"):
        raise UsageError(f"unknown flag {show(command, 60)}", "flags stand after the command: tuibench benchmark MODEL")
    return _refuse_command(command)


def _refuse_command(command: str) -> NoReturn:
    if command and not command.endswith(".onnx") and "/" not in command and not command.startswith("sample"):
        raise UsageError(f"unknown command '{show(command, 60)}'", "tuibench --help lists them")
    model = show(command, 100) or "MODEL"
    raise UsageError("the dashboard is not in this version", f"tuibench benchmark {model} measures from the shell")


def _help(topic: Sequence[str]) -> Parsed:
    if topic and not topic[0].startswith("-"):
        return parse([*topic[:1], "--help"])
    from tuibench.cli.help import root_help  # textwrap and the texts: 2 ms that no other command needs

    return Info(root_help())


def _parse_benchmark(argv: Sequence[str]) -> Info | BenchmarkRequest:
    if _asks_for_help(argv):
        from tuibench.cli.help import benchmark_help  # as above

        return Info(benchmark_help())
    models, fields = FlagReader(FLAGS).split(argv)
    if "sample:?" in models:
        return Info(list_samples())
    if not models:
        raise UsageError("benchmark needs a model", "tuibench benchmark sample measures the built-in one")
    return BenchmarkRequest(models=tuple(models), **fields)


def _parse_rerun(argv: Sequence[str]) -> Info | RerunRequest:
    if _asks_for_help(argv):
        from tuibench.cli.help import rerun_help  # as above

        return Info(rerun_help())
    ids, fields = FlagReader((*FLAGS, *RERUN_FLAGS), "rerun").split(argv)
    if len(ids) != 1:
        what = "rerun needs the ID of a benchmark" if not ids else "rerun takes one ID"
        raise UsageError(what, "tuibench list shows them; tuibench rerun last repeats the newest")
    return RerunRequest(ids[0], fields.pop("changed", False), fields.pop("paths", ()), fields)


def _asks_for_help(argv: Sequence[str]) -> bool:
    return any(token in HELP for token in argv[: argv.index("--") if "--" in argv else len(argv)])
