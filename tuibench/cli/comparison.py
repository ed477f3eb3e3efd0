"""`tuibench compare`: two saved results side by side, like key `c` of the dashboard."""

from __future__ import annotations

import argparse
import os

from tuibench.cli.output import emit
from tuibench.cli.parser import Subparsers, reads
from tuibench.cli.profile_beside import name_of
from tuibench.cli.session import opened, width
from tuibench.cli.terminal import Interruption
from tuibench.core.errors import ExitCode, TuibenchError, UnknownId, UsageError
from tuibench.core.ids import short_id
from tuibench.core.model import is_remote
from tuibench.core.result import RunResult
from tuibench.core.settings.kinds import Whole
from tuibench.core.settings.profile import MOST_ROWS
from tuibench.core.text import show
from tuibench.present.profile.shown import TOP, Shown
from tuibench.present.side_by_side import WIDTH, dumps, side_by_side
from tuibench.services.api import Services

_MODELS = (".onnx", ".ort")


def add_parser(subparsers: Subparsers) -> None:
    """Add the command and its flags."""
    parser = subparsers.add_parser(
        "compare",
        description="Put two benchmarks side by side: each pair of cells with NEW / BASE in time, what differs between "
        "their machines, and no verdict, as they were measured at different times. Exit code 14 where no pair has a "
        "ratio. Two models are measured in turns, and get a verdict, by: tuibench benchmark BASE.onnx NEW.onnx",
    )
    sides = "short id, any part of the long one, a name, last, last~1 or ID~"
    parser.add_argument("base", metavar="BASE", help=sides)
    parser.add_argument("new", metavar="NEW", help="likewise")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of text")
    top = reads("--top", Whole(1, MOST_ROWS))
    parser.add_argument("--top", type=top, metavar="N", help=f"of profiles: so many layers [{TOP}]")
    parser.add_argument("--ascii", action="store_true", help="plain ASCII only")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace, interruption: Interruption) -> int:
    """Print the comparison; return 14 if no pair has a ratio."""
    with opened() as services:
        base, new = _result(services, args.base), _result(services, args.new)
        if base.id == new.id:
            raise UsageError(f"BASE and NEW are both {short_id(base.id)}", _other(base))
        side, differences = services.exchange.compare(base, new), services.exchange.differences(base, new)
        names = name_of(services, base), name_of(services, new)
    interruption.check()
    kinds = [_kind(base), _kind(new)]
    if kinds[0] != kinds[1]:
        raise NotOfAKind(
            f"{short_id(base.id)} is a {kinds[0]} and {short_id(new.id)} a {kinds[1]}: compare takes two of a kind",
            "tuibench list and tuibench list --profiles show them",
        )
    if base.profile is not None and new.profile is not None:
        return _compare_profiles(base, new, differences, names, args)
    if args.top is not None:
        raise UsageError("--top says nothing of a benchmark", "all of its cells are shown")
    emit(dumps(side) if args.json else side_by_side(side, width() or WIDTH, args.ascii))
    return int(ExitCode.OK if side.comparisons else ExitCode.NOT_COMPARABLE)


class NotOfAKind(TuibenchError):
    """A profile has layers and a benchmark has cells, so they have nothing to compare."""

    exit_code = ExitCode.NOT_COMPARABLE


def _kind(result: RunResult) -> str:
    asked = result.spec.profile
    return "benchmark" if asked is None else f"{asked.kind} profile"


def _compare_profiles(
    base: RunResult, new: RunResult, environment: tuple[str, ...], names: tuple[str, str], args: argparse.Namespace
) -> int:
    """Print the comparison by layer; return 14 if the models share no layer."""
    from tuibench.present.profile.page import comparison_json, comparison_page, count_pairs  # lazy: for profiles only

    if args.json:
        emit(comparison_json(base, new, environment))
    else:
        shown = Shown(width() or WIDTH, args.ascii, top=TOP if args.top is None else args.top)
        emit(comparison_page(base, new, environment, names, shown))
    return int(ExitCode.OK if count_pairs(base, new) else ExitCode.NOT_COMPARABLE)


def _other(result: RunResult) -> str:
    """Return a hint for comparing one benchmark with itself: its own page has the comparisons measured in it."""
    if result.comparisons:
        return f"tuibench show {short_id(result.id)} has the verdict between what was measured in it"
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
        hint = "tuibench benchmark BASE NEW measures two models in turns, and says which is faster"
        raise UsageError(f"{shown} is a model; compare takes what is measured already", hint)
    if os.path.isfile(token):
        raise UsageError(f"{shown} is a file; compare takes what is in the store", f"tuibench import {shown}")
    if "@" in token:
        hint = "whole benchmarks are compared, cell by cell, engines included"
        raise UsageError(f"{shown}: one engine of a benchmark cannot be named in this version", hint)
