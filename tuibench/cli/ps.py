"""`tuibench ps`: the runs, with a hint for those that need an action."""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from typing import Any

from tuibench.cli.output import emit
from tuibench.cli.session import opened
from tuibench.cli.terminal import Interruption
from tuibench.core import activity
from tuibench.present.run_list import run_list, runs_json

_QUIET_STATES = frozenset({activity.FINISHED, activity.CANCELLED})


def add_parser(subparsers: Any) -> None:
    """Add the command and its flags."""
    parser = subparsers.add_parser(
        "ps",
        help="runs: measuring, waiting, broken off",
        description="List the runs that measure, wait, broke off or could not be saved.",
    )
    parser.add_argument("--all", action="store_true", help="also those of the last days that ended and are saved")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of text")
    parser.add_argument("--ascii", action="store_true", help="plain ASCII only")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace, interruption: Interruption) -> int:
    """List the runs, newest first."""
    with opened() as services:
        every = services.runs.every()
    interruption.check()
    shown = [info for info in every if args.all or info.state not in _QUIET_STATES]
    if args.json:
        emit(runs_json(shown))
    elif shown:
        emit(run_list(shown, time.time(), width=_width(), ascii_only=args.ascii))
    else:
        hidden = f"; {len(every)} ended ones by --all" if every else ""
        print(f"nothing is running or waiting{hidden}", file=sys.stderr)
    return 0


def _width() -> int | None:
    """Return the columns of the terminal; None for a pipe, so that nothing is cut."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None
