"""Facts of the machine for forms and headers, the directories of a user, and short words for instruction sets."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tuibench.core.value import dataclass

ENGINES = "engines"
"""Directory below the data directory for engines with an interpreter of their own."""


@dataclass(frozen=True, slots=True)
class EngineChoice:
    """One engine in the form."""

    name: str
    available: bool
    version: str
    """'' if it is not installed."""
    hint: str
    """The command that installs it; '' if it is installed."""
    precisions: tuple[str, ...] = ()
    tells_layers: bool = False
    """True if it reports the time of each layer, so that it can make profiles."""


@dataclass(frozen=True, slots=True)
class Machine:
    """Facts of this machine for forms and headers; read once, without measuring noise."""

    default_cores: int
    usable_cores: int
    node_cores: int
    isa: tuple[str, ...]
    engines: tuple[EngineChoice, ...]
    host: str = ""
    """The machine's id in the store; '' until it has one."""


@dataclass(frozen=True, slots=True)
class Places:
    """The four directories of a user; TUIBENCH_HOME puts all of them below one."""

    data: Path
    """The store: data that must never be lost."""
    state: Path
    """Runs, with their journals and logs."""
    cache: Path
    """Data that can be recreated: downloaded models, hashes, facts."""
    config: Path

    @property
    def engines(self) -> Path:
        """One directory per engine with an interpreter of its own."""
        return self.data / ENGINES

    @property
    def runs(self) -> Path:
        """One directory per run."""
        return self.state / "runs"


_FAMILIES = {"amx": "amx_", "avx512": "avx512", "avx": "avx_", "sme": "sme", "sve": "sve", "asimd": "asimd"}
"""Family name to the prefix of its members, fastest family first."""
_BARE = frozenset({"", "f", "tile"})
"""Base members of a family; the words leave them out."""
_IMPLIED = frozenset({"avx2", "fma", "f16c"})
"""Every CPU with AVX-512 has these."""


def isa_words(isa: Sequence[str]) -> str:
    """Return words such as `amx int8 bf16, avx512 vnni bf16`; features of no family follow under their Linux names."""
    members: dict[str, list[str]] = {}
    others = []
    for name in isa:
        family = next((family for family, begin in _FAMILIES.items() if name.startswith(begin)), None)
        if family is None:
            others.append(name)
        else:
            members.setdefault(family, []).append(name.removeprefix(_FAMILIES[family]).removeprefix("_"))
    kept = [name for name in others if "avx512" not in members or name not in _IMPLIED]
    families = [
        " ".join([family, *(one for one in members[family] if one not in _BARE)])
        for family in _FAMILIES
        if family in members
    ]
    return ", ".join([*families, " ".join(kept)] if kept else families)
