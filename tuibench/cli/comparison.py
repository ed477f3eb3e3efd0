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
from tuibench.core.model import is_remote
from tuibench.core.result import RunResult
from tuibench.core.settings.kinds import Whole
from tuibench.core.settings.profile import MOST_ROWS
from tuibench.present.profile.pairs import comparison_json, comparison_page, count_pairs
from tuibench.present.profile.shown import TOP, Shown
from tuibench.present.side_by_side import WIDTH, dumps, side_by_side
from tuibench.services.api import Services

_MODELS = (".onnx", ".ort")


def compare(args: argparse.Namespace, services: Services, interruption: Interruption) -> ExitCode:
    """Print the comparison; return 14 if no pair has a ratio, 13 if outputs of a pair that has one are wrong."""
    base, new = _result(services, args.base), _result(services, args.new)
    if base.id == new.id:
        code = "same_benchmarks" if base.spec.profile is None else "same_profiles"
        raise UsageError("compared_with_itself" if base.comparisons else code, id=base.id)
    kinds = [_kind(base), _kind(new)]
    if kinds[0] != kinds[1]:
        raise NotOfAKind("not_of_a_kind", base=base.id, base_kind=kinds[0], new=new.id, new_kind=kinds[1])
    if base.profile is not None and new.profile is not None:
        return _compare_profiles(services, base, new, args)
    if args.top is not None:
        raise UsageError("top_of_benchmark")
    side = services.exchange.compare(base, new)
    interruption.check()
    emit(dumps(side) if args.json else side_by_side(side, width() or WIDTH, args.ascii))
    if not side.comparisons:
        return ExitCode.NOT_COMPARABLE
    return ExitCode.OUTPUTS_DIFFER if side.has_wrong_outputs else ExitCode.OK


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


def _result(services: Services, token: str) -> RunResult:
    """Return a stored result; for a file, raise with the command that measures or imports it."""
    try:
        return services.exchange.result(token)
    except UnknownId:
        _refuse_files(token)
        raise


def _refuse_files(token: str) -> None:
    sample = token == "sample" or token.startswith("sample:")
    if sample or is_remote(token) or token.endswith(_MODELS) or os.path.isdir(token):
        raise UsageError("model_compared", given=token)
    if os.path.isfile(token):
        raise UsageError("file_compared", given=token)
    if "@" in token:
        raise UsageError("engine_compared", given=token)


ACTIONS = {
    "compare": Action(
        compare,
        "Print two results side by side: each pair of cells with NEW / BASE in time, and the differences between their "
        "machines. There is no verdict, because they were measured at different times. Exit code 14 if no pair has a "
        "ratio, 13 if outputs of a compared cell differ from ONNX Runtime's. For a verdict, measure both models in one "
        "run: tuibench benchmark BASE.onnx NEW.onnx",
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
