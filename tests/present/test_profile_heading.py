"""Profile headings with partly unknown facts."""

from __future__ import annotations

from tuibench.present.profile.lines import ProfileHeading, heading_lines


def test_unknown_facts_have_no_line_and_foreign_text_is_safe() -> None:
    assert heading_lines(ProfileHeading()) == []
    assert heading_lines(ProfileHeading(id="k3f1")) == ["Profile: k3f1"]
    assert heading_lines(ProfileHeading("a\x1b[2J", model="m\n.onnx")) == ["Profile: a\\e[2J", "Model: m\\n.onnx"]
