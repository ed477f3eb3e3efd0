"""Short words for instruction sets: the families that speed up models first, each with its members."""

from __future__ import annotations

from collections.abc import Sequence

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
    told = [
        " ".join([family, *(one for one in members[family] if one not in _BARE)])
        for family in _FAMILIES
        if family in members
    ]
    return ", ".join([*told, " ".join(kept)] if kept else told)
