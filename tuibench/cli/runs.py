"""`tuibench ps`, `attach`, `cancel`, `finish`, `extend` and `resume`: the runs, and requests to them."""

from __future__ import annotations

import argparse
import json
import time

from tuibench.cli.benchmark import follow_or_detach
from tuibench.cli.output import emit, tell, width
from tuibench.cli.parser import ASCII, JSON, QUIET, Action, argument, switch
from tuibench.cli.publication import compared_page, page
from tuibench.cli.terminal import Ended, Interruption
from tuibench.cli.view import View
from tuibench.core import activity
from tuibench.core.errors import ExclusiveFlags, ExitCode, StoreError, TuibenchError, UnknownId
from tuibench.core.ids import short_id
from tuibench.core.result import RunResult
from tuibench.core.settings.kinds import Decimal, Whole
from tuibench.core.settings.request import BenchmarkRequest
from tuibench.core.stored import Metadata
from tuibench.present.outcome import cancel_words, extend_words, finish_words
from tuibench.present.reason import reason_words
from tuibench.present.run_list import event_values, resume_words, run_list, runs_json
from tuibench.services.active_run import ActiveRun, RunObserver, ending_code, settle_samples
from tuibench.services.api import Services
from tuibench.services.export_file import check_target

_MAX_S = 10_000_000
_QUIET_STATES = frozenset({activity.FINISHED, activity.CANCELLED})
_RUN = "unique name, or start or end of the id; last is the newest"
RUN_ID = argument("id", metavar="ID", help=_RUN)


def list_runs(args: argparse.Namespace, services: Services, interruption: Interruption) -> None:
    """List the runs, newest first."""
    every = services.runs.every()
    interruption.check()
    shown = [info for info in every if args.all or info.state not in _QUIET_STATES]
    if args.json:
        emit(runs_json(shown))
    elif shown:
        emit(run_list(shown, time.time(), width=width(), ascii_only=args.ascii))
    else:
        hidden = f"; {len(every)} ended: --all lists them" if every else ""
        tell(f"nothing is running or queued{hidden}")


def cancel(args: argparse.Namespace, services: Services, interruption: Interruption) -> ExitCode:
    """Cancel one run after the other; an error stops before the next."""
    code = ExitCode.OK
    for token in args.ids:
        ended = services.runs.cancel(token)
        emit(cancel_words(ended) + "\n")
        if ended.state == activity.UNSAVED:
            code = ExitCode.STORE
        interruption.check()
    return code


def finish(args: argparse.Namespace, services: Services, _: Interruption) -> None:
    """Request the end of a run after its current execution."""
    emit(finish_words(services.runs.finish(args.id), counted=True) + "\n")


def extend(args: argparse.Namespace, services: Services, _: Interruption) -> None:
    """Request more time for a run."""
    by_s = None if args.by is None else float(Decimal(0.1, _MAX_S, "seconds")("--by", args.by))
    emit(extend_words(services.runs.extend(args.id, by_s), by_s) + "\n")


def resume(args: argparse.Namespace, services: Services, interruption: Interruption) -> int:
    """Resume the run and follow it, as benchmark does."""
    if args.no_wait and args.wait is not None:
        raise ExclusiveFlags("flags_exclude", first="--wait", second="--no-wait")
    wait_s = None if args.wait is None else float(Decimal(0, _MAX_S, "seconds")("--wait", args.wait))
    if args.export_path is not None:
        if args.detach:
            raise ExclusiveFlags("detach_excludes_export", first="--detach", second="-x")
        check_target(args.export_path)
    shared = {name: getattr(args, name) for name in ("export_path", "json", "quiet", "ascii", "detach")}
    options = {name: getattr(args, name) for name in ("mixed", "finish", "share_host")}

    def start() -> tuple[ActiveRun, tuple[str, ...]]:
        return services.runs.resume(args.id, wait_s=0.0 if args.no_wait else wait_s, **options), ()

    return follow_or_detach(services, start, BenchmarkRequest(models=(), **shared), interruption)


_LARGEST_SEQ = 2**53


def attach(args: argparse.Namespace, services: Services, interruption: Interruption) -> int:
    """Follow to the end and return the run's exit code."""
    first = int(Whole(0, _LARGEST_SEQ)("--from", args.first))
    active = services.runs.attach(args.id)
    short, quiet = short_id(active.id), args.quiet or args.json
    view: View[RunObserver] = View(
        active, quiet=quiet, ascii_only=args.ascii, plan=lambda run: services.profiles.plan_run(run)
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
        lines = [json.dumps(event_values(event), ensure_ascii=True) for event in events if int(event["seq"]) >= first]
        if lines:
            emit("\n".join(lines) + "\n")
    try:
        return int(ending_code(active.replay, active.result()))
    except TuibenchError as error:
        return int(error.exit_code)


ACTIONS = {
    "ps": Action(
        list_runs,
        "List the runs that measure, wait, were interrupted or could not be saved.",
        (switch("--all", text="include runs of the last days that ended and were saved"), JSON, ASCII),
    ),
    "cancel": Action(
        cancel,
        "End running or queued runs at once. Their measurements so far are saved as a cancelled benchmark.",
        (argument("ids", metavar="ID", nargs="+", help=_RUN),),
    ),
    "finish": Action(
        finish,
        "End a run after its current execution, and save it as finished. Cells that were measured at least once count "
        "as measured, all others as skipped. A profile ends at its first usable result. tuibench cancel ends a run "
        "at once.",
        (RUN_ID,),
    ),
    "extend": Action(
        extend,
        "Give every cell of a running run more time, and the executions that fit into it: cells still measured, and "
        "cells that used up their time. Cells that reached their target stay as they are. --max-time is raised by the "
        "same amount.",
        (RUN_ID, argument("--by", metavar="SEC", help="seconds per cell [the original limit]")),
    ),
    "resume": Action(
        resume,
        "Resume a run whose runner died, whose machine was restarted, or whose result could not be saved. Executions "
        "in its journal are not repeated. First repeats one execution of the cheapest cell, which must agree with the "
        "earlier ones. A changed machine or library is an error unless --mixed.",
        (
            RUN_ID,
            switch("--mixed", text="resume although the machine has changed; recorded"),
            switch("--finish", text="measure nothing more; save the partial result"),
            switch("--detach", text="start the run, print its id and return"),
            argument("--wait", metavar="SEC", help="wait at most SEC for other benchmarks, then exit 7"),
            switch("--no-wait", text="exit 7 if another benchmark is measuring"),
            switch("--share-host", text="measure concurrently with another benchmark"),
            argument("-x", "--export-path", metavar="FILE", help="write the result to FILE, as benchmark -x does"),
            switch("--json", text="print the result as JSON"),
            QUIET,
            ASCII,
        ),
    ),
    "attach": Action(
        attach,
        "Follow a run from its beginning to its end and print its result. Ctrl-C leaves it running; tuibench cancel "
        "ends it at once, tuibench finish after the current execution, tuibench extend gives it more time. The exit "
        "code is the run's.",
        (
            RUN_ID,
            switch("--json", text="print the events of the journal as JSON lines"),
            argument("--from", dest="first", default="0", metavar="SEQ", help="with --json: number of the first event"),
            QUIET,
            ASCII,
        ),
    ),
}
