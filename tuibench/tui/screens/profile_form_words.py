"""Texts below the set-up of profiles: durations, machine, and the equivalent command."""

from __future__ import annotations

from collections.abc import Iterator

from tuibench.core.isa import isa_words
from tuibench.core.machine import Machine
from tuibench.core.profile_spec import LOSS, PERFORMANCE
from tuibench.core.units import seconds
from tuibench.tui.desk_profile import LONG_S, ProfileCheck, ProfileStart, ProfileValues
from tuibench.tui.glyph import Glyphs
from tuibench.tui.widgets.row import LineLike


def amount_lines(
    values: ProfileValues, found: ProfileCheck | None, machine: Machine | None, start: ProfileStart, glyphs: Glyphs
) -> list[LineLike]:
    """Return the lines, the most important first, because the last ones are cut if there is no room."""
    dot = f" {glyphs.dot} "
    lines: list[LineLike] = []
    if found is None:
        lines.append((" working out how long it takes ...", "dim"))
        return lines
    if found.errors:
        lines.append((f" {len(found.errors)} to be mended: what is wrong stands beside each", "bad"))
    else:
        lines.append((f" {dot.join(_times(values, found, start.project))}", "title"))
    lines += [(f" ! {text}", "warn") for text in _long_words(values, found, start.project)]
    if found.busy and (values.performance or values.loss):
        lines.append((f" after {found.busy}", "warn"))
    if machine is not None and machine.isa:
        lines.append((f" instruction sets: {isa_words(machine.isa)}", "dim"))
    lines += [(f" same as  {command}", "dim") for command in found.commands]
    return lines


def long_ones(values: ProfileValues, found: ProfileCheck) -> list[str]:
    """Return the kinds that are on and take long."""
    took = {PERFORMANCE: (values.performance, found.performance_s), LOSS: (values.loss, found.loss_s)}
    return [kind for kind, (is_on, seconds_) in took.items() if is_on and (seconds_ or 0.0) > LONG_S]


def _long_words(values: ProfileValues, found: ProfileCheck, project: str) -> Iterator[str]:
    """Yield warnings about long durations, with alternatives and ways to shorten them."""
    kinds = long_ones(values, found)
    if PERFORMANCE in kinds:
        instead = ": with Performance off there is the FLOPS profile, at once" if project else ""
        yield f"that is long{instead}"
    if LOSS in kinds:
        several = len(values.levels) > 1
        ways = (
            ("the ten worst", several and not values.budget),
            ("fewer levels", several),
            ("fewer samples", values.samples.strip() != "1"),
        )
        shorter = ", ".join(way for way, helps in ways if helps)
        yield "loss takes long" + (f": shorter by {shorter}" if shorter else "")


def _times(values: ProfileValues, found: ProfileCheck, project: str) -> list[str]:
    if not (values.performance or values.loss):
        # Theoretical profiles belong to a project.
        theory = "RUN opens the FLOPS profile: nothing is measured"
        return [theory if project else "nothing is on: switch one of them on"]
    words = []
    for is_on, name, took in (
        (values.performance, "performance", found.performance_s),
        (values.loss, "loss", found.loss_s),
    ):
        if is_on:
            unknown = "working out how long ..." if found.uncounted else "not known how long"
            words.append(f"{name} about {seconds(took)}" if took is not None else f"{name}: {unknown}")
    return words
