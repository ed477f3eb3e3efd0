"""`tuibench profile`: where the time of a model goes, layer by layer, or what changing a layer would lose."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tuibench.cli.benchmark import check_export, measure, to_wishes
from tuibench.cli.fetching import fetcher
from tuibench.cli.interruption import Interruption
from tuibench.cli.output import can_draw, emit
from tuibench.cli.session import opened, width
from tuibench.core.errors import ExitCode, UsageError
from tuibench.core.label import model_names
from tuibench.core.profile import LOSS, CostProfile, LossProfile
from tuibench.core.spec import BenchmarkSpec, ModelSource
from tuibench.core.text import show
from tuibench.core.units import count_of
from tuibench.report.export import STDOUT, form_of, write_export
from tuibench.report.profile_csv import cost_csv
from tuibench.report.profile_heading import ProfileHeading
from tuibench.report.profile_markdown import cost_markdown
from tuibench.report.profile_page import check_sort, costs_page, losses_page, theory_json
from tuibench.report.profile_plan import time_lines
from tuibench.report.profile_shown import TOP, WIDTH, Shown
from tuibench.report.style import to_ascii
from tuibench.request.profile import read_profile
from tuibench.request.profile_flag import ProfileRequest, profile_again, recall_profile, to_request
from tuibench.request.translation import Topology
from tuibench.workbench.hall import Workbench
from tuibench.workbench.profiles import ProfilePlan
from tuibench.workbench.runs import Wishes

_FLOPS, _APPROXIMATED = "flops", "approximated"


def run(request: ProfileRequest, interruption: Interruption) -> int:
    """Profile what was asked for and return the exit code."""
    output, values = request.output, request.values
    loss = values.kind == LOSS
    check_sort(_FLOPS if request.flops else values.kind, request.sort)
    if values.approximate and not loss:
        raise UsageError("--approximate belongs to a loss profile", "give --loss, too")
    with opened() as bench:
        fetch = fetcher(bench.settings.places, output.quiet, output.ascii)
        reading = read_profile(values, bench.topology(), fetch)
        spec = reading.require()
        bench.profiles.check_engine(spec.engines[0])
        check_export(output, spec)
        if request.flops or values.approximate:
            _require_nothing_kept(request)
            interruption.check()
            return _print_theory(bench, request, spec)
        wishes = profile_wishes(request, spec)
        if output.dry_run:
            return _print_plan(bench, request, spec)
        return measure(bench, output, spec, wishes, reading.notes, interruption, shown=shown_of(request))


def profile_wishes(request: ProfileRequest, spec: BenchmarkSpec) -> Wishes:
    """How the run should be carried out."""
    return to_wishes(request.output, profile_again(spec))


def again_request(
    spec: BenchmarkSpec, source: ModelSource, given: Mapping[str, Any], topology: Topology, name: str
) -> tuple[ProfileRequest, BenchmarkSpec, tuple[str, ...]]:
    """A stored profile as if it had been typed again, with what was typed now in its place; `name` unless another is.

    `given` are fields of a benchmark's flags that a profile has, too, and of its own.
    """
    fields = {
        _FIELDS.get(field, field): _as_typed(value) if field in _READ else value for field, value in given.items()
    }
    request = to_request(source.path, {"name": name, **recall_profile(spec, fields)})
    reading = read_profile(request.values, topology)
    found = reading.require()
    return request, replace(found, models=(source,)), reading.notes


_FIELDS = {"engines": "engine", "batches": "batch", "sequence_lengths": "sequence_length", "max_time_s": "max_time"}
_FIELDS |= {"timeout_scale": "timeout", "memory_bytes": "memory_limit"}
_READ = frozenset({"seed", "shapes", "max_time_s", "timeout_scale", "memory_bytes"})
"""Fields that a benchmark's flags read where a profile keeps the text."""


def _as_typed(value: object) -> object:
    """A number that a benchmark's flags have read already, as the text that it came from."""
    if isinstance(value, tuple) and value and isinstance(value[0], tuple):
        return ",".join(f"[{','.join(map(str, shape))}]" for shape in value)
    return str(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else value


def shown_of(request: ProfileRequest) -> Shown:
    """How the page is printed: for a terminal as wide as it is, elsewhere as wide as a terminal usually is."""
    plain = request.output.ascii or not can_draw()
    return Shown(width() or WIDTH, plain, request.sort, TOP if request.top is None else request.top)


def _require_nothing_kept(request: ProfileRequest) -> None:
    """What is worked out at once has no run that could be named, waited for or left."""
    output = request.output
    for flag, given in (
        ("--detach", output.detach),
        ("--name", bool(output.name)),
        ("--note", bool(output.note)),
        ("--project", bool(output.project)),
        ("--dry-run", output.dry_run),
    ):
        if given:
            what = "--flops" if request.flops else "--approximate"
            raise UsageError(f"{what} and {flag} exclude each other", "nothing is measured or kept")


def _print_theory(bench: Workbench, request: ProfileRequest, spec: BenchmarkSpec) -> int:
    """The FLOPS profile or the approximated loss profile; the export first, as of what is measured."""
    names = ", ".join(model_names(spec.models))
    found = bench.profiles.costs_of(spec) if request.flops else bench.profiles.weights_of(spec)
    heading, output = ProfileHeading(model=names), request.output
    as_json = theory_json(_FLOPS if request.flops else _APPROXIMATED, names, found)
    path = output.export_path
    if path is not None and path != STDOUT:
        write_export(path, _exported(found, heading, form_of(path), as_json))
    if output.json or path == STDOUT:
        emit(as_json)
    elif isinstance(found, CostProfile):
        emit(costs_page(found, heading, shown_of(request)))
    else:
        emit(losses_page(found, heading, shown_of(request)))
    return int(ExitCode.OK)


def _exported(found: CostProfile | LossProfile, heading: ProfileHeading, form: str, as_json: str) -> str:
    if form == "json":
        return as_json
    if isinstance(found, CostProfile):
        return cost_csv(found) if form == "csv" else cost_markdown(found, heading)
    raise UsageError("the approximated loss profile is written as JSON alone", "give -x a name that ends in .json")


def _print_plan(bench: Workbench, request: ProfileRequest, spec: BenchmarkSpec) -> int:
    """What would be done and about how long it takes; the costs are worked out for it, and nothing is measured."""
    plan = bench.profiles.plan_anew(spec)
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
    """The plan for programs."""
    import json

    kind = spec.profile.kind if spec.profile is not None else ""
    model = os.path.basename(spec.models[0].path)
    told = {"expected_s": plan.seconds, "words": list(plan.words), "basis": plan.basis}
    return json.dumps({"schema": 1, "kind": kind, "model": model} | told, indent=1, ensure_ascii=True) + "\n"
