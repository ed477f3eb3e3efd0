"""What `tuibench finish` says of a run that goes on until it has ended well."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.build import make_spec
from tests.cli.quick import QuickShell
from tests.runs.profile_script import make_profile_spec
from tests.workbench.script import ScriptedRun
from tuibench.core.spec import BenchmarkSpec
from tuibench.core.wish import finishing_words

MODEL = Path("/models/m.onnx")


@pytest.mark.parametrize(("spec", "count"), [(make_profile_spec(MODEL), "0 parts"), (make_spec(MODEL), "1 execution")])
def test_it_says_what_the_run_will_do(
    quick: QuickShell, home: Path, monkeypatch: pytest.MonkeyPatch, spec: BenchmarkSpec, count: str
) -> None:
    run = ScriptedRun(home / "tuibench" / "state" / "runs", spec=spec)
    run.hold()
    run.begin(host_id="")
    if spec.profile is None:
        run.plan()
        run.done(0, 1)
    monkeypatch.setattr("tuibench.workbench.intervention.finish", lambda *_: None)
    done = quick.run("finish", run.id)
    assert done.out == f"0001: {finishing_words(spec.profile is not None)}; {count} so far\n"
    run.let_go()
