"""`tuibench finish`: ends a run after the current execution; its measurements count as measured."""

from __future__ import annotations

import argparse
from typing import Any

from tuibench.cli.output import emit
from tuibench.cli.session import opened
from tuibench.cli.terminal import Interruption
from tuibench.core import activity
from tuibench.core.activity import RunInfo, finishing_words
from tuibench.core.ids import short_id
from tuibench.core.text import show
from tuibench.core.units import count_of


def add_parser(subparsers: Any) -> None:
    """Add the command and its flags."""
    parser = subparsers.add_parser(
        "finish",
        help="end a run well, with what it has",
        description="Have a run end once the execution that goes on is done, and save it as finished. Cells that were "
        "measured at least once count as measured, all others as skipped. A profile ends as soon as it has something "
        "to show. tuibench cancel ends a run at once.",
    )
    parser.add_argument(
        "id", metavar="ID", help="a name that only one run has, or any part of its id; last is the newest"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace, interruption: Interruption) -> int:
    """Request it and return at once."""
    with opened() as services:
        emit(_outcome(services.runs.finish(args.id)) + "\n")
        interruption.check()
    return 0


def _outcome(info: RunInfo) -> str:
    short = short_id(info.id)
    if info.state == activity.ELSEWHERE:
        return f"{short}: {show(info.detail)}; its runner there will see the request within seconds"
    if info.state not in activity.ALIVE:
        return f"{short}: {info.state}"
    so_far = count_of(info.executions, "measurement" if info.kind else "execution")
    return f"{short}: {finishing_words(profile=bool(info.kind))}; {so_far} so far"
