"""Which fields the set-up of profiles has, what stands beside each, and what they say together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tuibench.core.machine import Machine
from tuibench.tui.desk_profile import ProfileValues
from tuibench.tui.widgets.choice_field import ButtonField, Choice, ChoiceField
from tuibench.tui.widgets.field import Field
from tuibench.tui.widgets.text_field import TextField

DIM = "dim:"
"""Before the name of a symbolic dim."""
ON, OFF = "on", "off"
LABEL = 16
OF_PERFORMANCE = ("name", "what_if")
OF_LOSS = ("loss_name", "data")
_SWITCHES = (Choice(ON, "on"), Choice(OFF, "off"))


def make_fields(values: ProfileValues, machine: Machine | None) -> Iterator[Field]:
    """From the first line to the last."""
    usable = f"of {machine.usable_cores}: those you will deploy on" if machine is not None else ""
    yield _switch("performance", "Performance", values.performance, "off: FLOPS stays, in theory")
    yield TextField("name", "  name", values.name, width=24, label_width=LABEL)
    yield _switch("what_if", "  what if INT8", values.what_if, "each heavy layer alone in INT8, too")
    yield TextField("batch", "Batch", values.batch, hint="1 for real time, 64 for throughput", placeholder="1",
                    width=10, label_width=LABEL)  # fmt: skip
    cores = str(machine.default_cores) if machine is not None else ""
    yield TextField("cores", "Cores", values.cores, hint=usable, placeholder=cores, width=10, label_width=LABEL)
    for name, text in values.dims:
        yield TextField(DIM + name, name, text, hint="a size such as 128", placeholder="chosen", width=10,
                        label_width=LABEL)  # fmt: skip
    yield _switch("loss", "Loss", values.loss, "off: Approximated stays, from weights")
    yield TextField("loss_name", "  name", values.loss_name, width=24, label_width=LABEL)
    yield TextField("data", "  data", values.data, hint="calibration data, an .npz", placeholder="seeded inputs",
                    width=30, label_width=LABEL)  # fmt: skip
    yield ButtonField("run", "RUN", label_width=LABEL)


def values_of(fields: Mapping[str, Field], given: ProfileValues) -> ProfileValues:
    """As typed."""

    def text(name: str) -> str:
        return str(fields[name].answer)

    return ProfileValues(
        performance=text("performance") == ON,
        name=text("name"),
        batch=text("batch"),
        cores=text("cores"),
        dims=tuple((name, text(DIM + name)) for name, _ in given.dims),
        what_if=text("what_if") == ON,
        loss=text("loss") == ON,
        loss_name=text("loss_name"),
        data=text("data"),
    )


def _switch(key: str, label: str, value: bool, hint: str) -> ChoiceField:
    return ChoiceField(key, label, _SWITCHES, ON if value else OFF, hint=hint, label_width=LABEL)
