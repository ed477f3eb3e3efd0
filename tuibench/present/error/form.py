"""Words of the errors of forms, of choices in a profile, and of the dashboard."""

from __future__ import annotations

from tuibench.core.ids import short_id
from tuibench.core.text import show
from tuibench.present.error.template import Fields, MessageAndHint


def _similar(fields: Fields) -> str:
    names = ", ".join(show(name, 60) for name in fields["similar"])
    return f"such as {names}" if names else "give its number (#), the name of one of its nodes, or of its weight"


def _unlike(fields: Fields) -> str:
    return f"{' and '.join(show(kind) or 'a benchmark' for kind in fields['kinds'])} cannot be compared"


def _empty(fields: Fields) -> str:
    ids = fields["ids"]
    are, they = ("is", "it") if len(ids) == 1 else ("are", "they")
    return f"{' and '.join(map(short_id, ids))} {are} empty: {they} ended before there was anything to show"


FORM_ERRORS: dict[str, MessageAndHint] = {
    # Forms
    "form_field": ("{field}: {why}", ""),
    "too_many_models": (
        "this benchmark has {count} models; the form takes two",
        "rerun it without changes, or in the shell",
    ),
    "too_many_shapes": ("these settings make a sweep of {count} shapes", "choose at most {most}"),
    "no_profile_chosen": ("both profiles are off", "switch one of them on"),
    "no_level_chosen": ("no level is chosen", "tick one, or switch the loss profile off"),
    "no_weights_to_change": (
        "this model has no layer with weights that could be changed",
        "measure it without a loss profile",
    ),
    # Choices in a profile
    "unknown_column": ("--sort takes a column of the table, not '{given:40}'", "columns: {allowed}"),
    "unknown_layer": ("no layer is called '{given:60}'", _similar),
    "no_choice_of_benchmark": (
        "a benchmark has no layers to sort or filter",
        "--sort and --filter apply to profiles",
    ),
    # Dashboard
    "profile_empty": (
        "this profile is empty: it ended before there was anything to show",
        "r makes it again, d removes it",
    ),
    "profiles_empty": (_empty, "mark two that have layers; r makes one again"),
    "profiles_unlike": (_unlike, "mark two profiles of one kind"),
    "download_unneeded": ("the download is no longer needed", ""),
}
