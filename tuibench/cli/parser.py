"""Builds the parsers of the argparse commands from their declarations, and runs their handlers.

All commands take both spellings of a flag, no abbreviations, and report an error in one line.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn

from tuibench.cli.command import COMMANDS
from tuibench.cli.output import open_services
from tuibench.core.errors import UsageError
from tuibench.core.settings.command import similar_flags
from tuibench.core.settings.kinds import Reader
from tuibench.core.settings.request import Info

if TYPE_CHECKING:  # types only: the services take 30 ms
    from tuibench.cli.terminal import Interruption
    from tuibench.services.api import Services

    Run = Callable[[argparse.Namespace, Services, Interruption], int | None]

_WIDTH = 79


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a command: names and options for argparse."""

    names: tuple[str, ...]
    options: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Group:
    """Arguments under a heading of the help, or arguments that exclude each other if it has no title."""

    arguments: tuple[Argument, ...]
    title: str = ""


@dataclass(frozen=True, slots=True)
class Action:
    """A command, or a word behind one: its help texts, its arguments and its handler.

    The handler returns the exit code, or None for success.
    """

    run: Run | None
    description: str
    arguments: Sequence[Argument | Group] = ()
    epilog: str = ""
    actions: Mapping[str, Action] = field(default_factory=dict)
    defaults: Mapping[str, Any] = field(default_factory=dict)
    """Values of arguments that only some of `actions` have."""


def argument(*names: str, **options: Any) -> Argument:
    """Declare an argument that takes a value."""
    return Argument(names, options)


def switch(*names: str, text: str) -> Argument:
    """Declare a flag without a value."""
    return Argument(names, {"action": "store_true", "help": text})


JSON = switch("--json", text="print one JSON object instead of text")
ASCII = switch("--ascii", text="print plain ASCII only")
QUIET = switch("-q", "--quiet", text="print only errors on stderr")
YES = switch("-y", "--yes", text="do not ask for confirmation")


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
        raise UsageError("arguments_refused", text=message, command=self.prog)


def reads(flag: str, reader: Reader) -> Callable[[str], Any]:
    """Return an argparse type that uses a shared value reader."""
    return lambda given: reader(flag, given)


def _format(prog: str) -> argparse.HelpFormatter:
    return argparse.HelpFormatter(prog, max_help_position=28, width=_WIDTH)


def parse_command(argv: Sequence[str], action: Action | None = None) -> argparse.Namespace | Info:
    """Parse argv for the command that it begins with; import only that command's module."""
    root = _Parser(prog="tuibench")
    commands = root.add_subparsers(dest="command", required=True)
    declared = action or find_action(argv[0])
    add_action(commands, argv[0], declared)
    word = next((token for token in argv[1:] if not token.startswith("-")), "")
    inner = declared.actions.get(word)
    if declared.actions and word and inner is None:
        raise UsageError("unknown_action", given=word, command=argv[0], allowed=list(declared.actions))
    try:
        parsed, unknown = root.parse_known_args(_dashed(argv))
    except _HelpAsked as asked:
        return Info(str(asked))
    if unknown:
        # argparse reports this at the root, which does not know the command's help.
        command = argv[0] if inner is None else f"{argv[0]} {word}"
        if unknown[0].startswith("-"):
            similar = similar_flags(unknown[0], _flags(inner or declared))
            raise UsageError("unknown_flag", flag=unknown[0], similar=similar, command=command)
        raise UsageError("unexpected_argument", given=unknown[0], command=command)
    return parsed


def _flags(action: Action) -> list[str]:
    """Return the flags of an action as they are typed."""
    groups = [each.arguments if isinstance(each, Group) else (each,) for each in action.arguments]
    return [name for group in groups for one in group for name in one.names if name.startswith("-")]


def find_action(name: str) -> Action:
    """Return the declaration of a command; import its module."""
    actions: Mapping[str, Action] = import_module(f"tuibench.cli.{COMMANDS[name].module}").ACTIONS
    return actions[name]


def add_action(parsers: Any, name: str, action: Action) -> None:
    """Add the parser of an action, and those of the words behind it."""
    parser = parsers.add_parser(
        name, help=action.description.rstrip("."), description=action.description, epilog=action.epilog or None
    )
    parser.set_defaults(**action.defaults)
    for each in action.arguments:
        if isinstance(each, Argument):
            parser.add_argument(*each.names, **each.options)
            continue
        group = parser.add_argument_group(each.title) if each.title else parser.add_mutually_exclusive_group()
        for one in each.arguments:
            group.add_argument(*one.names, **one.options)
    if action.run is not None:
        parser.set_defaults(run=partial(_run, action.run))
    if action.actions:
        words = parser.add_subparsers(dest="action", required=action.run is None, metavar="|".join(action.actions))
        for word, inner in action.actions.items():
            add_action(words, word, inner)


def _run(run: Run, args: argparse.Namespace, interruption: Interruption) -> int:
    with open_services() as services:
        code = run(args, services, interruption)
    interruption.check()
    return int(code or 0)


def _dashed(argv: Sequence[str]) -> list[str]:
    """Turn `--include_private` into `--include-private`; leave everything after `=` or `--` unchanged."""
    end = argv.index("--") if "--" in argv else len(argv)
    return [_spell(token) if token.startswith("--") else token for token in argv[:end]] + list(argv[end:])


def _spell(token: str) -> str:
    name, equals, value = token.partition("=")
    return name.replace("_", "-") + equals + value
