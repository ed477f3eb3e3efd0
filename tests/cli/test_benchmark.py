from __future__ import annotations

import pytest

from tuibench.cli import benchmark
from tuibench.cli.request import BenchmarkRequest
from tuibench.core.errors import TuibenchError
from tuibench.workbench import Workbench


@pytest.mark.parametrize(("name", "code"), [("nope", 4), ("deepsparse", 2)])
@pytest.mark.parametrize("dry_run", [False, True])
def test_an_engine_that_is_not_here_is_refused_before_anything_starts(
    name: str, code: int, dry_run: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def start(*_: object, **__: object) -> None:
        raise AssertionError("a runner was started")

    monkeypatch.setattr(Workbench, "start_benchmark", start)
    with pytest.raises(TuibenchError) as caught:
        benchmark.run(BenchmarkRequest(("sample:tiny",), engines=f"onnxruntime,{name}", dry_run=dry_run))
    assert caught.value.exit_code == code
