from __future__ import annotations

from dataclasses import fields, replace

from tests.tui.screens.form_services import ENGINES, VALUES
from tuibench.core.machine import Machine
from tuibench.core.spec import EFFORTS
from tuibench.services.form_values import FormValues
from tuibench.tui.screens.form.fields import ChoiceSpec, FieldSpec, effort_hint, errors_of_ticks, plan_rows

MACHINE = Machine(8, 16, 32, ("avx2",), ENGINES)


def specs(values: FormValues = VALUES, machine: Machine | None = MACHINE) -> dict[str, FieldSpec]:
    return {spec.name: spec for row in plan_rows(values, machine, "±") for spec in row}


def choices(name: str, values: FormValues = VALUES) -> ChoiceSpec:
    found = specs(values)[name]
    assert isinstance(found, ChoiceSpec)
    return found


def test_every_value_has_field_and_every_dim_its_row() -> None:
    two = replace(VALUES, dims=(("seq", "1"), ("frames", "")))
    assert set(specs(two)) == {one.name for one in fields(FormValues)} - {"dims", "more"} | {"dim:seq", "dim:frames"}


def test_fourteen_rows_with_dims_fit_small_terminal() -> None:
    assert len(plan_rows(VALUES, MACHINE, "±")) == 14


def test_missing_engine_shows_install_hint_and_is_disabled() -> None:
    refusals = choices("engines").refusals
    assert refusals == {"torch": "not installed: pip install 'tuibench[torch]'"}


def test_selected_engine_can_always_be_deselected() -> None:
    found = choices("engines", values=replace(VALUES, engines=("torch", "attic")))
    assert found.refusals == {}
    assert [key for key, _ in found.choices] == ["onnxruntime", "openvino", "torch", "attic"]


def test_unknown_machine_uses_engines_of_form_values() -> None:
    found = specs(machine=None)["engines"]
    assert isinstance(found, ChoiceSpec) and found.choices == (("onnxruntime", "onnxruntime"),)


def test_precisions_come_from_installed_engines_and_saved_value() -> None:
    assert [key for key, _ in choices("precision").choices] == ["f32", "bf16", "f16", "engine-default"]
    kept = choices("precision", values=replace(VALUES, precision="int4"))
    assert kept.choices[-1] == ("int4", "int4")


def test_efforts_show_descriptions() -> None:
    assert effort_hint("quick", "+-") == f"+-5 %, max {EFFORTS['quick'].limit_s:g} s/cell"
    assert effort_hint("fixed", "+-") == "no target"


def test_empty_selection_is_error_without_default() -> None:
    assert set(errors_of_ticks(FormValues(engines=(), scenarios=""))) == {"engines", "scenarios"}
    assert errors_of_ticks(VALUES) == {}
