"""What a profile is called, whatever of it is known."""

from __future__ import annotations

from tests.report.build import run
from tuibench.report.profile_heading import ProfileHeading, heading_lines, heading_of


def test_a_stored_run_names_itself_its_model_and_when_it_was_made() -> None:
    stored = run()
    heading = heading_of(stored, "baseline", "after the change")
    assert (heading.name, heading.note) == ("baseline", "after the change")
    assert stored.id.lower().endswith(heading.id) and len(heading.id) == 4
    assert heading.model == stored.spec.models[0].asked and heading.started == stored.started_utc


def test_what_is_not_known_has_no_line_and_what_is_foreign_is_shown_safely() -> None:
    assert heading_lines(ProfileHeading()) == []
    assert heading_lines(ProfileHeading(id="k3f1")) == ["Profile: (k3f1)"]
    assert heading_lines(ProfileHeading("a\x1b[2J", model="m\n.onnx")) == ["Profile: a\\e[2J", "Model: m\\n.onnx"]
