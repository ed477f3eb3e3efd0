"""`tuibench cancel`: end runs that go on; what they measured is saved."""

from __future__ import annotations

import argparse
from typing import Any

from tuibench.cli.interruption import Interruption
from tuibench.cli.output import emit
from tuibench.cli.session import opened
from tuibench.core import activity
from tuibench.core.activity import RunInfo
from tuibench.core.short_id import short_id
from tuibench.core.text import show
from tuibench.core.units import count_of


def add_parser(subparsers: Any) -> None:
    """Add the command and its flags."""
    parser = subparsers.add_parser(
        "cancel",
        help="end a run, keeping what it measured",
        description="End runs that measure or wait. What they have measured by then is saved as a cancelled benchmark.",
    )
    parser.add_argument(
        "ids", metavar="ID", nargs="+", help="a name that only one run has, or any part of its id; last is the newest"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace, interruption: Interruption) -> int:
    """Cancel one after the other; what is wrong with one of them stops before the next."""
    with opened() as bench:
        for token in args.ids:
            emit(_outcome(bench.runs.cancel(token)) + "\n")
            interruption.check()
    return 0


def _outcome(info: RunInfo) -> str:
    short = short_id(info.id)
    if info.state == activity.ELSEWHERE:
        return f"{short}: {show(info.detail)}; its runner there will see the wish within seconds"
    if info.state == activity.UNSAVED:
        return f"{short}: ended, not saved: {show(info.detail)}; tuibench resume {short} tries again"
    kept = f"{count_of(info.executions, 'execution')} saved" if info.executions else "nothing was measured"
    return f"{short}: {info.state}, {kept}"
