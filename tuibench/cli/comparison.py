"""`tuibench compare`: two saved results side by side, like key `c` of the dashboard."""

from __future__ import annotations

import argparse
import os

from tuibench.cli.output import emit, width
from tuibench.cli.parser import ASCII, JSON, Action, argument, reads
from tuibench.cli.publication import name_of
from tuibench.cli.results import RESULT_ID
from tuibench.cli.terminal import Interruption
from tuibench.core.errors import ExitCode, TuibenchError, UnknownId, UsageError
from tuibench.core.ids import short_id
from tuibench.core.model import is_remote
from tuibench.core.result import RunResult
from tuibench.core.settings.kinds import Whole
from tuibench.core.settings.profile import MOST_ROWS
from tuibench.core.text import show
from tuibench.present.profile.pairs import comparison_json, comparison_page, count_pairs
from tuibench.present.profile.shown import TOP, Shown
from tuibench.present.side_by_side import WIDTH, dumps, side_by_side
from tuibench.services.api import Services

_MODELS = (".onnx", ".ort")


def compare(args: argparse.Namespace, services: Services, interruption: Interruption) -> ExitCode:
    """Print the comparison; return 14 if no pair has a ratio."""
    base, new = _result(services, args.base), _result(services, args.new)
    if base.id == new.id:
        raise UsageError(f"BASE and NEW are both {short_id(base.id)}", _other(base))
    kinds = [_kind(base), _kind(new)]
    if kinds[0] != kinds[1]:
        raise NotOfAKind(
            f"{short_id(base.id)} is a {kinds[0]} and {short_id(new.id)} a {kinds[1]}: compare needs two of a kind",
            "tuibench list and tuibench list --profiles show them",
        )
    if base.profile is not None and new.profile is not None:
        return _compare_profiles(services, base, new, args)
    if args.top is not None:
        raise UsageError("--top applies to profiles only", "all cells of a benchmark are shown")
    side = services.exchange.compare(base, new)
    interruption.check()
    emit(dumps(side) if args.json else side_by_side(side, width() or WIDTH, args.ascii))
    return ExitCode.OK if side.comparisons else ExitCode.NOT_COMPARABLE


class NotOfAKind(TuibenchError):
    """A profile has layers and a benchmark has cells, so they have nothing to compare."""

    exit_code = ExitCode.NOT_COMPARABLE


def _kind(result: RunResult) -> str:
    asked = result.spec.profile
    return "benchmark" if asked is None else f"{asked.kind} profile"


def _compare_profiles(services: Services, base: RunResult, new: RunResult, args: argparse.Namespace) -> ExitCode:
    """Print the comparison by layer; return 14 if the models share no layer."""
    environment = services.exchange.differences(base, new)
    if args.json:
        emit(comparison_json(base, new, environment))
    else:
        shown = Shown(width() or WIDTH, args.ascii, top=TOP if args.top is None else args.top)
        names = name_of(services, base), name_of(services, new)
        emit(comparison_page(base, new, environment, names, shown))
    return ExitCode.OK if count_pairs(base, new) else ExitCode.NOT_COMPARABLE


def _other(result: RunResult) -> str:
    """Return a hint for comparing one benchmark with itself: its own page has the comparisons measured in it."""
    if result.comparisons:
        return f"tuibench show {short_id(result.id)} has the verdict measured in it"
    listed = "tuibench list --profiles" if result.spec.profile is not None else "tuibench list"
    return f"{listed} shows the others"


def _result(services: Services, token: str) -> RunResult:
    """Return a stored result; for a file, raise with the command that measures or imports it."""
    try:
        return services.exchange.result(token)
    except UnknownId:
        _refuse_files(token)
        raise


def _refuse_files(token: str) -> None:
    shown = show(token, 60)
    sample = token == "sample" or token.startswith("sample:")
    if sample or is_remote(token) or token.endswith(_MODELS) or os.path.isdir(token):
        hint = "tuibench benchmark BASE NEW measures two models interleaved and gives a verdict"
        raise UsageError(f"{shown} is a model; compare accepts saved results", hint)
    if os.path.isfile(token):
        raise UsageError(f"{shown} is a file; compare accepts saved results", f"tuibench import {shown}")
    if "@" in token:
        hint = "whole benchmarks are compared, cell by cell, engines included"
        raise UsageError(f"{shown}: one engine of a benchmark cannot be selected", hint)


ACTIONS = {
    "compare": Action(
        compare,
        "Print two results side by side: each pair of cells with NEW / BASE in time, and the differences between their "
        "machines. There is no verdict, because they were measured at different times. Exit code 14 if no pair has a "
        "ratio. For a verdict, measure both models in one run: tuibench benchmark BASE.onnx NEW.onnx",
        (
            argument("base", metavar="BASE", help=RESULT_ID),
            argument("new", metavar="NEW", help=RESULT_ID),
            JSON,
            argument(
                "--top", type=reads("--top", Whole(1, MOST_ROWS)), metavar="N", help=f"number of layers shown [{TOP}]"
            ),
            ASCII,
        ),
    )
}
