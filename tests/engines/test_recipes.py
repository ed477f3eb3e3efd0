from __future__ import annotations

import pytest

from tuibench.core.engine import REGISTRY, full_id
from tuibench.engines.recipes import DEEPSPARSE_LICENCE, find_recipe
from tuibench.present.error.engine import LICENCES, TERMS

NAMED = [entry.name for entry in REGISTRY.values() if entry.own_release]


@pytest.mark.parametrize("name", [*NAMED, "torch@2.13.0+cpu"])
def test_named_recipes_pin_every_file(name: str) -> None:
    recipe = find_recipe(name)
    assert recipe is not None and recipe.id == full_id(name) and recipe.is_pinned
    assert recipe.size_bytes > recipe.download_bytes > 0 and recipe.machine == "x86_64"
    hashes = [one for requirement in recipe.requirements for one in requirement.hashes]
    assert all(len(one) == 64 and set(one) <= set("0123456789abcdef") for one in hashes)
    assert len(set(hashes)) == len(hashes)
    assert all(len(one.hashes) in (1, len(recipe.pythons)) for one in recipe.requirements)


def test_only_deepsparse_has_a_licence_to_accept() -> None:
    licences = {name: recipe.licence for name in NAMED if (recipe := find_recipe(name)) is not None}
    assert {name for name, licence in licences.items() if licence} == {"deepsparse"}
    assert set(licences.values()) - {""} == {DEEPSPARSE_LICENCE} == set(LICENCES) == set(TERMS)


@pytest.mark.parametrize(
    ("engine_id", "numpy"),
    [
        ("onnxruntime@1.15.1", "==1.26.4"),
        ("onnxruntime@1.18.1", "==1.26.4"),
        ("onnxruntime@1.19.0", ">=2,<3"),
        ("onnxruntime@1.27.0", ">=2,<3"),
        ("openvino@2024.6.0", "==1.26.4"),
        ("openvino@2025.0.0", ">=2,<2.3"),
    ],
)
def test_releases_get_the_numpy_that_they_need(engine_id: str, numpy: str) -> None:
    recipe = find_recipe(engine_id)
    assert recipe is not None and not recipe.is_pinned
    name, release = engine_id.split("@")
    assert [one.line for one in recipe.requirements] == [f"{name}=={release}", f"numpy{numpy}"]


@pytest.mark.parametrize("engine_id", ["onnxruntime", "openvino", "fake", "fake@1.0", "nothing"])
def test_engines_of_the_own_environment_have_no_recipe(engine_id: str) -> None:
    assert find_recipe(engine_id) is None
