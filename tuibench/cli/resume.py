"""`tuibench resume`: resumes an interrupted run and measures only the missing part."""

from __future__ import annotations

import argparse
from typing import Any

from tuibench.cli.benchmark import follow_or_detach
from tuibench.cli.session import opened
from tuibench.cli.terminal import Interruption, held_back
from tuibench.core.errors import UsageError
from tuibench.core.settings.kinds import Decimal
from tuibench.core.settings.request import BenchmarkRequest
from tuibench.present.export import check_target
from tuibench.services.watched_run import ActiveRun

_LONGEST_WAIT_S = 10_000_000


def add_parser(subparsers: Any) -> None:
    """Add the command and its flags."""
    parser = subparsers.add_parser(
        "resume",
        help="measure what is missing of a run that broke off",
        description="Take up a run whose runner died, whose machine was started anew, or whose result could not be "
        "saved. Executions that are in its journal are not repeated. One more execution of the cheapest cell must "
        "agree with the earlier ones; a machine or library that has changed is refused unless --mixed.",
    )
    parser.add_argument(
        "id", metavar="ID", help="a name that only one run has, or any part of its id; last is the newest"
    )
    parser.add_argument("--mixed", action="store_true", help="go on although the machine has changed; recorded")
    parser.add_argument("--finish", action="store_true", help="measure nothing more, save what there is")
    parser.add_argument("--detach", action="store_true", help="start it, print its id and return")
    parser.add_argument("--wait", metavar="SEC", help="for another benchmark on this machine, at most so long")
    parser.add_argument("--no-wait", action="store_true", help="exit 7 where another benchmark is measuring")
    parser.add_argument("--share-host", action="store_true", help="measure at once, beside another benchmark")
    parser.add_argument("-x", "--export-path", metavar="FILE", help="write the result, as benchmark -x does")
    parser.add_argument("--json", action="store_true", help="the result as JSON on stdout")
    parser.add_argument("-q", "--quiet", action="store_true", help="nothing on stderr but errors")
    parser.add_argument("--ascii", action="store_true", help="plain ASCII only")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace, interruption: Interruption) -> int:
    """Resume the run and follow it, as benchmark does."""
    if args.no_wait and args.wait is not None:
        raise UsageError("--wait and --no-wait exclude each other", "give one of them")
    wait_s = None if args.wait is None else float(Decimal(0, _LONGEST_WAIT_S, "seconds")("--wait", args.wait))
    if args.export_path is not None:
        if args.detach:
            raise UsageError("--detach and -x exclude each other", "tuibench export ID -x FILE writes it afterwards")
        check_target(args.export_path)
    request = BenchmarkRequest(
        models=(), export_path=args.export_path, json=args.json, quiet=args.quiet, ascii=args.ascii, detach=args.detach
    )
    with opened() as services:
        active: ActiveRun | None = None
        try:
            interruption.check()
            with held_back():
                wait_s = 0.0 if args.no_wait else wait_s
                active = services.runs.resume(
                    args.id, mixed=args.mixed, finish=args.finish, wait_s=wait_s, share_host=args.share_host
                )
            return follow_or_detach(services, active, request, (), interruption)
        finally:
            if active is not None:
                with held_back():
                    active.close()
