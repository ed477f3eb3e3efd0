"""Recipes: which packages and which Python an engine with an interpreter of its own needs.

The packages of a named recipe are pinned with the sha256 of their files. Other releases are checked by pip against the
hashes of the index, and the record of the installation keeps those.
"""

from __future__ import annotations

import re

from tuibench.core.engine import full_id, split_id
from tuibench.core.value import dataclass

DEEPSPARSE_LICENCE = "deepsparse_community"
"""Code of the licence whose words are in `present/engine_list.py`."""


@dataclass(frozen=True, slots=True)
class Requirement:
    """A package, as pip takes it."""

    name: str
    version: str
    """A specifier: ==1.26.4 or >=2,<3."""
    hashes: tuple[str, ...] = ()
    """The sha256 of its files for each Python; () if the index knows them."""

    @property
    def line(self) -> str:
        """The line of a requirements file."""
        return " ".join([f"{self.name}{self.version}", *(f"--hash=sha256:{one}" for one in self.hashes)])


@dataclass(frozen=True, slots=True)
class Recipe:
    """What an engine with an interpreter of its own is made of."""

    id: str
    requirements: tuple[Requirement, ...]
    pythons: tuple[str, ...]
    """Versions of Python that may fit, best first."""
    size_bytes: int = 0
    """Size on disk; 0 if unknown."""
    download_bytes: int = 0
    licence: str = ""
    """Code of the licence that the user accepts; '' if there is none to accept."""
    machine: str = ""
    """The only processor architecture of its packages; '' if the index decides."""

    @property
    def is_pinned(self) -> bool:
        """Return whether every package has hashes."""
        return all(one.hashes for one in self.requirements)


_ANY_PYTHON = ("3.11", "3.12", "3.10", "3.13", "3.14")
_OLD_NUMPY = Requirement("numpy", "==1.26.4")


def find_recipe(engine_id: str) -> Recipe | None:
    """Return the recipe of an engine's release; None if it needs no interpreter of its own, or has no release."""
    full = full_id(engine_id)
    name, release = split_id(full)
    if full in _NAMED:
        return _NAMED[full]
    if not release or name not in _OTHERS:
        return None
    first_with_new_numpy, new_numpy = _OTHERS[name]
    numpy = new_numpy if _order(release) >= first_with_new_numpy else _OLD_NUMPY
    # Their imports need nothing else; what the packages name besides is for converters and telemetry.
    return Recipe(full, (Requirement(name, f"=={release}"), numpy), _ANY_PYTHON)


def _order(release: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", release.partition("+")[0])[:2])


_OTHERS: dict[str, tuple[tuple[int, ...], Requirement]] = {
    "onnxruntime": ((1, 19), Requirement("numpy", ">=2,<3")),
    "openvino": ((2025, 0), Requirement("numpy", ">=2,<2.3")),
}
"""By engine: the first release that gets numpy 2, and which one; OpenVINO 2024.6 refuses numpy 2.2 and later."""
_NUMPY = Requirement(
    "numpy",
    "==1.26.4",
    (
        "ffa75af20b44f8dba823498024771d5ac50620e6915abac414251bd971b4529f",
        "666dbfb6ec68962c033a450943ded891bed2d54e6755e35e5835d63f4f6931d5",
    ),
)
_DEEPSPARSE = Requirement(
    "deepsparse",
    "==1.8.0",
    (
        "7b6897b36f91dc5b39cf2be4365b1a7f9c77f8994834fbcfec14567747eb4f20",
        "59a5ee321e93dbf05a9e8a91944daf7280409bfcdeb004253b018816d374261e",
    ),
)
_EXECUTOR = (
    Requirement(
        "intel-extension-for-transformers",
        "==1.4.2",
        (
            "ef87d2d47be3316aae96a479ad73b3397ae63f38225c728050ac01fab482abc2",
            "f9f5d6f1a24a817244a2625c3486f67b181cc6279b14ab9a6a3cfe22d663bc02",
        ),
    ),
    _NUMPY,
    Requirement(
        "onnx",
        "==1.16.2",
        (
            "ec6a425e59291fff430da4a884aa07a1d0cbb5dcd22cc78f6cf4ba5adb9f3367",
            "7b98aa9733bd4b781eb931d33b4078ff2837e7d68062460726d6dd011f332bd4",
        ),
    ),
    Requirement("protobuf", "==4.25.8", ("83e6e54e93d2b696a92cad6e6efc924f3850f82b52e1563778dfab8b355101b0",)),
    Requirement(
        "PyYAML",
        "==6.0.3",
        (
            "9c7708761fccb9397fe64bbc0395abcae8c4bf7b0eac081e12b809bf47700d0b",
            "b8bb0864c5a28024fac8a632c443c87c5aa6f215c0b126c449ae1a150412f31d",
        ),
    ),
    Requirement("schema", "==0.7.7", ("5d976a5b50f36e74e2157b47097b60002bd4d42e65425fcc9c9befadb4255dde",)),
    Requirement("py-cpuinfo", "==9.0.0", ("859625bc251f64e21f077d099d4162689c762b5d6a4c3c97553d56241c9674d5",)),
    Requirement("tqdm", "==4.67.1", ("26445eca388f82e72884e0d580d5464cd801a3ea01e63e5601bdff9ba6a48de2",)),
)
_OLD_PYTHONS = ("3.10", "3.11")
"""The Pythons of the wheels whose hashes are above, in that order."""
_MB = 1_000_000
_NAMED: dict[str, Recipe] = {
    one.id: one
    for one in (
        Recipe(
            "deepsparse@1.8.0",
            (_DEEPSPARSE, _NUMPY),
            _OLD_PYTHONS,
            size_bytes=200 * _MB,
            download_bytes=66 * _MB,
            licence=DEEPSPARSE_LICENCE,
            machine="x86_64",
        ),
        Recipe(
            "executor@1.4.2",
            _EXECUTOR,
            _OLD_PYTHONS,
            size_bytes=285 * _MB,
            download_bytes=81 * _MB,
            machine="x86_64",
        ),
    )
}
