"""What is measured again where a file is gone whose content its project knows elsewhere."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from tests.store.build import make_store
from tests.store.data import make_id
from tests.tui.test_bridge_start import SHORT, TINY, alter, bridge, model, project, stored
from tuibench.core.card import Card
from tuibench.core.errors import ModelError
from tuibench.core.profile_spec import LOSS, ProfileSpec
from tuibench.core.short_id import short_id
from tuibench.core.spec import ModelSource
from tuibench.tui.bridge import Bridge

__all__ = ["bridge", "model", "project"]


def test_a_model_that_is_gone_is_measured_from_where_its_project_knows_it_to_lie(
    bridge: Bridge, project: str, model: Path
) -> None:
    first = stored(bridge, project, effort=SHORT)
    copy = model.with_name("copy.onnx")
    copy.write_bytes(model.read_bytes())
    result = bridge.open(first).result
    second = replace(
        result, id=make_id(99), models=(replace(result.models[0], path=str(copy)),),
        spec=replace(result.spec, models=(ModelSource(str(copy), str(copy)),)),
    )  # fmt: skip
    make_store(Path(os.environ["TUIBENCH_HOME"]) / "data").benchmarks.add(second, Card(project=project))
    assert bridge.plan_rerun(first).moved == ()
    model.unlink()
    plan = bridge.plan_rerun(first)
    assert (plan.error, plan.changed, plan.moved) == ("", False, (str(copy),))
    alter(copy)
    plan = bridge.plan_rerun(first)
    assert plan.moved == () and not plan.changed
    assert plan.error == f"{model.name} is gone: R takes it from where it lies now (was {model})"
    with pytest.raises(ModelError, match="is gone"):
        bridge.rerun(first)


@pytest.mark.parametrize("profile", [None, ProfileSpec(LOSS)])
def test_what_mends_it_is_read_at_80_columns_however_long_the_path_is(
    bridge: Bridge, tmp_path: Path, profile: ProfileSpec | None
) -> None:
    model = tmp_path / ("deep" * 20) / f"{'very-' * 20}long.onnx"
    model.parent.mkdir()
    shutil.copy(TINY, model)
    project = bridge.create_project(bridge.find_model(str(model)), "net", "", {}).project.id
    first = stored(bridge, project, profile=profile)
    model.unlink()
    way = "R takes it from where it lies now" if profile is None else f"rerun {short_id(first)} --model PATH"
    assert way in bridge.plan_rerun(first).error[: 80 - len("! ") - 1]
