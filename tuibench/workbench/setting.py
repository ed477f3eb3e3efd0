"""What a workbench is given: whose directories, which machine, and the name under which benchmarks take turns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tuibench.core.place import Places
from tuibench.host.place import find_places

DEFAULT_NAME = "tuibench-host"
"""What benchmarks of this machine take turns under."""
HOST_NAME = "TUIBENCH_HOST_LOCK"
"""Another name to take turns under: suites of tests must not wait for each other."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Found once by a door, passed in everywhere."""

    places: Places
    host_lock: str = DEFAULT_NAME


def read_settings(environ: Mapping[str, str]) -> Settings:
    """Those of the user who calls."""
    return Settings(find_places(environ), environ.get(HOST_NAME) or DEFAULT_NAME)
