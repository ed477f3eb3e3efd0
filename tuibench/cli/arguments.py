"""Parses argv into a request.

No heavy imports, and none at all for `--version` and `--help`: both must answer within 60 ms of CPU.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

from tuibench import __version__
from tuibench.cli.command import COMMANDS, LATER
from tuibench.core.errors import ExclusiveFlags, UsageError
from tuibench.core.settings import benchmark as benchmark_setting
from tuibench.core.settings import profile as profile_setting
from tuibench.core.settings.command import HELP, FlagReader, read_request
from tuibench.core.settings.kinds import not_in_this_version
from tuibench.core.settings.model_token import list_samples
from tuibench.core.settings.request import BenchmarkRequest, DashboardRequest, Info, RerunRequest

if TYPE_CHECKING:
    import argparse

    from tuibench.core.settings.command import ProfileRequest

Parsed: TypeAlias = "Info | BenchmarkRequest | ProfileRequest | RerunRequest | DashboardRequest | argparse.Namespace"
_SWITCHES = ("--mouse", "--no-mouse", "--ascii", "--debug")
"""Flags of the dashboard."""


def parse(argv: Sequence[str]) -> Parsed:
    """Return the request in argv."""
    command = argv[0] if argv else ""
    if command == "--version":
        return Info(f"tuibench {__version__}\n")
    if command in (*HELP, "help"):
        return _help(argv[1:])
    if command == "benchmark":
        return _parse_benchmark(argv[1:])
    if command == "rerun":
        return _parse_rerun(argv[1:])
    if command == "profile":
        return _parse_profile(argv[1:])
    if command in COMMANDS:
        from tuibench.cli.parser import parse_command  # argparse: 14 ms

        return parse_command(argv)
    if command in LATER:
        raise not_in_this_version(f"tuibench {command}")
    return _parse_dashboard(argv)


def _parse_dashboard(argv: Sequence[str]) -> Info | DashboardRequest:
    end = argv.index("--") if "--" in argv else len(argv)
    flags = [_dashed(token) for token in argv[:end] if token.startswith("-")]
    paths = [token for token in argv[:end] if not token.startswith("-")] + list(argv[end + 1 :])
    if _asks_for_help(argv) and all(map(_looks_like_model, paths)):
        return _help_page()
    for flag in flags:
        if flag not in (*_SWITCHES, *HELP):
            raise UsageError("flag_before_command", flag=flag, command=_command_of(paths))
    if len(paths) > 1 and _looks_like_model(paths[0]):
        raise UsageError("dashboard_opens_one_model")
    if paths and not _looks_like_model(paths[0]):
        if paths[0] in COMMANDS:
            raise UsageError("command_before_flags", command=paths[0], flag="".join(flags[:1]))
        raise UsageError("unknown_command", given=paths[0], similar=_similar_command(paths[0]))
    if {"--mouse", "--no-mouse"} <= set(flags):
        raise ExclusiveFlags("flags_exclude", first="--mouse", second="--no-mouse")
    mouse = True if "--mouse" in flags else False if "--no-mouse" in flags else None
    return DashboardRequest("".join(paths), mouse, "--ascii" in flags, "--debug" in flags)


def _similar_command(typed: str) -> str | None:
    import difflib  # 5 ms that only a misspelled command needs

    return next(iter(difflib.get_close_matches(typed, COMMANDS, n=1)), None)


def _dashed(flag: str) -> str:
    return "--" + flag[2:].replace("_", "-") if flag.startswith("--") else flag


def _command_of(paths: Sequence[str]) -> str:
    return paths[0] if paths and paths[0] in COMMANDS else "benchmark MODEL"


def _looks_like_model(token: str) -> bool:
    """Return whether a token can be a model; a misspelled command must not be taken for one."""
    named = token.endswith((".onnx", ".ort")) or token.startswith("sample")
    return named or "/" in token or ":" in token or os.path.exists(token)


def _help(topic: Sequence[str]) -> Parsed:
    if topic and not topic[0].startswith("-"):
        return parse([*topic[:1], "--help"])
    return _help_page()


def _help_page(command: str = "") -> Info:
    from tuibench.cli.help import PAGES  # textwrap and the texts: 2 ms that no other command needs

    return Info(PAGES[command]())


def _parse_benchmark(argv: Sequence[str]) -> Info | BenchmarkRequest:
    if _asks_for_help(argv):
        return _help_page("benchmark")
    models, fields = FlagReader(benchmark_setting.settings()).split(argv)
    if "sample:?" in models:
        return Info(list_samples())
    if not models:
        raise UsageError("benchmark_needs_model")
    return BenchmarkRequest(models=tuple(models), **fields)


def _parse_profile(argv: Sequence[str]) -> Info | ProfileRequest:
    if _asks_for_help(argv):
        return _help_page("profile")
    if "sample:?" in argv:
        return Info(list_samples())
    return read_request(argv)


def _parse_rerun(argv: Sequence[str]) -> Info | RerunRequest:
    if _asks_for_help(argv):
        return _help_page("rerun")
    settings = (*profile_setting.own(), *benchmark_setting.settings(), *benchmark_setting.RERUN)
    ids, fields = FlagReader(settings, "rerun").split(argv)
    if len(ids) != 1:
        raise UsageError("rerun_takes_one_id", count=len(ids))
    return RerunRequest(ids[0], fields.pop("changed", False), fields.pop("paths", ()), fields)


def _asks_for_help(argv: Sequence[str]) -> bool:
    return any(token in HELP for token in argv[: argv.index("--") if "--" in argv else len(argv)])
