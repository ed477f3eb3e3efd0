"""argv of the commands that argparse reads, in the manner of the others: both spellings, no abbreviations, one line."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, NoReturn, TypeAlias

from tuibench.cli.command import COMMANDS, Command
from tuibench.core.errors import UsageError
from tuibench.core.text import show
from tuibench.request.request import Info
from tuibench.request.value import Reader

Subparsers: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"
AddParser = Callable[[Any], object]
"""Adds the parsers of one module to argparse's subparsers."""

_WIDTH = 79


class _HelpAsked(Exception):
    """Its message is the help."""


class _Parser(argparse.ArgumentParser):
    """argparse without its habits of printing the whole usage at every error and of guessing flags."""

    def __init__(self, **options: Any) -> None:
        options |= {"allow_abbrev": False, "formatter_class": _format}
        super().__init__(**options)
        self.add_argument("--debug", action="store_true", help="show the traceback of an error")

    def print_help(self, file: object = None) -> NoReturn:
        """Give the text back instead of printing: it leaves by the same door as every other output."""
        raise _HelpAsked(self.format_help())

    def error(self, message: str) -> NoReturn:
        raise UsageError(show(message), f"{self.prog} --help")


def reads(flag: str, reader: Reader) -> Callable[[str], Any]:
    """What argparse wants as a type, made of what reads the same value elsewhere."""
    return lambda given: reader(flag, given)


def _format(prog: str) -> argparse.HelpFormatter:
    return argparse.HelpFormatter(prog, max_help_position=28, width=_WIDTH)


def parse_command(argv: Sequence[str], add: AddParser | None = None) -> argparse.Namespace | Info:
    """What argv asks of the command that it begins with; only the module of that command is imported."""
    root = _Parser(prog="tuibench")
    (add or _find(COMMANDS[argv[0]]))(root.add_subparsers(dest="command", required=True))
    try:
        parsed, unknown = root.parse_known_args(_dashed(argv))
    except _HelpAsked as asked:
        return Info(str(asked))
    if unknown:
        # argparse leaves this to the root, which does not know whose help would help.
        what = "unknown flag" if unknown[0].startswith("-") else "too much is given:"
        raise UsageError(f"{what} {show(unknown[0], 60)}", f"tuibench {argv[0]} --help")
    return parsed


def _find(command: Command) -> AddParser:
    add: AddParser = import_module(f"tuibench.cli.{command.module}").add_parser
    return add


def _dashed(argv: Sequence[str]) -> list[str]:
    """`--include_private` is `--include-private`; what stands behind `=` or `--` is nobody's spelling."""
    end = argv.index("--") if "--" in argv else len(argv)
    return [_spell(token) if token.startswith("--") else token for token in argv[:end]] + list(argv[end:])


def _spell(token: str) -> str:
    name, equals, value = token.partition("=")
    return name.replace("_", "-") + equals + value
