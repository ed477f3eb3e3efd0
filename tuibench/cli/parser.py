"""Parser of the argparse commands, consistent with the others: both spellings, no abbreviations, one-line errors."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, NoReturn, TypeAlias

from tuibench.cli.command import COMMANDS, Command
from tuibench.core.errors import UsageError
from tuibench.core.settings.kinds import Reader
from tuibench.core.settings.request import Info
from tuibench.core.text import show

Subparsers: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"
AddParser = Callable[[Any], object]
"""Adds the parsers of one module to argparse's subparsers."""

_WIDTH = 79


class _HelpAsked(Exception):
    """Help was requested; its message is the help text."""


class _Parser(argparse.ArgumentParser):
    """argparse without printing the whole usage at every error and without guessing flags."""

    def __init__(self, **options: Any) -> None:
        options |= {"allow_abbrev": False, "formatter_class": _format}
        super().__init__(**options)
        self.add_argument("--debug", action="store_true", help="show the traceback of an error")

    def print_help(self, file: object = None) -> NoReturn:
        """Raise the text instead of printing it, so that it is printed like all other output."""
        raise _HelpAsked(self.format_help())

    def error(self, message: str) -> NoReturn:
        raise UsageError(show(message), f"{self.prog} --help")


def reads(flag: str, reader: Reader) -> Callable[[str], Any]:
    """Return an argparse type that uses a shared value reader."""
    return lambda given: reader(flag, given)


def _format(prog: str) -> argparse.HelpFormatter:
    return argparse.HelpFormatter(prog, max_help_position=28, width=_WIDTH)


def parse_command(argv: Sequence[str], add: AddParser | None = None) -> argparse.Namespace | Info:
    """Parse argv for the command that it begins with; import only that command's module."""
    root = _Parser(prog="tuibench")
    (add or _find(COMMANDS[argv[0]]))(root.add_subparsers(dest="command", required=True))
    try:
        parsed, unknown = root.parse_known_args(_dashed(argv))
    except _HelpAsked as asked:
        return Info(str(asked))
    if unknown:
        # argparse reports this at the root, which does not know the command's help.
        what = "unknown flag" if unknown[0].startswith("-") else "too much is given:"
        raise UsageError(f"{what} {show(unknown[0], 60)}", f"tuibench {argv[0]} --help")
    return parsed


def _find(command: Command) -> AddParser:
    add: AddParser = import_module(f"tuibench.cli.{command.module}").add_parser
    return add


def _dashed(argv: Sequence[str]) -> list[str]:
    """Turn `--include_private` into `--include-private`; leave everything after `=` or `--` unchanged."""
    end = argv.index("--") if "--" in argv else len(argv)
    return [_spell(token) if token.startswith("--") else token for token in argv[:end]] + list(argv[end:])


def _spell(token: str) -> str:
    name, equals, value = token.partition("=")
    return name.replace("_", "-") + equals + value
