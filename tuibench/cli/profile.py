"""`tuibench profile`: a model's time by layer, or the loss from changing each layer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tuibench.cli.benchmark import check_export, measure, run_options
from tuibench.cli.following import fetcher
from tuibench.cli.output import emit, open_services, tell
from tuibench.cli.results import shown_of
from tuibench.cli.terminal import Interruption
from tuibench.core.errors import ExclusiveFlags, ExitCode, UsageError
from tuibench.core.formats import format_of
from tuibench.core.label import model_names
from tuibench.core.profile import LEVELS, LOSS, LossProfile
from tuibench.core.settings import profile as profile_setting
from tuibench.core.settings.command import ProfileRequest, recall_profile, to_request
from tuibench.core.settings.kinds import Topology
from tuibench.core.settings.request import read_profile
from tuibench.core.spec import BenchmarkSpec, ModelSource
from tuibench.core.text import show, to_ascii
from tuibench.core.units import count_of
from tuibench.present.profile.export import theory_json, theory_text
from tuibench.present.profile.page import ProfileHeading, settle, theory_page, time_lines
from tuibench.present.profile.shown import Shown
from tuibench.services.api import Services
from tuibench.services.export_file import STDOUT, write_export
from tuibench.services.profiles import ProfilePlan

_FLOPS, _APPROXIMATED = "flops", "approximated"
_COUNTING = "counting the operations of each layer ..."


def run(request: ProfileRequest, interruption: Interruption) -> int:
    """Make the requested profile and return the exit code."""
    output, values = request.output, request.values
    if values.approximate and values.kind != LOSS:
        raise UsageError("needs_loss_profile", subject="--approximate")
    is_theory = request.flops or values.approximate
    if is_theory:
        _refuse_strange(request)
    page_of(request)
    with open_services() as services:
        fetch = fetcher(services.settings.places, output.quiet, output.ascii)
        reading = read_profile(values, services.machine.topology(), fetch)
        spec = reading.require()
        services.profiles.check_engine(spec.engines[0])
        check_export(output, spec)
        shown = page_of(request, spec)
        if is_theory:
            interruption.check()
            return _print_theory(services, request, spec, shown)
        options = run_options(output)
        if output.dry_run:
            return _print_plan(services, request, spec)
        return measure(services, output, spec, options, reading.notes, interruption, shown=shown)


def again_request(
    spec: BenchmarkSpec, source: ModelSource, given: Mapping[str, Any], topology: Topology, name: str
) -> tuple[ProfileRequest, BenchmarkSpec, tuple[str, ...]]:
    """Return the request of a stored profile, changed by the newly typed options; keep `name` unless a new one is
    given.

    `given` are fields of the benchmark's flags that profiles share, and profile fields.
    """
    request = to_request(source.path, {"name": name, **recall_profile(spec, given)})
    reading = read_profile(request.values, topology)
    found = reading.require()
    return request, replace(found, models=(source,)), reading.notes


def page_of(request: ProfileRequest, spec: BenchmarkSpec | None = None) -> Shown:
    """Return the page options; raise UsageError for an option that this profile is known to lack."""
    values, asked = request.values, shown_of(request.page, ascii_only=request.output.ascii)
    if values.kind != LOSS:
        return settle(_FLOPS if request.flops else values.kind, asked)
    kind = _APPROXIMATED if values.approximate else "measured"
    levels = spec.profile.levels if spec is not None and spec.profile is not None else LEVELS
    # Before the first output, it is unknown whether outputs look like classes.
    return settle(LOSS, asked, LossProfile(kind, "", levels, (), classes=True))


_PRINTED = frozenset({"export_path", "json", "quiet", "ascii", "debug", "timeout", "memory_limit"})
_FED = frozenset({"batch", "sequence_length", "dims", "batch_dim", "shapes", "inputs_file", "seed"})
_KEPT = frozenset({"name", "note", "project", "no_save", "detach"})


def _refuse_strange(request: ProfileRequest) -> None:
    """Raise UsageError for a flag without effect on a profile computed without measuring."""
    what, meant = (
        ("--flops", {"flops", *_FED}) if request.flops else ("--approximate", {"loss", "approximate", "levels"})
    )
    page = {setting.name for setting in profile_setting.PAGE}
    for setting in profile_setting.settings():
        if setting.name not in request.given - page - _PRINTED - meant:
            continue
        code = "theory_excludes_measuring" if request.flops or setting.name not in _FED else "weights_exclude_size"
        if setting.name in _KEPT:
            code = "theory_excludes_saving"
        raise ExclusiveFlags(code, first=what, second=setting.flags[0])


def _print_theory(services: Services, request: ProfileRequest, spec: BenchmarkSpec, shown: Shown) -> int:
    """Print the FLOPS profile or the approximated loss profile, after writing the export."""
    names = ", ".join(model_names(spec.models))
    heading, output = ProfileHeading(model=names), request.output
    if not output.quiet:
        tell(_COUNTING if request.flops else "looking at the weights ...")
    found = services.profiles.costs_of(spec) if request.flops else services.profiles.weights_of(spec)
    as_json = theory_json(_FLOPS if request.flops else _APPROXIMATED, names, found)
    path = output.export_path
    if path is not None and path != STDOUT:
        form = format_of(path)
        write_export(path, as_json if form == "json" else theory_text(found, heading, form))
    emit(as_json if output.json or path == STDOUT else theory_page(found, heading, shown))
    return int(ExitCode.OK)


def _print_plan(services: Services, request: ProfileRequest, spec: BenchmarkSpec) -> int:
    """Print the plan and the time estimate; count the costs, but measure nothing."""
    if not request.output.quiet:
        tell(_COUNTING)
    plan = services.profiles.plan_anew(spec)
    asked = spec.profile
    if request.output.json or asked is None:
        emit(plan_json(spec, plan))
        return int(ExitCode.OK)
    where = f"{spec.engines[0]}, {count_of(spec.cores[0], 'core')}"
    lines = [f"Model: {show(', '.join(model_names(spec.models)), 200)}", f"Profile: {asked.kind}, {where}"]
    lines += [f"Part: {word}" for word in plan.words]
    text = "\n".join([*lines, *time_lines(asked, plan.seconds, plan.basis)]) + "\n"
    emit(to_ascii(text) if request.output.ascii else text)
    return int(ExitCode.OK)


def plan_json(spec: BenchmarkSpec, plan: ProfilePlan) -> str:
    """Return the plan as JSON."""
    import json

    kind = spec.profile.kind if spec.profile is not None else ""
    model = ", ".join(model_names(spec.models))
    facts = {"expected_s": plan.seconds, "words": list(plan.words), "basis": plan.basis}
    return json.dumps({"schema": 1, "kind": kind, "model": model} | facts, indent=1, ensure_ascii=True) + "\n"
