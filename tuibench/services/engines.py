"""The actions on engines: list, install, download, test and remove those with an interpreter of their own."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from tuibench.core import engine
from tuibench.core.engine_state import (
    BESIDE,
    DOWNLOAD,
    INSTALL,
    INSTALLED,
    PROBE,
    PYTHON,
    EngineState,
    InstallOrder,
    InstallProgress,
)
from tuibench.core.errors import EngineBusy, EngineError, TuibenchError, UsageError
from tuibench.core.reason import Reason
from tuibench.core.record import from_plain, to_plain
from tuibench.engines import factory
from tuibench.engines.installation import (
    RECORD,
    Installation,
    find_installation,
    lock_installation,
    new_place_of,
    place_of,
)
from tuibench.engines.recipes import Recipe, find_recipe
from tuibench.runs.directory import make_private
from tuibench.runs.task import StopSwitch
from tuibench.services.background_install import BackgroundInstall
from tuibench.services.engine_probe import probe, probe_unfinished
from tuibench.services.engine_states import find_state, list_states
from tuibench.services.export_file import sync_directory
from tuibench.services.interpreters import Interpreter, find_interpreters, find_named, is_series
from tuibench.services.models import ask_child
from tuibench.services.packages import Installer, NoSuchWheel, disk_full, sha256_of, size_of
from tuibench.services.runs import read_request

if TYPE_CHECKING:
    from tuibench.services.api import Services

Tell = Callable[[InstallProgress], None]
_CONTRACT_S = 120.0
_LEAST_ROOM = 256 << 20
"""Least free bytes for an installation whose size is unknown."""


def _ignore(_: InstallProgress) -> None:
    """Ignore the progress."""


class Engines:
    """Installs engines below the data directory, one virtual environment each."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self.current: BackgroundInstall | None = None
        """The latest installation in the background, which may have ended."""

    def begin(self, order: InstallOrder) -> BackgroundInstall:
        """Install an engine in the background; raise EngineBusy while another one is being installed."""
        if self.current is not None and not self.current.is_done:
            raise EngineBusy("engine_being_changed", engine=self.current.id)
        self.current = BackgroundInstall(order, self.install)
        return self.current

    def close(self) -> None:
        """Cancel the installation in the background."""
        if self.current is not None:
            self.current.close()

    @property
    def root(self) -> Path:
        """The directory of all installations."""
        return self._services.settings.places.engines

    def every(self) -> tuple[EngineState, ...]:
        """Return every engine of this version and every installed release; try interpreters, import no engine."""
        return list_states(self.root, hidden=self._services.hidden)

    def state(self, engine_id: str) -> EngineState:
        """Return one engine with an interpreter of its own; raise an error if there is no such one."""
        return find_state(self.root, self.recipe(engine_id))

    def installable(self, engine_id: str) -> EngineState:
        """Return the state of an engine that can be installed; raise the error of `install` for any other."""
        state = self.state(engine_id)
        if state.state == INSTALLED:
            self._services.machine.forget()
            raise EngineError("engine_installed_already", engine=engine.full_id(state.id))
        if not state.is_installable:
            _require_possible(self.recipe(engine_id))
        return state

    def recipe(self, engine_id: str) -> Recipe:
        """Return what an engine is made of; raise an error if it is unknown or has no interpreter of its own."""
        spelled = engine.spell_id(engine_id)
        factory.check(spelled)
        recipe = find_recipe(spelled)
        if recipe is None:
            entry = engine.entry_of(spelled)
            raise UsageError(
                "engine_is_beside",
                engine=spelled,
                command=engine.install_command(spelled),
                lowest=entry.lowest_release if entry is not None else "",
            )
        return recipe

    def install(
        self, order: InstallOrder, tell: Tell = _ignore, stop: StopSwitch | None = None
    ) -> tuple[Installation, bool]:
        """Install an engine; return its record, and whether it was installed now.

        It counts as installed only after a short run that agrees with ONNX Runtime. An interrupted installation leaves
        nothing that is used; the next one removes what is left.
        """
        recipe = self.recipe(order.id)
        order = replace(order, id=recipe.id)
        if (found := find_installation(self.root, recipe.id)) is not None:
            return found, False
        _check(recipe, order)
        with _switch(stop) as switch, self._alone(recipe.id) as lock:
            if (found := find_installation(self.root, recipe.id)) is not None:
                return found, False  # another command has just installed it
            new = new_place_of(self.root, recipe.id)
            _clear(new)
            try:
                _require_room(self.root, recipe, order)
                record = self._make(recipe, order, new, tell, switch, lock)
                _commit(new, place_of(self.root, recipe.id), record)
            except OSError as error:
                if error.errno in (errno.ENOSPC, errno.EDQUOT):
                    raise disk_full(order) from error
                raise
            finally:
                _clear(new)
        self._services.machine.forget()
        return record, True

    def _make(
        self, recipe: Recipe, order: InstallOrder, new: Path, tell: Tell, stop: StopSwitch, lock: int
    ) -> Installation:
        """Make an installation in `new` and probe it."""
        new.mkdir(mode=0o700)
        installer = Installer(order, recipe, stop, new / "pip", lock)
        interpreter, wheels = _fetch(recipe, order, installer, new / "wheels", tell)
        tell(InstallProgress(INSTALL, f"{len(wheels)} packages"))
        installer.make_environment(interpreter.path, new / "venv")
        installer.install(new / "venv" / "bin" / "python", wheels)
        record = Installation(
            recipe.id,
            interpreter.version,
            dict(_name_and_version(one) for one in wheels),
            {one.name: sha256_of(one) for one in wheels},
            installed_utc=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        )
        for working in ("wheels", "pip"):
            _clear(new / working)
        tell(InstallProgress(PROBE))
        probe_unfinished(self._services.settings, new, record, stop)
        return replace(record, size_bytes=size_of(new))

    def download(
        self, order: InstallOrder, target: Path, tell: Tell = _ignore, stop: StopSwitch | None = None
    ) -> tuple[Path, ...]:
        """Download the wheels of an engine for every Python that may run it, for a machine without a network.

        Return those wheels; other files of the directory stay as they are.
        """
        recipe, target = self.recipe(order.id), Path(os.path.abspath(target))  # pip runs in another directory
        order = replace(order, id=recipe.id, target=str(target))
        _check(recipe, order)
        missing: NoSuchWheel | None = None
        wanted = (_series(recipe, order.python),) if order.python else recipe.pythons
        fetched: set[Path] = set()
        try:
            target.mkdir(parents=True, exist_ok=True)
            with _switch(stop) as switch, TemporaryDirectory(prefix=".tuibench-", dir=target) as scratch:
                installer = Installer(order, recipe, switch, Path(scratch))
                for series in wanted:
                    tell(InstallProgress(PYTHON, f"{recipe.id}, Python {series}"))
                    try:
                        fetched |= set(installer.download(series, target, _counted(recipe, tell)))
                    except NoSuchWheel as none:
                        missing = _better(missing, none)
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise disk_full(order) from error
            raise
        if not fetched:
            raise _no_wheel(recipe, order, missing, list(wanted))
        return tuple(sorted(fetched))

    def test(self, engine_id: str, stop: StopSwitch | None = None) -> float:
        """Run a small model with an engine; return how much its outputs differ from those of ONNX Runtime.

        Raise EngineError if that is more than the tolerance.
        """
        spelled = engine.spell_id(engine_id)
        self._services.machine.check_engines([spelled])
        with _switch(stop) as switch:
            return probe(self._services, spelled, switch)

    def contract(self, engine_id: str, stop: StopSwitch | None = None) -> dict[str, Reason | None]:
        """Return each check of an engine in tuibench's own interpreter, and why it failed; a child runs them."""
        spelled = engine.spell_id(engine_id)
        self._services.machine.check_engines([spelled])
        answer = ask_child(
            "contract", {"engine": spelled}, file=spelled, timeout_s=_CONTRACT_S, kind=EngineError, stop=stop
        )
        return {str(one["check"]): from_plain(Reason, one["why"]) if one["why"] else None for one in answer}

    def testable(self) -> tuple[str, ...]:
        """Return the engines that are installed, beside tuibench or apart."""
        return tuple(one.id for one in self.every() if one.state in (INSTALLED, BESIDE))

    def removable(self, engine_id: str) -> str:
        """Return the full id of an engine of which something is installed; raise EngineError if there is nothing."""
        found = self.recipe(engine_id).id
        if not any(map(os.path.lexists, (place_of(self.root, found), new_place_of(self.root, found)))):
            raise EngineError("engine_apart_missing", engine=found, command=engine.install_command(found))
        return found

    def remove(self, engine_id: str) -> int:
        """Remove an installation, or what is left of one; return its size. Raise EngineBusy while a run uses it."""
        found = self.removable(engine_id)
        place, new = place_of(self.root, found), new_place_of(self.root, found)
        with self._alone(found):
            size = size_of(place)
            with suppress(OSError):
                (place / RECORD).unlink()  # first, so that what a kill leaves behind is never used
            _clear(place)
            _clear(new)
        self._services.machine.forget()
        return size

    @contextmanager
    def _alone(self, engine_id: str) -> Iterator[int]:
        """Hold an installation alone; raise EngineBusy if a run uses it or another command changes it."""
        make_private(self.root)
        lock = lock_installation(self.root, engine_id, alone=True)
        if lock is None:
            run = self._user_of(engine_id)
            if run:
                raise EngineBusy("engine_in_use", engine=engine_id, run=run)
            raise EngineBusy("engine_being_changed", engine=engine_id)
        try:
            yield lock
        finally:
            os.close(lock)

    def _user_of(self, engine_id: str) -> str:
        """Return the id of a run that uses an engine; '' for none."""
        for run in self._services.runs.directories():
            names = read_request(run).get("spec", {}).get("engines", ())
            if engine_id in map(engine.full_id, names) and run.is_held():
                return run.id
        return ""


def _fetch(
    recipe: Recipe, order: InstallOrder, installer: Installer, target: Path, tell: Tell
) -> tuple[Interpreter, list[Path]]:
    """Download for the first interpreter that every package has a wheel for."""
    missing: NoSuchWheel | None = None
    tried: list[str] = []
    for interpreter in _interpreters(recipe, order):
        tried.append(interpreter.series)
        tell(InstallProgress(PYTHON, "" if order.wheels else f"{recipe.id}, Python {interpreter.series}"))
        try:
            return interpreter, installer.download(interpreter.series, target, _counted(recipe, tell))
        except NoSuchWheel as none:
            missing = _better(missing, none)
            _clear(target)
    raise _no_wheel(recipe, order, missing, tried)


def _check(recipe: Recipe, order: InstallOrder) -> None:
    """Raise an error for an order that cannot succeed."""
    if recipe.licence and not order.accepts_licence:
        raise UsageError("licence_not_accepted", engine=recipe.id, licence=recipe.licence)
    if order.wheels and not os.path.isdir(os.path.expanduser(order.wheels)):
        raise UsageError("no_wheel_directory", path=order.wheels)
    if order.wheels and (order.index_url or order.extra_index_urls):
        raise UsageError("wheels_exclude_index")
    if recipe.machine and os.uname().machine != recipe.machine:
        raise EngineError("engine_other_machine", engine=recipe.id, machine=os.uname().machine, wanted=recipe.machine)


def _require_possible(recipe: Recipe) -> None:
    """Raise the error that an installation would begin with; return if there is none."""
    order = InstallOrder(recipe.id, accepts_licence=True)
    _check(recipe, order)
    next(_interpreters(recipe, order))


def _interpreters(recipe: Recipe, order: InstallOrder) -> Iterator[Interpreter]:
    """Yield one interpreter of each fitting series; raise EngineError if there is none."""
    if order.python:
        yield _named(recipe, order.python)
        return
    firsts = filter(None, (next(find_interpreters(series), None) for series in recipe.pythons))
    is_found = False
    for interpreter in firsts:
        is_found = True
        yield interpreter
    if not is_found:
        raise EngineError("no_fitting_python", engine=recipe.id, pythons=recipe.pythons)


def _named(recipe: Recipe, text: str) -> Interpreter:
    """Return the interpreter that the user named; raise an error if there is none or it does not fit."""
    if is_series(text):
        _series(recipe, text)
    found = find_named(text)
    if found is None and is_series(text):
        raise UsageError("series_not_found", engine=recipe.id, series=text, pythons=recipe.pythons)
    if found is None:
        raise UsageError("not_an_interpreter", path=text)
    if found.series not in recipe.pythons:
        raise EngineError("python_unfit", engine=recipe.id, version=found.version, pythons=recipe.pythons)
    return found


def _series(recipe: Recipe, text: str) -> str:
    """Return the version of Python that the user named, such as 3.11, which need not exist on this machine."""
    if not is_series(text):
        return _named(recipe, text).series
    if text not in recipe.pythons:
        raise EngineError("python_unfit", engine=recipe.id, version=text, pythons=recipe.pythons)
    return text


def _counted(recipe: Recipe, tell: Tell) -> Callable[[str], None]:
    """Return a listener for pip's output that tells which package is being downloaded."""
    total, seen = len(recipe.requirements), [0]

    def hear(line: str) -> None:
        if line.startswith(("Collecting ", "Processing ")):
            seen[0] += 1
            name = re.split(r"[=<>!]|-\d", line.split()[1].rpartition("/")[2])[0]
            tell(InstallProgress(DOWNLOAD, name, min(seen[0], total), total))
        elif found := re.match(r"\s+Downloading (\S+) \((.+)\)", line):
            name = found[1].rpartition("/")[2].partition("-")[0]
            tell(InstallProgress(DOWNLOAD, f"{name} ({found[2]})", min(seen[0], total), total))

    return hear


def _better(before: NoSuchWheel | None, new: NoSuchWheel) -> NoSuchWheel:
    """Return which of two misses says more."""
    return new if before is None or len(new.releases) > len(before.releases) else before


def _no_wheel(recipe: Recipe, order: InstallOrder, missing: NoSuchWheel | None, tried: Sequence[str]) -> TuibenchError:
    name, release = engine.split_id(recipe.id)
    package = missing.package if missing is not None else name
    if order.wheels:
        return EngineError("wheel_missing", engine=recipe.id, package=package, path=order.wheels, pythons=list(tried))
    if recipe.build_index and package == name:
        command = replace(order, id=name).command
        return EngineError("build_missing", engine=name, release=release, command=command, index=recipe.build_index)
    known = missing.releases if missing is not None else ()
    if package != name or release in known or not known:
        given = {"engine": recipe.id, "command": order.command}
        return EngineError("no_wheel_for_python", **given, package=package, pythons=list(tried))
    return EngineError("release_unknown", engine=name, release=release, known=list(known[-4:]), pythons=list(tried))


def _require_room(root: Path, recipe: Recipe, order: InstallOrder) -> None:
    """Raise WriteError if the disk has too little room for the wheels and what is in them."""
    needed = recipe.size_bytes + recipe.download_bytes or _LEAST_ROOM
    if shutil.disk_usage(root).free < needed:
        raise disk_full(order)


def _commit(new: Path, place: Path, record: Installation) -> None:
    """Write the record and give the directory its name.

    Only the record is flushed: flushing the packages could disturb a measurement for seconds. After a power cut they
    may be damaged, which `engines test` finds.
    """
    _clear(place)  # half made, or its interpreter is gone
    with open(new / RECORD, "w", encoding="utf-8") as handle:
        json.dump(to_plain(record), handle, indent=2)
        handle.flush()
        os.fsync(handle.fileno())
    os.rename(new, place)
    sync_directory(str(place.parent))


def _clear(path: Path) -> None:
    """Remove a directory or a link, if there is one."""
    if path.is_symlink():
        path.unlink()
    elif path.exists():
        shutil.rmtree(path)


def _name_and_version(wheel: Path) -> tuple[str, str]:
    name, version = wheel.name.split("-")[:2]
    return name.replace("_", "-").lower(), version


@contextmanager
def _switch(stop: StopSwitch | None) -> Iterator[StopSwitch]:
    switch = stop or StopSwitch()
    try:
        yield switch
    finally:
        if stop is None:
            switch.close()
