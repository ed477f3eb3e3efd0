"""`tuibench cancel`: ends runs and saves their measurements."""

from __future__ import annotations

import argparse
from typing import Any

from tuibench.cli.output import emit
from tuibench.cli.session import opened
from tuibench.cli.terminal import Interruption
from tuibench.core.activity import UNSAVED
from tuibench.core.errors import ExitCode
from tuibench.present.run_list import cancel_words


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
    """Cancel one run after the other; an error stops before the next."""
    code = ExitCode.OK
    with opened() as services:
        for token in args.ids:
            ended = services.runs.cancel(token)
            emit(cancel_words(ended) + "\n")
            if ended.state == UNSAVED:
                code = ExitCode.STORE
            interruption.check()
    return int(code)
