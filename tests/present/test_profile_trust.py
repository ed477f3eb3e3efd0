"""A profile contradicted by its own rows shows no INT8 gain and no roof share in any output."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.present.profile.sample_data import disturbed, make_performance, make_profile, untold
from tests.tui.screens.profile_stage import profile_run
from tuibench.core.profile import UNMAPPED, PerformanceProfile, Profile
from tuibench.core.profile_facts import MOST_OF_PEAK, MOST_UNATTRIBUTED, find_withheld
from tuibench.core.record import to_plain
from tuibench.present.json_export import document
from tuibench.present.profile.export import profile_csv, profile_markdown
from tuibench.present.profile.page import ProfileHeading, profile_lines, view_of
from tuibench.present.profile.pairs import comparison_json, comparison_page
from tuibench.present.profile.shown import Shown
from tuibench.present.profile.summary import INT8_TIME, SUMMARY_TYPES

HEADING = ProfileHeading("baseline", "k3f1", "cnn.onnx")
SAID = "INT8 gains and roof shares are not shown: "
CLAIMS = ("% roof", "of the measured roofs", "INT8 measured", "measured INT8", "INT8 ms", "measured alone", "reached")


def too_fast(profile: PerformanceProfile, times: float = 1.6) -> PerformanceProfile:
    """Return the profile with one row at a multiple of the peak of 400 GFLOP/s."""
    layers = list(profile.layers)
    row = layers[2]
    assert row.flops is not None and row.ms.value is not None
    layers[2] = replace(row, macs=round(times * 400e6 * row.ms.value / 2), element_flops=0)
    return replace(profile, layers=tuple(layers))


def unmapped(profile: PerformanceProfile) -> PerformanceProfile:
    """Return the profile with 22 % of the time in rows of unknown work."""
    layers = (replace(row, op=UNMAPPED) if row.key == "out0" else row for row in profile.layers)
    return replace(profile, layers=tuple(layers))


DOUBTFUL = {"unattributed": untold, "above_peak": too_fast, "unmapped": unmapped}
Make = Callable[[PerformanceProfile], PerformanceProfile]


@pytest.fixture(params=DOUBTFUL)
def doubtful(request: pytest.FixtureRequest) -> Profile:
    """A profile with INT8 ratios and roofs from a disturbed machine, which must show neither."""
    return replace(make_profile(), performance=DOUBTFUL[request.param](disturbed(make_performance())))


@pytest.mark.parametrize(
    ("make", "code"), [(untold, "unattributed"), (unmapped, "unattributed"), (too_fast, "above_peak")]
)
def test_contradicted_profile_is_detected_with_its_numbers(make: Make, code: str) -> None:
    found = find_withheld(make(make_performance()))
    assert found is not None and found.code == code
    if code == "above_peak":
        numbers = {"gflops": 640, "multiple": 1.6, "limit": MOST_OF_PEAK}
        assert found.fields == {"op": make_performance().layers[2].op} | {
            n: pytest.approx(v) for n, v in numbers.items()
        }
    else:
        assert found.fields["share"] > found.fields["limit"] == MOST_UNATTRIBUTED


def test_sound_profile_is_shown_unchanged() -> None:
    assert find_withheld(make_performance()) is None
    assert find_withheld(too_fast(make_performance(), 1.49)) is None
    assert find_withheld(replace(too_fast(make_performance()), roofline=None)) is None
    assert find_withheld(replace(untold(make_performance()), below_resolution=True)) is None
    assert find_withheld(replace(make_performance(), layers=())) is None
    assert SAID not in "\n".join(profile_lines(view_of(make_profile()), HEADING))


def test_peak_of_an_integer_row_is_the_int8_peak() -> None:
    profile = too_fast(make_performance())
    integer = replace(profile, layers=tuple(replace(row, integer=True) for row in profile.layers))
    assert find_withheld(integer) is None, "640 of 1600"


@pytest.mark.parametrize("width", [80, 160])
def test_shell_shows_no_claim_and_one_reason(doubtful: Profile, width: int) -> None:
    for summary in ("", *SUMMARY_TYPES):
        text = " ".join(" ".join(profile_lines(view_of(doubtful), HEADING, Shown(width, summary=summary))).split())
        assert text.count(SAID) == 1
        # Explicitly selected bars have their title.
        claims = [claim for claim in CLAIMS if claim != "INT8 ms" or summary != INT8_TIME]
        assert [claim for claim in claims if claim in text] == []


def test_single_layer_shows_no_claim_and_one_reason(doubtful: Profile) -> None:
    text = " ".join(" ".join(profile_lines(view_of(doubtful), HEADING, Shown(layer="out2"))).split())
    assert text.count(SAID) == 1
    assert [claim for claim in CLAIMS if claim in text] == []


def test_markdown_shows_no_claim_and_one_reason(doubtful: Profile) -> None:
    text = profile_markdown(view_of(doubtful), HEADING)
    assert text.count(SAID) == 1
    assert [claim for claim in CLAIMS if claim in text] == []


def test_csv_keeps_its_columns_without_values(doubtful: Profile) -> None:
    header, *rows = csv.reader(io.StringIO(profile_csv(view_of(doubtful))))
    found = [dict(zip(header, row, strict=True)) for row in rows]
    for name in ("roof", "roof_ms", "roof_share", "int8_ratio", "int8_ms", "int8_around"):
        assert {row[name] for row in found} == {""}
    assert all(SAID in row["roof_reason"] and SAID in row["int8_reason"] for row in found if row["number"] == "3")


def test_json_keeps_its_keys_with_null_and_a_reason(doubtful: Profile) -> None:
    run = profile_run(1, 60, doubtful)
    plain = document(run)["tuibench"]["profile"]["performance"]["layers"]
    assert [set(layer) for layer in plain] == [set(to_plain(layer)) for layer in doubtful.performance.layers]  # type: ignore[union-attr]
    assert {layer["roof_ms"] for layer in plain} == {None}
    assert {form["ratio"]["value"] for layer in plain for form in layer["what_if"]} == {None}
    assert SAID in plain[2]["roof_reason"] and SAID in plain[2]["what_if"][0]["ratio"]["reason"]


def test_comparisons_show_no_claim(doubtful: Profile) -> None:
    old, new = profile_run(1, 60, doubtful), profile_run(2, 30)
    page = comparison_page(old, new, (), ("a", "b"), Shown(top=None))
    assert [claim for claim in CLAIMS if claim in page] == []
    pairs = json.loads(comparison_json(old, new, ()))["comparison"]["pairs"]
    assert {row["roof_ms"] for pair in pairs for row in pair["old"]} == {None}
    assert {form["ratio"]["value"] for pair in pairs for row in pair["old"] for form in row["what_if"]} <= {None}
    assert any(row["roof_ms"] for pair in pairs for row in pair["new"])


def test_dashboard_shows_no_claim_and_one_reason(doubtful: Profile) -> None:
    view = view_of(doubtful)
    text = "\n".join(f"{label} {text}" for label, text, _ in view.facts()) + str(view.said(view.kinds[0]))
    assert text.count(SAID) == 1
    row = view.row("out2")
    shown = [*(column.title for column in view.columns), *view.sorts, *view.kinds, str(view.brief(row))]
    shown += [str(view.summarize(kind, "values")) for kind in view.kinds]
    shown += [view.depth(kind, "values").title for kind in view.kinds]
    assert [claim for claim in CLAIMS for one in (*shown, text) if claim in one] == []
    details = str(view.detail(row))
    assert details.count(SAID) == 1
    assert [claim for claim in CLAIMS if claim in details] == []
