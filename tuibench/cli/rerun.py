"""`tuibench rerun`: measure a stored benchmark or profile again and compare the two results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tuibench.cli.benchmark import check_export, measure, run_options
from tuibench.cli.following import fetcher
from tuibench.cli.output import open_services
from tuibench.cli.profile import again_request, page_of
from tuibench.cli.terminal import Interruption
from tuibench.core.errors import UsageError
from tuibench.core.settings import benchmark as benchmark_setting
from tuibench.core.settings import profile as profile_setting
from tuibench.core.settings.model_token import resolve_model
from tuibench.core.settings.request import RerunRequest, repeat
from tuibench.core.spec import ModelSource
from tuibench.core.stored import StoredBenchmark
from tuibench.services.api import Services


def run(wanted: RerunRequest, interruption: Interruption) -> int:
    """Measure again and return the exit code."""
    with open_services() as services:
        stored = services.library.get(wanted.token)
        _check_flags(stored, wanted)
        quiet, ascii_only = bool(wanted.given.get("quiet")), bool(wanted.given.get("ascii"))
        fetch = fetcher(services.settings.places, quiet, ascii_only)
        repetition = services.reruns.repetition(stored, lambda token: resolve_model(token, fetch=fetch))
        stand_ins = [resolve_model(path) for path in wanted.paths]
        sources = repetition.settle([ModelSource(one.path, one.path) for one in stand_ins], wanted.changed)
        asked = stored.result.spec
        if asked.profile is not None:
            return _repeat_profile(services, wanted, stored, sources, interruption)
        request, spec, notes = repeat(asked, sources, wanted.given, services.machine.topology(), stored.metadata.name)
        services.machine.check_engines(spec.engines)
        check_export(request, spec)
        options = run_options(request)
        project = options.metadata.project or services.projects.kept(stored.metadata.project)
        metadata = replace(options.metadata, rerun_of=stored.row.id, project=project)
        partner = stored.result if request.compare_to is None else services.library.get(request.compare_to).result
        return measure(services, request, spec, replace(options, metadata=metadata), notes, interruption, partner)


def _check_flags(stored: StoredBenchmark, wanted: RerunRequest) -> None:
    """Raise UsageError for a flag that does not apply to the kind of the stored result."""
    is_profile = stored.result.spec.profile is not None
    known = {flag for setting in profile_setting.settings() for flag in setting.flags}
    benchmarks = benchmark_setting.settings()
    strange = [one for one in benchmarks if one.flags[0] not in known] if is_profile else profile_setting.own()
    names = [one.flags[0] for one in strange if one.name in wanted.given]
    if names:
        kind = "profile" if is_profile else "benchmark"
        raise UsageError("flag_of_other_kind", flag=names[0], kind=kind)


def _repeat_profile(
    services: Services,
    wanted: RerunRequest,
    stored: StoredBenchmark,
    sources: Sequence[ModelSource],
    interruption: Interruption,
) -> int:
    """Measure the same profile again; the result is compared as in tuibench compare."""
    asked = stored.result.spec
    request, spec, notes = again_request(
        asked, sources[0], wanted.given, services.machine.topology(), stored.metadata.name
    )
    services.profiles.check_engine(spec.engines[0])
    check_export(request.output, spec)
    shown = page_of(request, spec)
    options = run_options(request.output)
    project = options.metadata.project or services.projects.kept(stored.metadata.project)
    metadata = replace(options.metadata, rerun_of=stored.row.id, project=project)
    options = replace(options, metadata=metadata)
    return measure(services, request.output, spec, options, notes, interruption, stored.result, shown)
