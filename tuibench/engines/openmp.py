"""Pinning of engines whose threads are a pool of OpenMP: variables that its library reads when it is loaded."""

from __future__ import annotations

from tuibench.engines.apart import read_pinning
from tuibench.engines.protocol import LoadSettings


def pool_variables(setting: LoadSettings) -> dict[str, str]:
    """Return where the threads may run: each on its core, each on its NUMA node, or all on any CPU of the process."""
    places = _places(setting)
    if not places:
        return {"OMP_PROC_BIND": "false"}
    listed = ",".join("{" + ",".join(map(str, place)) + "}" for place in places)
    return {"OMP_PROC_BIND": "close", "OMP_PLACES": listed}


def pool_pinning(setting: LoadSettings) -> str:
    """Return the kind of pinning: core, numa or none; the library binds the thread that loads it like its own."""
    return read_pinning({0}, setting) if _places(setting) else "none"


def _places(setting: LoadSettings) -> list[tuple[int, ...]]:
    if setting.pin == "core" and len(setting.cpus) >= setting.threads:
        return [(cpu,) for cpu in setting.cpus[: setting.threads]]
    if setting.pin == "numa":
        return [node for node in setting.nodes if set(node) & set(setting.cpus)]
    return []
