"""Resolves tokens to runs; reads the runs on disk once for any number of tokens."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from tuibench.core.activity import RunInfo
from tuibench.core.errors import StoreError, UnknownId
from tuibench.core.short_id import resolve
from tuibench.runs.directory import RunDirectory
from tuibench.runs.state import Observer, read_state


class RunFinder:
    """The runs that exist now, newest first, and the observer that judges their states."""

    def __init__(self, directories: Sequence[RunDirectory], observer: Observer) -> None:
        self._by_id = {run.id: run for run in directories}
        self._observer = observer
        self._infos: dict[str, RunInfo] = {}

    def find(self, token: str) -> RunDirectory:
        """Return a run by id, else by a unique name; raise UnknownId if neither matches."""
        if token in self._by_id:
            return self._by_id[token]
        try:
            return self._by_id[resolve(token, list(self._by_id), {}, noun="run")]
        except UnknownId:
            named = self._named.get(token, [])
            if len(named) != 1:
                raise
            return named[0]

    def info(self, token: str) -> RunInfo:
        """Return the run's state, as it was at the first request."""
        run = self.find(token)
        if run.id not in self._infos:
            self._infos[run.id] = read_state(run, self._observer)
        return self._infos[run.id]

    @cached_property
    def _named(self) -> dict[str, list[RunDirectory]]:
        named: dict[str, list[RunDirectory]] = {}
        for run in self._by_id.values():
            named.setdefault(_name(run), []).append(run)
        return named


def read_request(run: RunDirectory) -> dict[str, Any]:
    """Return the request of a run; empty if it cannot be read."""
    try:
        return run.request()
    except StoreError:
        return {}


def _name(run: RunDirectory) -> str:
    return str((read_request(run).get("card") or {}).get("name", ""))
