"""`tuibench benchmark`: starts the run, shows how it goes on stderr, and prints what came of it on stdout."""

from __future__ import annotations

import os
from collections.abc import Sequence

from tuibench.cli.fetching import fetcher
from tuibench.cli.interruption import Interruption, held_back
from tuibench.cli.output import emit
from tuibench.cli.repeat import again
from tuibench.cli.request import BenchmarkRequest
from tuibench.cli.translation import to_spec
from tuibench.cli.view import View
from tuibench.core.cell import CellResult
from tuibench.core.errors import ExitCode, TuibenchError, UsageError, WriteError
from tuibench.core.model import ModelSummary
from tuibench.core.run import RunResult
from tuibench.core.text import show
from tuibench.report.dry_run import DryRun, dry_run_json, dry_run_text
from tuibench.report.export import STDOUT, check_target, form_of, render, write_export
from tuibench.report.summary import summary
from tuibench.workbench.hall import ActiveRun, Workbench


def run(request: BenchmarkRequest, interruption: Interruption) -> int:
    """Measure what was asked and return the exit code."""
    bench = Workbench()
    topology = bench.topology()
    spec, notes = to_spec(request, topology, fetcher(request.quiet, request.ascii))
    bench.check_engines(spec.engines)
    if request.export_path is not None:
        _spare(request.export_path, [source.path for source in spec.models], spec.inputs.file)
        check_target(request.export_path)
    active: ActiveRun | None = None
    try:
        interruption.check()
        with held_back():
            active = bench.start_benchmark(spec, plan_only=request.dry_run)
        return _follow(View(request, spec, topology.allowed, notes, active), request, again(spec), interruption)
    finally:
        if active is not None:
            with held_back():
                active.close()


def _spare(target: str, models: Sequence[str], inputs: str | None) -> None:
    """Refuse to write a result over what it is measured from."""
    for path in (*models, *([inputs] if inputs else [])):
        if os.path.exists(target) and os.path.samefile(target, path):
            raise UsageError(f"-x {show(target)} would overwrite {show(path)}", "give the result another name")


def _follow(view: View, request: BenchmarkRequest, command: str, interruption: Interruption) -> int:
    """Watch to the end, publish what there is, and say how it ended."""
    active = view.active
    try:
        view.watch(interruption)
    except BaseException:
        active.cancel()
        if not request.dry_run and any(cell.executions for cell in _cells(active)):
            _publish_at_last(request, view, active.result(command))
        elif not request.quiet:
            view.painter.say("tuibench: ended before anything was measured")
        raise
    result = active.result(command)
    if request.dry_run:
        return _show_plan(view.plan(), request, result, active)
    end = active.replay.end
    if result.status == "interrupted":
        view.painter.say(f"tuibench: the run broke off: {end['reason']}")
    _publish(request, active, result)
    return int(active.exit_code(result))


def _show_plan(plan: DryRun, request: BenchmarkRequest, result: RunResult, active: ActiveRun) -> int:
    """Print the plan; what must fail fails here with the code that measuring would have."""
    emit(dry_run_json(plan) if request.json else dry_run_text(plan, request.ascii))
    if not plan.failed:
        return int(ExitCode.OK)
    return int(ExitCode.SOME_FAILED if plan.cells else active.exit_code(result))


def _publish_at_last(request: BenchmarkRequest, view: View, result: RunResult) -> None:
    """Publish as far as possible when the command is being ended: why it ends decides the exit code."""
    view.painter.clear()
    # Terminal and pipes may have gone already; the export must be written all the same.
    try:
        _publish(request, view.active, result)
    except (OSError, TuibenchError) as error:
        view.painter.say(f"tuibench: {error}")


def _beside(model: ModelSummary) -> list[str]:
    """The files with the weights of a model that has them outside."""
    folder = os.path.dirname(model.path)
    paths = [os.path.join(folder, name) for name in model.external_files]
    return [path for path in paths if os.path.exists(path)]


def _cells(active: ActiveRun) -> list[CellResult]:
    return [active.replay.cell(cell.key) for cell in active.replay.cells]


def _publish(request: BenchmarkRequest, active: ActiveRun, result: RunResult) -> None:
    """Write the export first: what was measured must not depend on whoever reads stdout; nor on the export either."""
    keep = request.keep_raw and request.export_path not in (None, STDOUT)
    result = active.settle_samples(result, f"{request.export_path}.samples" if keep else None)
    failed: TuibenchError | None = None
    if request.export_path is not None and request.export_path != STDOUT:
        # Files beside a model are known only once it has been read.
        beside = [path for model in result.models for path in _beside(model)]
        try:
            _spare(request.export_path, beside, None)
            write_export(request.export_path, render(result, form_of(request.export_path)))
        except (WriteError, UsageError) as error:
            failed = error
    if request.json or request.export_path == STDOUT:
        emit(render(result, "json"))
    else:
        emit(summary(result, request.ascii))
    if failed is not None:
        raise failed
