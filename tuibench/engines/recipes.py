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
    """The parts of an engine with an interpreter of its own."""

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
    build_index: str = ""
    """Address of an index that has this build, such as that for CPUs, which not every index has; '' for any index."""

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
_MB = 1_000_000
_OLD_PYTHONS = ("3.10", "3.11")
_DEEPSPARSE = """
deepsparse 1.8.0 7b6897b36f91dc5b39cf2be4365b1a7f9c77f8994834fbcfec14567747eb4f20
deepsparse 1.8.0 59a5ee321e93dbf05a9e8a91944daf7280409bfcdeb004253b018816d374261e
numpy 1.26.4 ffa75af20b44f8dba823498024771d5ac50620e6915abac414251bd971b4529f
numpy 1.26.4 666dbfb6ec68962c033a450943ded891bed2d54e6755e35e5835d63f4f6931d5
"""
"""Packages of Python 3.10 and 3.11, one line for each file."""
_EXECUTOR = """
intel-extension-for-transformers 1.4.2 ef87d2d47be3316aae96a479ad73b3397ae63f38225c728050ac01fab482abc2
intel-extension-for-transformers 1.4.2 f9f5d6f1a24a817244a2625c3486f67b181cc6279b14ab9a6a3cfe22d663bc02
numpy 1.26.4 ffa75af20b44f8dba823498024771d5ac50620e6915abac414251bd971b4529f
numpy 1.26.4 666dbfb6ec68962c033a450943ded891bed2d54e6755e35e5835d63f4f6931d5
onnx 1.16.2 ec6a425e59291fff430da4a884aa07a1d0cbb5dcd22cc78f6cf4ba5adb9f3367
onnx 1.16.2 7b98aa9733bd4b781eb931d33b4078ff2837e7d68062460726d6dd011f332bd4
protobuf 4.25.8 83e6e54e93d2b696a92cad6e6efc924f3850f82b52e1563778dfab8b355101b0
PyYAML 6.0.3 9c7708761fccb9397fe64bbc0395abcae8c4bf7b0eac081e12b809bf47700d0b
PyYAML 6.0.3 b8bb0864c5a28024fac8a632c443c87c5aa6f215c0b126c449ae1a150412f31d
schema 0.7.7 5d976a5b50f36e74e2157b47097b60002bd4d42e65425fcc9c9befadb4255dde
py-cpuinfo 9.0.0 859625bc251f64e21f077d099d4162689c762b5d6a4c3c97553d56241c9674d5
tqdm 4.67.1 26445eca388f82e72884e0d580d5464cd801a3ea01e63e5601bdff9ba6a48de2
"""
_TORCH = """
torch 2.13.0+cpu 6746dbcbeb526eb61330b76b41ff1b4eb848951103a892eeb080dfa2b264667b
transformers 5.23.0 018e82fd07490ad5bb58414f65e31576033dc7f36bed10c574843f69b90991bf
annotated-doc 0.0.7 6bc31bbbec6dfaaedc1676dbc11dbda96fe22a2b5c400e9ebad113fec44a9dc6
annotated-types 0.8.0 f072f4d804ea359e4eaf198b1af7a8b0943881a87f31bb764f8bf219bb9419e0
anyio 4.16.0 c66ae634e0b8228396b801741beb3294326d4b6102f7bba4041c0dfb58c29026
click 8.5.1 8bb5376d2006950386f8c6427613334a2acadc5f559cb80e638d00b4df957e37
filelock 4.2.11 020e229e4bb9d410fc799c07ddf45fa217cba970278f40b30751d94f309b69e2
fsspec 2026.9.0 8dd6e646e99ea382bd85f97a45e6b526a442d79423a7dc673f1e2756d05fcb5f
h11 0.16.0 63cf8bbe7522de3bf65932fda1d9c2772064ffb3dae62d55932da54b31cb6c86
hf-xet 1.8.0 29dab7c904cd1914a0439c6e1306c12c7497c8bd32290fbe563ebf51ca4b6d6d
httpcore2 2.16.2 16051ae2a42f776007543f32de9349a317b23d2cbb4e1456b4bac0e88b87419a
httpx2 2.16.2 f05c13aade4c45dbf1c9060647a1058f0acad62398fad96e741269edb33d46f5
huggingface_hub 2.4.0 42ecfd93ede47bdd333daebbf66a32d7bfe2e18752754fe4d2d4f98a0179d801
idna 3.20 ab7ae7122974553370f0bdb919e1a960b2cd1bc1ef0276416d896db81c14582c
Jinja2 3.1.6 85ece4451f492d0c13c5dd7c13a64681a86afae63a5f347908daf103ce6d2f67
markdown-it-py 4.3.0 7aa1511a46c39138de78d9eba92ce47e63124d8003fc98b3a351909e04239efa
MarkupSafe 3.0.4 6da83a088f8ef93b2d483a8232a4dbf4d69d3d8496b568a03c56becac43e1808
mdurl 0.1.2 84008a41e51615a49fc9966191ff91509e3c40b939176e643fd50a5c2196b8f8
mpmath 1.3.0 a0b2b9fe80bbcd81a6647ff13108738cfb482d481d826cc0e02f5b35e5c88d2c
networkx 3.6.1 d47fbf302e7d9cbbb9e2555a0d267983d2aa476bac30e90dfbe5669bd57f3762
numpy 2.4.6 89cd468399cfd2504718f0ba50e410dca55a170b61a02ad92bb18c8a65186e93
packaging 26.3 d7193f7c8e4e93f444fde0262bf90af30e16fa0ad0ad44cb553c87339b23cd1c
pydantic 2.14.3 3f7b347782ab7e4cf4c798496ae3a82787d9f21ec12676a9c564355eeef8daa8
pydantic_core 2.50.4 0574866e05f6adeecc520d87e87dd06210c0a51706341f6ef8421572f5a64444
Pygments 2.21.0 2363c69b61c4a97c838da3b130dcd6468f4848992b21a82f2a63ec34377137d9
PyYAML 6.0.3 b8bb0864c5a28024fac8a632c443c87c5aa6f215c0b126c449ae1a150412f31d
regex 2026.11.15 aafeb64c8569d69edfbf772feba49d2a001d3dca0f43e6a71e3735587ecb8222
rich 15.0.0 33bd4ef74232fb73fe9279a257718407f169c09b78a87ad3d296f548e27de0bb
safetensors 0.8.0 fd6f3f93c9a0a7cc2788ee63fb763353d4bd2e89b0751bc78fcf7dda00bea774
setuptools 84.2.1 ca140b45d5325a9478f880e351484f62fef15f336462e449ca0c03c873d589c2
shellingham 1.5.4 7ecfff8f2fd72616f7481040475a65b2bf8af90a56c89140852d1120324e8686
sympy 1.14.0 e091cc3e99d2141a0ba2847328f5479b05d94a6635cb96148ccb3f34671bd8f5
tokenizers 0.23.3 376851d22bcf9d650a5c3090bb83e6cf9e895fbf0595369fa4cd43c1f69b5f87
tqdm 4.70.1 c293e525e6fef9c20e8728fd4612df02a0aa31bb5fe91ecd93e123b1b7bffa73
truststore 0.10.5 9aaaedaefaf06d8b206278cf8b5012bc897f485a874503501e12d776df78951c
typer 0.29.2 f30731f8ca758368b836b3714872e58e395cef8fcaff918c853b1969ed5274e7
typing-inspection 0.4.5 bc210535442b39e1bf2805e0c7a17dfd6a4ace760c84c7f7d16245d23a6b1c39
typing_extensions 4.16.0 481caa481374e813c1b176ada14e97f1f67a4539ce9cfeb3f350d78d6370c2e8
"""
"""The CPU build, which needs no CUDA stack, and transformers for local directories; Python 3.11."""


def _pinned(text: str) -> tuple[Requirement, ...]:
    """Return the requirements of a table with one line for each file: name, version and sha256."""
    hashes: dict[tuple[str, str], tuple[str, ...]] = {}
    for line in text.split("\n"):
        if line:
            name, version, sha256 = line.split()
            hashes[name, version] = (*hashes.get((name, version), ()), sha256)
    return tuple(Requirement(name, f"=={version}", found) for (name, version), found in hashes.items())


_NAMED: dict[str, Recipe] = {
    one.id: one
    for one in (
        Recipe(
            "deepsparse@1.8.0",
            _pinned(_DEEPSPARSE),
            _OLD_PYTHONS,
            size_bytes=203 * _MB,
            download_bytes=66 * _MB,
            licence=DEEPSPARSE_LICENCE,
            machine="x86_64",
        ),
        Recipe(
            "executor@1.4.2",
            _pinned(_EXECUTOR),
            _OLD_PYTHONS,
            size_bytes=285 * _MB,
            download_bytes=81 * _MB,
            machine="x86_64",
        ),
        Recipe(
            "torch@2.13.0+cpu",
            _pinned(_TORCH),
            ("3.11",),
            size_bytes=921 * _MB,
            download_bytes=249 * _MB,
            machine="x86_64",
            build_index="https://download.pytorch.org/whl/cpu",
        ),
    )
}
