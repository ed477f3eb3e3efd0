from __future__ import annotations

from dataclasses import fields, replace

from tests.tui.screens.form_services import ENGINES, VALUES
from tuibench.core.machine import EngineChoice, Machine
from tuibench.core.spec import EFFORTS
from tuibench.services.form_values import FormValues
from tuibench.tui.screens.form.fields import effort_hint, errors_of_ticks, make_rows
from tuibench.tui.widgets.choice_field import Choice, ChoiceField, ManyField
from tuibench.tui.widgets.field import Field

MACHINE = Machine(8, 16, 32, ("avx2",), ENGINES)


def fields_of(values: FormValues = VALUES, machine: Machine | None = MACHINE) -> dict[str, Field]:
    return {field.key: field for row in make_rows(values, machine, "±") for field in row}


def choices(name: str, values: FormValues = VALUES, machine: Machine | None = MACHINE) -> tuple[Choice, ...]:
    found = fields_of(values, machine)[name]
    assert isinstance(found, (ChoiceField, ManyField))
    return found.choices


def test_every_value_has_field_and_every_dim_its_row() -> None:
    two = replace(VALUES, dims=(("seq", "1"), ("frames", "")))
    assert set(fields_of(two)) == {one.name for one in fields(FormValues)} - {"dims", "more"} | {
        "dim:seq",
        "dim:frames",
    }


def test_fourteen_rows_with_dims_fit_small_terminal() -> None:
    assert len(make_rows(VALUES, MACHINE, "±")) == 14


def test_missing_engine_shows_install_hint_and_is_disabled() -> None:
    refusals = {choice.key: choice.refusal for choice in choices("engines") if choice.refusal}
    assert set(refusals) == {"attic"} and "tuibench[attic]" in refusals["attic"]


def test_missing_engine_apart_names_the_key_that_installs_it() -> None:
    machine = replace(MACHINE, engines=(EngineChoice("deepsparse", False, "", "tuibench engines install deepsparse"),))
    (found,) = choices("engines", replace(VALUES, engines=()), machine)
    assert found == Choice("deepsparse", "deepsparse", "not installed: i installs", is_reachable=True)


def test_installed_engine_selected_with_its_release_is_not_missing() -> None:
    machine = replace(MACHINE, engines=(EngineChoice("deepsparse", True, "1.8.0", ""),))
    found = choices("engines", replace(VALUES, engines=("deepsparse@1.8.0",)), machine)
    assert not any(choice.refusal for choice in found)


def test_selected_engine_can_always_be_deselected() -> None:
    found = choices("engines", replace(VALUES, engines=("attic", "cellar")))
    assert [choice.key for choice in found] == ["onnxruntime", "openvino", "attic", "cellar"]
    assert not any(choice.refusal for choice in found)


def test_unknown_machine_uses_engines_of_form_values() -> None:
    assert choices("engines", machine=None) == (Choice("onnxruntime", "onnxruntime"),)


def test_precisions_come_from_installed_engines_and_saved_value() -> None:
    assert [choice.key for choice in choices("precision")] == ["f32", "bf16", "f16", "engine-default"]
    assert choices("precision", replace(VALUES, precision="int4"))[-1].key == "int4"


def test_efforts_show_descriptions() -> None:
    quick = effort_hint("quick", "+-")
    assert quick.startswith("+-5 %") and f" {EFFORTS['quick'].limit_s:g} " in quick
    assert "%" not in effort_hint("fixed", "+-")


def test_empty_selection_is_error_without_default() -> None:
    assert set(errors_of_ticks(FormValues(engines=(), scenarios=""))) == {"engines", "scenarios"}
    assert errors_of_ticks(VALUES) == {}
