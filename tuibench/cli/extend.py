"""`tuibench extend`: gives the cells of a running run more time to reach their target."""

from __future__ import annotations

import argparse
from typing import Any

from tuibench.cli.output import emit
from tuibench.cli.session import opened
from tuibench.cli.terminal import Interruption
from tuibench.core import activity
from tuibench.core.activity import RunInfo
from tuibench.core.ids import short_id
from tuibench.core.settings.kinds import Decimal
from tuibench.core.text import show
from tuibench.core.units import seconds

_LONGEST_S = 10_000_000


def add_parser(subparsers: Any) -> None:
    """Add the command and its flags."""
    parser = subparsers.add_parser(
        "extend",
        help="give a run more time per cell",
        description="Give every cell of a run that goes on more time, and as many more executions as go with it: those "
        "still measured, and those that had used up what they had. Cells that reached their target stay as they are. "
        "--max-time moves by the same amount.",
    )
    parser.add_argument(
        "id", metavar="ID", help="a name that only one run has, or any part of its id; last is the newest"
    )
    parser.add_argument("--by", metavar="SEC", help="so much per cell; default: what each was given at first")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace, interruption: Interruption) -> int:
    """Request it and return at once."""
    by_s = None if args.by is None else float(Decimal(0.1, _LONGEST_S, "seconds")("--by", args.by))
    with opened() as services:
        emit(_outcome(services.runs.extend(args.id, by_s), by_s) + "\n")
        interruption.check()
    return 0


def _outcome(info: RunInfo, by_s: float | None) -> str:
    short = short_id(info.id)
    if info.state == activity.ELSEWHERE:
        return f"{short}: {show(info.detail)}; its runner there will see the request within seconds"
    amount = "as much time per cell again" if by_s is None else f"{seconds(by_s)} more per cell"
    return f"{short}: {amount}; tuibench attach {short} shows what comes of it"
