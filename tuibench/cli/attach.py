"""`tuibench attach`: follows a run started elsewhere from its beginning, without changing it."""

from __future__ import annotations

import argparse
import json
from typing import Any

from tuibench.cli.output import emit, page
from tuibench.cli.profile_beside import compared_page
from tuibench.cli.session import opened
from tuibench.cli.terminal import Ended, Interruption
from tuibench.cli.view import View
from tuibench.core.errors import StoreError, TuibenchError, UnknownId
from tuibench.core.ids import short_id
from tuibench.core.result import RunResult
from tuibench.core.settings.kinds import Whole
from tuibench.core.stored import Metadata
from tuibench.present.run_list import reason_words, resume_words
from tuibench.services.api import Services
from tuibench.services.watched_run import AttachedRun, ending_code, settle_samples

_LARGEST_SEQ = 2**53


def add_parser(subparsers: Any) -> None:
    """Add the command and its flags."""
    parser = subparsers.add_parser(
        "attach",
        help="follow a run",
        description="Follow a run from its beginning to its end and print what came of it. Ctrl-C leaves it going; "
        "tuibench cancel ends it, tuibench finish ends it well, tuibench extend gives it more time. The exit code is "
        "the run's.",
    )
    parser.add_argument(
        "id", metavar="ID", help="a name that only one run has, or any part of its id; last is the newest"
    )
    parser.add_argument(
        "--json", action="store_true", help="the journal's events, one JSON object per line, as they come"
    )
    parser.add_argument("--from", dest="first", default="0", metavar="SEQ", help="with --json: from this event on")
    parser.add_argument("-q", "--quiet", action="store_true", help="nothing on stderr but errors")
    parser.add_argument("--ascii", action="store_true", help="plain ASCII only")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace, interruption: Interruption) -> int:
    """Follow to the end and return the run's exit code."""
    first = int(Whole(0, _LARGEST_SEQ)("--from", args.first))
    with opened() as services:
        active = services.runs.attach(args.id)
        quiet = args.quiet or args.json
        # No CPUs: those of this process do not apply to a runner started elsewhere.
        view: View[AttachedRun] = View(
            active, (), quiet=quiet, ascii_only=args.ascii, plan=lambda run: services.profiles.plan_run(run)
        )
        try:
            if args.json:
                return _stream(active, first, interruption)
            view.watch(interruption)
        except Ended:
            if not args.quiet:
                short = short_id(active.id)
                come_back = f"tuibench attach {short} comes back, tuibench cancel {short} ends it"
                view.painter.say(f"left; it goes on: {come_back}")
            raise
        result = settle_samples(active.result(), None, None)
        if result.status == "interrupted" and not args.quiet:
            view.painter.say(f"tuibench: the run broke off: {reason_words(str(active.replay.end.get('reason', '')))}")
            if services.runs.info(active.id).resumable:
                view.painter.say(resume_words(short_id(active.id), active.replay.end))
        old = _repeated(services, result)
        if old is None or result.spec.profile is not None:
            compared = compared_page(services, old, result, args.ascii) if old is not None else ""
            emit(page(result, args.ascii, metadata=_metadata(services, result), compared=compared))
        else:
            emit(page(result, args.ascii, services.exchange.compare(old, result)))
        return int(ending_code(active.replay, result))


def _metadata(services: Services, result: RunResult) -> Metadata | None:
    """Return the metadata of a saved profile; None otherwise."""
    try:
        return services.library.get(result.id).metadata if result.spec.profile is not None else None
    except (StoreError, UnknownId):
        return None


def _repeated(services: Services, result: RunResult) -> RunResult | None:
    """Return the result that the run repeats; None if it is no re-run, or that result cannot be read."""
    try:
        repeated = services.library.get(result.id).metadata.rerun_of
        return services.library.get(repeated).result if repeated else None
    except (StoreError, UnknownId):
        return None


def _stream(active: AttachedRun, first: int, interruption: Interruption) -> int:
    """Print every event from `first` once and in order; after a lost connection, continue with the next number."""
    for events in active.events():
        interruption.check()
        lines = [json.dumps(event, ensure_ascii=True) for event in events if int(event["seq"]) >= first]
        if lines:
            emit("\n".join(lines) + "\n")
    try:
        return int(ending_code(active.replay, active.result()))
    except TuibenchError as error:
        return int(error.exit_code)
