"""`tuibench benchmark`: start the run, show its progress on stderr, print its result on stdout."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from tuibench.cli.following import Following, fetcher
from tuibench.cli.output import emit, open_services, tell
from tuibench.cli.terminal import Interruption, held_back
from tuibench.cli.view import View
from tuibench.core.errors import ExclusiveFlags, ExitCode
from tuibench.core.ids import short_id
from tuibench.core.result import RunResult
from tuibench.core.settings.request import BenchmarkRequest, to_spec
from tuibench.core.spec import BenchmarkSpec
from tuibench.core.stored import Metadata
from tuibench.present.profile.shown import Shown
from tuibench.services.active_run import ActiveRun, Event
from tuibench.services.api import Services
from tuibench.services.export_file import check_target, spare
from tuibench.services.runs import RunOptions

SCHEMA = 1


def run(request: BenchmarkRequest, interruption: Interruption) -> int:
    """Run the requested benchmark and return the exit code."""
    with open_services() as services:
        # Before the run: report a missing baseline now, not after measuring.
        partner = services.library.get(request.compare_to).result if request.compare_to is not None else None
        topology = services.machine.topology()
        spec, notes = to_spec(request, topology, fetcher(services.settings.places, request.quiet, request.ascii))
        services.machine.check_engines(spec.engines)
        check_export(request, spec)
        options = run_options(request)
        return measure(services, request, spec, options, notes, interruption, partner)


def check_export(request: BenchmarkRequest, spec: BenchmarkSpec) -> None:
    """Raise if the file of -x cannot be written, or is an input of the run."""
    if request.export_path is not None:
        spare(request.export_path, [*(source.path for source in spec.models), *filter(None, [spec.inputs.file])])
        check_target(request.export_path)


def run_options(request: BenchmarkRequest) -> RunOptions:
    """Return the run's options; raise UsageError if two of them exclude each other."""
    if request.detach:
        for flag, given in (
            ("--no-save", request.no_save),
            ("--dry-run", request.dry_run),
            ("-x", request.export_path is not None),
            ("--compare-to", request.compare_to is not None),
        ):
            if given:
                code = "detach_excludes_export" if flag == "-x" else "detach_excludes"
                raise ExclusiveFlags(code, first="--detach", second=flag)
    if request.no_wait and request.wait_s is not None:
        raise ExclusiveFlags("flags_exclude", first="--wait", second="--no-wait")
    return RunOptions(
        save=not request.no_save,
        plan_only=request.dry_run,
        metadata=Metadata(name=request.name, note=request.note, project=request.project or None),
        wait_s=0.0 if request.no_wait else request.wait_s,
        share_host=request.share_host,
    )


def measure(
    services: Services,
    request: BenchmarkRequest,
    spec: BenchmarkSpec,
    options: RunOptions,
    notes: Sequence[str],
    interruption: Interruption,
    partner: RunResult | None = None,
    shown: Shown | None = None,
) -> int:
    """Start the run and follow it until it ends or is detached; compare the result with `partner`.

    `shown` selects the printed parts of a profile.
    """

    def start() -> tuple[ActiveRun, Sequence[str]]:
        active, said = services.runs.start(spec, options)
        return active, (*notes, *said)

    return follow_or_detach(services, start, request, interruption, partner, shown)


def follow_or_detach(
    services: Services,
    start: Callable[[], tuple[ActiveRun, Sequence[str]]],
    request: BenchmarkRequest,
    interruption: Interruption,
    partner: RunResult | None = None,
    shown: Shown | None = None,
) -> int:
    """Start a run, and follow or detach it; `partner` is compared with the result."""
    active: ActiveRun | None = None
    try:
        interruption.check()
        with held_back() as let_in:
            active, notes = start()
            view: View[ActiveRun] = View(
                active,
                tuple(notes),
                quiet=request.quiet,
                ascii_only=request.ascii,
                plan=lambda run: services.profiles.plan_run(run),
            )
            if not request.detach:
                # A signal from now on must not lose what is measured by then.
                return Following(services, view, request, partner, shown).follow(interruption, let_in)
        return _detach(services, view, request, interruption)
    finally:
        if active is not None:
            with held_back():
                active.close()


_SETTLED = frozenset({"waiting", "execution_start", "profile_part"})
"""Events after which nothing in the request can be wrong any more."""


def _detach(services: Services, view: View[ActiveRun], request: BenchmarkRequest, interruption: Interruption) -> int:
    """Follow until the run is queued or planned, so that errors of a model are reported now; then detach."""
    active = view.active

    def tells(event: Event) -> bool:
        # A profile may be refused after its plan, and a resumed one had its plan before: its first progress event comes
        # after all checks.
        is_begun = event["ev"] == "progress" and bool(event.get("stage"))
        is_planned = event["ev"] == "plan" and active.replay.spec.profile is None
        return is_begun or is_planned or event["ev"] in _SETTLED

    view.watch_until(interruption, tells)
    with held_back():
        active.detach()
    if not active.detached:
        return Following(services, view, request).follow(interruption)
    short = short_id(active.id)
    commands = f"tuibench attach {short} follows it, tuibench cancel {short} ends it"
    said = {"schema": SCHEMA, "id": active.id, "short_id": short}
    try:
        emit(json.dumps(said) + "\n" if request.json else f"{short}\n")
    except OSError:
        # Without its id, the user could not follow or end the run.
        tell(f"tuibench: run {short} is detached; its id could not be written to stdout: {commands}")
        raise
    if not request.quiet:
        view.painter.say(f"detached: {commands}")
    return int(ExitCode.OK)
