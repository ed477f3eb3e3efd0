"""`tuibench rerun`: the settings of a stored benchmark once more, and both results side by side."""

from __future__ import annotations

import os
from dataclasses import replace

from tuibench.cli.benchmark import check_export, measure, to_wishes
from tuibench.cli.fetching import fetcher
from tuibench.cli.interruption import Interruption
from tuibench.cli.session import opened
from tuibench.core.card import StoredBenchmark
from tuibench.core.spec import BenchmarkSpec, ModelSource
from tuibench.request.model_token import resolve_model
from tuibench.request.recall import recall
from tuibench.request.repeat import again
from tuibench.request.request import BenchmarkRequest, RerunRequest
from tuibench.request.translation import to_spec
from tuibench.workbench.hall import Workbench


def run(wanted: RerunRequest, interruption: Interruption) -> int:
    """Measure again and return the exit code."""
    with opened() as bench:
        stored = bench.library.get(wanted.token)
        quiet, ascii_only = bool(wanted.given.get("quiet")), bool(wanted.given.get("ascii"))
        fetch = fetcher(bench.settings.places, quiet, ascii_only)
        repetition = bench.repetition(stored, lambda token: resolve_model(token, fetch=fetch))
        stand_ins = [resolve_model(path) for path in wanted.paths]
        sources = repetition.settle([ModelSource(one.path, one.path) for one in stand_ins], wanted.changed)
        request, spec, notes = _repeat(bench, stored, sources, wanted)
        bench.check_engines(spec.engines)
        check_export(request, spec)
        wishes = to_wishes(request, again(spec))
        project = wishes.card.project or _kept_project(bench, stored)
        card = replace(wishes.card, rerun_of=stored.row.id, project=project)
        partner = stored.result if request.compare_to is None else bench.library.get(request.compare_to).result
        return measure(bench, request, spec, replace(wishes, card=card), notes, interruption, partner)


def _kept_project(bench: Workbench, stored: StoredBenchmark) -> str | None:
    """Its project as long as there is one; otherwise the new benchmark finds its own."""
    project = stored.card.project
    return project if project and any(one.id == project for one in bench.store.projects.all()) else None


def _repeat(
    bench: Workbench, stored: StoredBenchmark, sources: tuple[ModelSource, ...], wanted: RerunRequest
) -> tuple[BenchmarkRequest, BenchmarkSpec, tuple[str, ...]]:
    """What is measured now, read in the same way as a command that was typed."""
    fields = {"name": stored.card.name, **recall(stored.result.spec, wanted.given)}
    request = BenchmarkRequest(models=tuple(source.path for source in sources), **fields)
    spec, notes = to_spec(request, bench.topology())
    named = {os.path.abspath(source.path): source for source in sources}
    return request, replace(spec, models=tuple(named[source.path] for source in spec.models)), notes
