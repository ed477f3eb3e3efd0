"""`tuibench attach`: follows a run started elsewhere from its beginning, without changing it."""

from __future__ import annotations

import argparse
import json

from tuibench.cli.output import emit
from tuibench.cli.parser import ASCII, QUIET, Action, argument, switch
from tuibench.cli.profile_beside import compared_page
from tuibench.cli.publication import page
from tuibench.cli.terminal import Ended, Interruption
from tuibench.cli.view import View
from tuibench.core.errors import StoreError, TuibenchError, UnknownId
from tuibench.core.ids import short_id
from tuibench.core.result import RunResult
from tuibench.core.settings.kinds import Whole
from tuibench.core.stored import Metadata
from tuibench.present.reason import reason_words, worded
from tuibench.present.run_list import resume_words
from tuibench.services.api import Services
from tuibench.services.watched_run import RunObserver, ending_code, settle_samples

_LARGEST_SEQ = 2**53


def attach(args: argparse.Namespace, services: Services, interruption: Interruption) -> int:
    """Follow to the end and return the run's exit code."""
    first = int(Whole(0, _LARGEST_SEQ)("--from", args.first))
    active = services.runs.attach(args.id)
    short, quiet = short_id(active.id), args.quiet or args.json
    # No CPUs: those of this process do not apply to a runner started elsewhere.
    view: View[RunObserver] = View(
        active, (), quiet=quiet, ascii_only=args.ascii, plan=lambda run: services.profiles.plan_run(run)
    )
    try:
        if args.json:
            return _stream(active, first, interruption)
        view.watch(interruption)
    except Ended:
        if not args.quiet:
            view.painter.say(f"still running: tuibench attach {short} follows it, tuibench cancel {short} ends it")
        raise
    result = settle_samples(active.result(), None, None)
    if result.status == "interrupted" and not args.quiet:
        view.painter.say(f"tuibench: the run was interrupted: {reason_words(active.replay.end.get('reason'))}")
        if services.runs.info(active.id).resumable:
            view.painter.say(resume_words(short, active.replay.end))
    old = _repeated(services, result)
    if result.spec.profile is None:
        emit(page(result, args.ascii, services.exchange.compare(old, result) if old is not None else None))
    else:
        compared = compared_page(services, old, result, args.ascii) if old is not None else ""
        emit(page(result, args.ascii, metadata=_metadata(services, result), compared=compared))
    return int(ending_code(active.replay, result))


def _metadata(services: Services, result: RunResult) -> Metadata | None:
    """Return the metadata of a profile; None if it is not saved."""
    try:
        return services.library.get(result.id).metadata
    except (StoreError, UnknownId):
        return None


def _repeated(services: Services, result: RunResult) -> RunResult | None:
    """Return the result that the run repeats; None if it is no re-run, or that result cannot be read."""
    try:
        repeated = services.library.get(result.id).metadata.rerun_of
        return services.library.get(repeated).result if repeated else None
    except (StoreError, UnknownId):
        return None


def _stream(active: RunObserver, first: int, interruption: Interruption) -> int:
    """Print every event from `first` once and in order; after a lost connection, continue with the next number."""
    for events in active.events():
        interruption.check()
        lines = [json.dumps(worded(event), ensure_ascii=True) for event in events if int(event["seq"]) >= first]
        if lines:
            emit("\n".join(lines) + "\n")
    try:
        return int(ending_code(active.replay, active.result()))
    except TuibenchError as error:
        return int(error.exit_code)


ACTIONS = {
    "attach": Action(
        attach,
        "Follow a run from its beginning to its end and print its result. Ctrl-C leaves it running; tuibench cancel "
        "ends it at once, tuibench finish after the current execution, tuibench extend gives it more time. The exit "
        "code is the run's.",
        (
            argument(
                "id", metavar="ID", help="a name that only one run has, or any part of its id; last is the newest"
            ),
            switch("--json", text="the journal's events, one JSON object per line, as they come"),
            argument("--from", dest="first", default="0", metavar="SEQ", help="with --json: from this event on"),
            QUIET,
            ASCII,
        ),
    )
}
