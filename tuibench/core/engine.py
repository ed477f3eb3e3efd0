"""Engines, which execute models. Each is declared here once; `engines/factory.py` makes them.

An engine's id is its name, or name and release such as `onnxruntime@1.27.0` for one that has an interpreter of its own.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable

from tuibench.core.spec import INT8, PRUNED
from tuibench.core.value import dataclass

FIXED = "fixed"
SYMBOLIC = "symbolic"


PT2 = "pt2"
"""A program exported by PyTorch."""
TORCHSCRIPT = "torchscript"
SAFETENSORS = "safetensors"
"""A directory with CHECKPOINT and weights as safetensors."""
CHECKPOINT = "config.json"
"""The file that stands for such a directory."""


@dataclass(frozen=True, slots=True)
class ModelForm:
    """The form of a model's copy for an engine that does not take every file."""

    dims: str
    """FIXED: every dim is a number; SYMBOLIC: every dim of an input has a name."""
    highest_opset: int | None = None
    highest_ir: int | None = None


@dataclass(frozen=True, slots=True)
class EngineEntry:
    """One engine, described without importing it."""

    name: str
    short: str
    """Name in narrow columns."""
    package: str
    """Name of its package, for its version and for the hint if it is missing."""
    module: str
    """Module with `make()`, which builds the engine, and `CAPABILITIES`."""
    extra: str = ""
    """The extra of tuibench that installs the package; '' if tuibench itself requires it."""
    layer_timer: str = ""
    """Module whose `make_timer()` times layers, imported in child processes only; '' if the engine cannot."""
    runs_ours: bool = False
    """True if it runs models made by tuibench: roofs, the effect of zeros, INT8 forms and changed layers."""
    imposes_zeros: bool = False
    """True if its layer timer can measure a model as if its weights had more zeros."""
    is_other: bool = False
    """True if another package declares it; its module is imported in worker processes only."""
    hidden: bool = False
    """True for the engine for tests and screenshots, which is not offered."""
    own_release: str = ""
    """The release that is installed by default, if the engine always has an interpreter of its own; else ''."""
    lowest_release: str = ""
    """The oldest release that can be installed beside others; '' if there is only `own_release`."""
    formats: tuple[str, ...] = ("onnx", "ort")
    """Formats of the files that it is given."""
    model_form: ModelForm | None = None
    """The form in which it takes models; None for the user's file as it is."""
    title: str = ""
    """Name in sentences; '' for the plain name."""
    inside: str = ""
    """Another engine inside it, which runs the operators that it does not support."""
    purpose: str = ""
    """What it is for, in a few words."""

    @property
    def install_command(self) -> str:
        """The command that installs it."""
        if self.own_release:
            return f"tuibench engines install {self.name}"
        return f"pip install 'tuibench[{self.extra}]'" if self.extra else f"pip install {self.package}"


REGISTRY: dict[str, EngineEntry] = {
    one.name: one
    for one in (
        EngineEntry(
            "onnxruntime",
            "ort",
            package="onnxruntime",
            module="tuibench.engines.onnxruntime",
            layer_timer="tuibench.model.profile.layers",
            runs_ours=True,
            lowest_release="1.15",
            purpose="runs nearly every ONNX model; computes the reference outputs",
        ),
        EngineEntry(
            "openvino",
            "ov",
            package="openvino",
            extra="openvino",
            module="tuibench.engines.openvino",
            lowest_release="2024.0",
            purpose="Intel's engine for ONNX models on CPUs",
        ),
        EngineEntry(
            "fake",
            "fake",
            package="tuibench",
            module="tuibench.engines.fake",
            layer_timer="tuibench.model.profile.scripted",
            hidden=True,
        ),
        EngineEntry(
            "deepsparse",
            "ds",
            package="deepsparse",
            module="tuibench.engines.deepsparse",
            layer_timer="tuibench.model.profile.deepsparse",
            imposes_zeros=True,
            own_release="1.8.0",
            model_form=ModelForm(FIXED, highest_opset=18, highest_ir=9),
            title="DeepSparse",
            inside="ONNX Runtime 1.15",
            purpose="faster with zeros in weights; development and testing only",
        ),
        EngineEntry(
            "executor",
            "executor",
            package="intel-extension-for-transformers",
            module="tuibench.engines.executor",
            layer_timer="tuibench.model.profile.executor",
            own_release="1.4.2",
            model_form=ModelForm(SYMBOLIC),
            purpose="BERT models in FP32, bf16 and INT8",
        ),
        EngineEntry(
            "torch",
            "torch",
            package="torch",
            module="tuibench.engines.torch",
            own_release="2.13.0+cpu",
            formats=(PT2, TORCHSCRIPT, SAFETENSORS),
            purpose="PyTorch's own files: .pt2, TorchScript, safetensors",
        ),
    )
}
"""Engines by name, in the order in which they are offered."""

GROUP = "tuibench.engines"
"""The entry points of engines in other packages; each names the module of its engine."""
_SHORT_RELEASE = re.compile(r"\d+\.\d+")
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,30}", re.ASCII)

IO_CLASSES = ("bound", "engine-allocated", "call")
"""Ordered from least to most work inside the timed call; see docs/architecture.md."""

DEFAULT = "onnxruntime"
"""The default engine; also computes the reference outputs."""


def split_id(engine_id: str) -> tuple[str, str]:
    """Return the name and the release of an id; '' for the release of tuibench's own interpreter."""
    name, _, release = engine_id.partition("@")
    return name, release


def spell_id(text: str) -> str:
    """Return an id as it is stored, from `NAME`, `NAME@RELEASE` or `NAME==RELEASE`; the short name may be given."""
    name, at, release = text.strip().replace("==", "@", 1).partition("@")
    if entry_of(name) is None:
        name = next((one.name for one in REGISTRY.values() if one.short == name), name)
    entry = entry_of(name)
    has_releases = entry is not None and bool(entry.lowest_release)
    # One spelling of the release, or it would be installed twice.
    whole = f"{release}.0" if has_releases and _SHORT_RELEASE.fullmatch(release) else release
    return f"{name}{at}{whole}"


def complete_id(text: str, name: str) -> str:
    """Return an id as it is stored; a release alone is one of the engine `name`."""
    spelled = spell_id(text)
    return f"{name}@{spelled}" if name and spelled[:1].isdigit() else spelled


def with_version(engine_id: str, version: str) -> str:
    """Return an engine with its version, which an id with a release names already."""
    return engine_id if split_id(engine_id)[1] else f"{engine_id} {version}".rstrip()


def entry_of(engine_id: str) -> EngineEntry | None:
    """Return the declaration of an engine, by its name or id; None for an unknown one."""
    name = split_id(engine_id)[0]
    return REGISTRY.get(name) or others().get(name)


@functools.cache
def others() -> dict[str, EngineEntry]:
    """Return the engines that other packages declare with an entry point of the group `tuibench.engines`."""
    from importlib.metadata import entry_points  # 20 ms

    found = {one.name: one for one in entry_points(group=GROUP) if _NAME.fullmatch(one.name)}
    return {
        name: EngineEntry(name, name, one.dist.name if one.dist else name, one.module, is_other=True)
        for name, one in sorted(found.items())
        if name not in REGISTRY
    }


def is_apart(engine_id: str) -> bool:
    """Return whether an engine has an interpreter of its own."""
    entry = entry_of(engine_id)
    return bool(split_id(engine_id)[1]) or (entry is not None and bool(entry.own_release))


def full_id(engine_id: str) -> str:
    """Return the id with the release that is meant; an engine of tuibench's own interpreter has none."""
    entry, release = entry_of(engine_id), split_id(engine_id)[1]
    return f"{entry.name}@{entry.own_release}" if entry is not None and not release and entry.own_release else engine_id


def reads(engine_id: str, file_format: str) -> bool:
    """Return whether an engine may be given a file of this format; the fake one takes any."""
    entry = entry_of(engine_id)
    return entry is None or entry.hidden or file_format in entry.formats


def reader_of(file_format: str) -> str:
    """Return the name of the first engine that reads a format; '' if none does."""
    return next((name for name, one in REGISTRY.items() if file_format in one.formats), "")


def install_command(engine_id: str) -> str:
    """Return the command that installs an engine; '' for an unknown one."""
    entry, release = entry_of(engine_id), split_id(engine_id)[1]
    if entry is None:
        return ""
    return f"tuibench engines install {engine_id}" if release else entry.install_command


def names(*, hidden: bool = False) -> tuple[str, ...]:
    """Return the engines of this version."""
    return tuple(one.name for one in REGISTRY.values() if hidden or not one.hidden)


def offered(*, hidden: bool = False) -> tuple[str, ...]:
    """Return the engines of this version and of other packages."""
    return (*names(hidden=hidden), *others())


def timed(*, hidden: bool = False) -> tuple[str, ...]:
    """Return the engines that can time each layer."""
    return tuple(name for name in names(hidden=hidden) if REGISTRY[name].layer_timer)


def forms_of(engine_id: str) -> tuple[str, ...]:
    """Return the forms of single layers that a profile with an engine can measure."""
    entry, release = entry_of(engine_id), split_id(engine_id)[1]
    if entry is None:
        return ()
    return (PRUNED,) if entry.imposes_zeros else (INT8,) if entry.runs_ours and not release else ()


def short_names(engines: Iterable[str]) -> str:
    """Return the names of engines for a narrow column: ort|ov, ort@1.27.0."""
    return "|".join(map(_short_name, engines))


def _short_name(engine_id: str) -> str:
    entry = entry_of(engine_id)
    return engine_id if entry is None else entry.short + engine_id.removeprefix(entry.name)
