"""A whole profile by an engine that nothing but the registry knows, from the command to the table."""

from __future__ import annotations

import json

import pytest

from tests.cli.shell import Shell


def test_a_profile_of_another_engine(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TUIBENCH_FAKE", json.dumps({"default": {"layers": {"MatMul": 900, "Relu": 50}}}))
    shell.save = True
    done = shell.run("profile", "sample:tiny", "-e", "fake", "--processes", "1", "-ncores", "1", "--json", "--no-wait")
    assert done.code == 0, done.err
    performance = json.loads(done.out)["tuibench"]["profile"]["performance"]
    assert (performance["engine"], performance["engine_version"]) == ("fake", "1.0")
    times = {(layer["op"], layer["ms"]["value"]) for layer in performance["layers"] if layer["kind"] == "layer"}
    assert {op: pytest.approx(ms) for op, ms in times} == {"MatMul": 0.9, "Relu": 0.05, "Add": 0.01}
    assert performance["roofline"] is None and performance["zero_effect"] is None
    shown = shell.run("show", "last").out
    assert "Engine: fake 1.0, f32" in shown and "no roof was measured" in shown
    assert "it is not measured with fake" in done.err
