"""What a profile is called, whatever of it is known."""

from __future__ import annotations

from tuibench.report.profile_heading import ProfileHeading, heading_lines


def test_what_is_not_known_has_no_line_and_what_is_foreign_is_shown_safely() -> None:
    assert heading_lines(ProfileHeading()) == []
    assert heading_lines(ProfileHeading(id="k3f1")) == ["Profile: k3f1"]
    assert heading_lines(ProfileHeading("a\x1b[2J", model="m\n.onnx")) == ["Profile: a\\e[2J", "Model: m\\n.onnx"]
