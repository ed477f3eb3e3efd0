"""`tuibench engines`: list, install, download, test and remove engines that have an interpreter of their own."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from tuibench.cli.output import ask_confirmation, emit, progress_painter, tell, tell_error, width
from tuibench.cli.parser import ASCII, JSON, QUIET, YES, Action, Argument, argument, switch
from tuibench.cli.terminal import Ended, Interruption
from tuibench.core.engine import is_apart, spell_id
from tuibench.core.engine_state import INSTALLED, EngineState, InstallOrder, InstallProgress
from tuibench.core.errors import EngineError, ExitCode, TuibenchError, UsageError
from tuibench.core.reason import Reason
from tuibench.core.text import show
from tuibench.core.units import count_of, size
from tuibench.present.engine_list import (
    disturbance_words,
    engine_table,
    engines_json,
    installed_words,
    offer_words,
    progress_words,
    removed_words,
)
from tuibench.present.error.engine import licence_words
from tuibench.present.progress import ProgressPainter, Snapshot
from tuibench.present.reason import reason_words
from tuibench.services.api import Services


def list_engines(args: argparse.Namespace, services: Services, _: Interruption) -> None:
    """Print the engines, their releases and states, and the commands that install those that are missing."""
    found = services.engines.every()
    emit(engines_json(found) if args.json else engine_table(found, width(), args.ascii))


def install(args: argparse.Namespace, services: Services, _: Interruption) -> None:
    """Install an engine after its licence was accepted, and test it."""
    state = services.engines.state(args.id)
    order = _accepted(args, state)
    if not args.quiet and state.state != INSTALLED:
        _warn_if_measuring(services)
    with _progress(args.quiet, args.ascii) as (painter, update), _print_if_ended("installation_cancelled", order.id):
        record, is_new = services.engines.install(order, update)
        painter.clear()
    if args.quiet:
        return
    if is_new:
        done = installed_words(record.id, record.python, record.size_bytes)
        tell(f"{done}; tuibench benchmark MODEL -e {record.id} measures with it")
    else:
        unused = f"; --python {show(args.python, 60)} was not used" if args.python else ""
        tell(f"{record.id} is installed already, for Python {show(record.python, 20)}{unused}")


def download(args: argparse.Namespace, services: Services, _: Interruption) -> None:
    """Download the wheels of an engine, for a machine without a network."""
    licence = services.engines.recipe(args.id).licence  # an installed engine has none left to accept
    order = _accepted(args, replace(services.engines.state(args.id), licence=licence))
    with _progress(args.quiet, args.ascii) as (painter, update), _print_if_ended("download_cancelled", order.id):
        wheels = services.engines.download(order, Path(args.to), update)
        painter.clear()
    if not args.quiet:
        total = size(sum(path.stat().st_size for path in wheels))
        tell(
            f"{show(args.to)} has {count_of(len(wheels), 'wheel')}, {total}; on the other machine: "
            f"tuibench engines install {order.id} --wheels DIR"
        )


def test(args: argparse.Namespace, services: Services, _: Interruption) -> ExitCode:
    """Test one engine, or all that are installed; return the exit code of the first that fails."""
    code = ExitCode.OK
    _warn_if_measuring(services)
    for engine_id in [spell_id(args.id)] if args.id else services.engines.testable():
        try:
            with _print_if_ended("engine_test_cancelled", engine_id):
                if not is_apart(engine_id):
                    failed = _show_checks(services.engines.contract(engine_id), engine_id)
                    code = code or failed
                difference = services.engines.test(engine_id)
        except TuibenchError as error:
            if args.id:
                raise
            tell_error(error)
            code = code or error.exit_code
            continue
        emit(f"{engine_id}: agrees with ONNX Runtime (difference {difference:.1e})\n")
    return code


def _show_checks(checks: dict[str, Reason | None], engine_id: str) -> ExitCode:
    """Print the checks that failed, or their number if none did; return the exit code."""
    failed = {name: why for name, why in checks.items() if why is not None}
    for name, why in failed.items():
        emit(f"{engine_id}: {show(name.replace('_', ' '), 60)}: {reason_words(why)}\n")
    if failed:
        return ExitCode.ENGINE
    emit(f"{engine_id}: passed {count_of(len(checks), 'check')}\n")
    return ExitCode.OK


def remove(args: argparse.Namespace, services: Services, _: Interruption) -> None:
    """Remove an engine after a confirmation."""
    engine_id = services.engines.removable(args.id)
    command = f"tuibench engines remove {engine_id}"
    if not args.yes and not ask_confirmation(f"remove {engine_id}? [y/N]", "y", command):
        tell("nothing was removed")
        return
    if not args.quiet:
        tell(f"removing {engine_id}")
    freed = services.engines.remove(args.id)
    if not args.quiet:
        tell(f"{removed_words(engine_id, freed)}; tuibench engines install {engine_id} installs it again")


def _accepted(args: argparse.Namespace, state: EngineState) -> InstallOrder:
    """Return the order; ask for the licence if there is one to accept, and tell size and licence."""
    accepts = args.accept_licence
    if state.is_installable and offer_words(state) and not args.quiet:
        tell(f"{state.id}: {offer_words(state)}")
    if state.licence and not accepts:
        try:
            accepts = ask_confirmation(f"accept the licence ({licence_words(state.licence)})? [y/N]", "y", "")
        except UsageError as error:
            raise UsageError("licence_not_accepted", engine=state.id, licence=state.licence) from error
        if not accepts:
            raise EngineError("licence_declined", engine=state.id)
    wheels, extra = getattr(args, "wheels", None) or "", tuple(args.extra_index_url or ())
    return InstallOrder(state.id, accepts, args.python or "", wheels, args.index_url or "", extra)


def _warn_if_measuring(services: Services) -> None:
    """Print one line if another process measures on this machine: this command takes its cores."""
    if holder := services.runs.holder():
        tell(f"warning: {disturbance_words(holder)}")


@contextmanager
def _print_if_ended(code: str, engine_id: str) -> Iterator[None]:
    """Print one line if Ctrl-C or another signal ends the block."""
    try:
        yield
    except Ended:
        tell_error(TuibenchError(code, engine=engine_id))
        raise


@contextmanager
def _progress(quiet: bool, ascii_only: bool) -> Iterator[tuple[ProgressPainter, _Update]]:
    painter = progress_painter(ascii_only)
    try:
        yield painter, _Update(painter, quiet)
    finally:
        painter.clear()


class _Update:
    """Shows the present step: in place on a terminal, elsewhere one line for each stage."""

    def __init__(self, painter: ProgressPainter, quiet: bool) -> None:
        self._painter, self._quiet = painter, quiet
        self._stage = ""

    def __call__(self, progress: InstallProgress) -> None:
        """Show a step."""
        if self._quiet:
            return
        if self._painter.in_place:
            self._painter.update(Snapshot(0, 0, activity=progress_words(progress)))
        elif progress.stage != self._stage:
            self._painter.say(progress_words(progress))
        self._stage = progress.stage


_ID = argument("id", metavar="NAME[@RELEASE]", help="such as deepsparse or onnxruntime@1.27.0")
_ACCEPT = switch("--accept-licence", text="accept the engine's licence without a question")
_INDEXES = (
    argument("--index-url", metavar="URL", help="package index to ask instead of pip's own"),
    argument(
        "--extra-index-url",
        metavar="URL",
        action="append",
        help="package index to ask as well; may be given several times",
    ),
)
# Given before or behind the word of the action, so an action does not reset them.
_OUTPUT = tuple(Argument(one.names, {**one.options, "default": argparse.SUPPRESS}) for one in (JSON, ASCII))

ACTIONS = {
    "engines": Action(
        list_engines,
        "Engines with an interpreter of their own. Without an action, list all engines.",
        (JSON, ASCII),
        actions={
            "list": Action(
                list_engines, "List engines: installed, installable, or not possible here and why.", _OUTPUT
            ),
            "install": Action(
                install,
                "Install an engine into a virtual environment of its own and compare it with ONNX Runtime.",
                (
                    _OUTPUT[1],
                    _ID,
                    _ACCEPT,
                    argument(
                        "--python", metavar="PYTHON", help="path, command on PATH or version of a Python, such as 3.11"
                    ),
                    argument("--wheels", metavar="DIR", help="install from this directory, without a network"),
                    *_INDEXES,
                    QUIET,
                ),
            ),
            "download": Action(
                download,
                "Download the packages of an engine, to install it on a machine without a network.",
                (
                    _OUTPUT[1],
                    _ID,
                    argument("--to", metavar="DIR", required=True, help="directory for the packages"),
                    _ACCEPT,
                    argument(
                        "--python", metavar="PYTHON", help="only for this Python: version such as 3.10, command or path"
                    ),
                    *_INDEXES,
                    QUIET,
                ),
            ),
            "test": Action(
                test,
                "Run a small model with an engine, or with all that are installed, and compare with ONNX Runtime.",
                (argument("id", metavar="NAME[@RELEASE]", nargs="?", help="such as deepsparse; without a name, all"),),
            ),
            "remove": Action(remove, "Remove an installed engine, unless a run uses it.", (_ID, YES, QUIET)),
        },
    )
}
