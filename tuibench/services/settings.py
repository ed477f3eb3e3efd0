"""Settings of the services: the user's directories and the name of the host lock."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tuibench.core.machine import Places
from tuibench.store.directories import find_places

DEFAULT_NAME = "tuibench-host"
"""Default name of the lock that serializes benchmarks of this machine."""
HOST_NAME = "TUIBENCH_HOST_LOCK"
"""Environment variable for another lock name, so that test suites need not wait for each other."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Found once at the start, passed to all code."""

    places: Places
    host_lock: str = DEFAULT_NAME


def read_settings(environ: Mapping[str, str]) -> Settings:
    """Return the settings of the calling user."""
    return Settings(find_places(environ), environ.get(HOST_NAME) or DEFAULT_NAME)
