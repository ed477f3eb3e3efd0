"""From argv to a request. Read by a small loop of our own, because argparse abbreviates and clusters `-ncores`.

Nothing heavy is imported, and nothing at all for `--version` and `--help`: both must answer within 60 ms of CPU.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from tuibench import __version__
from tuibench.cli.command import COMMANDS, LATER
from tuibench.cli.flag import FLAGS, LATER_FLAGS, Flag
from tuibench.cli.request import BenchmarkRequest, Info
from tuibench.cli.sample import list_samples
from tuibench.cli.value import not_in_this_version
from tuibench.core.errors import UsageError
from tuibench.core.text import show

if TYPE_CHECKING:
    import argparse

_HELP = ("-h", "--help")
_BY_NAME = {name.replace("_", "-"): flag for flag in FLAGS for name in flag.names}


def parse(argv: Sequence[str]) -> Info | BenchmarkRequest | argparse.Namespace:
    """Return what argv asks for."""
    command = argv[0] if argv else ""
    if command == "--version":
        return Info(f"tuibench {__version__}\n")
    if command in (*_HELP, "help"):
        return _help(argv[1:])
    if command == "benchmark":
        return _parse_benchmark(argv[1:])
    if command in COMMANDS:
        from tuibench.cli.parser import parse_command  # argparse: 14 ms

        return parse_command(argv)
    if command in LATER:
        raise not_in_this_version(f"tuibench {command}")
    if command.startswith("-"):
        raise UsageError(f"unknown flag {show(command, 60)}", "flags stand after the command: tuibench benchmark MODEL")
    return _refuse_command(command)


def _refuse_command(command: str) -> NoReturn:
    if command and not command.endswith(".onnx") and "/" not in command and not command.startswith("sample"):
        raise UsageError(f"unknown command '{show(command, 60)}'", "tuibench --help lists them")
    model = show(command, 100) or "MODEL"
    raise UsageError("the dashboard is not in this version", f"tuibench benchmark {model} measures from the shell")


def _help(topic: Sequence[str]) -> Info | BenchmarkRequest | argparse.Namespace:
    if topic and not topic[0].startswith("-"):
        return parse([*topic[:1], "--help"])
    from tuibench.cli.help import root_help  # textwrap and the texts: 2 ms that no other command needs

    return Info(root_help())


def _parse_benchmark(argv: Sequence[str]) -> Info | BenchmarkRequest:
    if any(token in _HELP for token in argv[: argv.index("--") if "--" in argv else len(argv)]):
        from tuibench.cli.help import benchmark_help  # as above

        return Info(benchmark_help())
    models, fields = _split(argv)
    if "sample:?" in models:
        return Info(list_samples())
    if not models:
        raise UsageError("benchmark needs a model", "tuibench benchmark sample measures the built-in one")
    return BenchmarkRequest(models=tuple(models), **fields)


def _split(argv: Sequence[str]) -> tuple[list[str], dict[str, Any]]:
    models: list[str] = []
    fields: dict[str, Any] = {}
    rest = list(argv)
    while rest:
        token = rest.pop(0)
        if token == "--":
            return [*models, *rest], fields
        if not token.startswith("-") or token == "-":
            models.append(token)
            continue
        flag, name, attached = _find(token)
        if not flag.metavar:
            if attached is not None:
                raise UsageError(f"{name} takes no value")
            fields[flag.field] = True
            continue
        _store(fields, flag, flag.read(name, _value(name, attached, rest)))
    return models, fields


def _find(token: str) -> tuple[Flag, str, str | None]:
    """The flag that a token means, how it was typed, and the value attached to it."""
    name, equals, attached = token.partition("=")
    spelled = name.replace("_", "-")
    if spelled in _BY_NAME:
        return _BY_NAME[spelled], name, attached if equals else None
    if spelled in LATER_FLAGS:
        raise not_in_this_version(spelled)
    short = _BY_NAME.get(token[:2])
    if token.startswith("--") or short is None or not short.metavar or _looks_long(spelled) or not _fits(token):
        raise UsageError(f"unknown flag {show(name, 60)}", _suggest(spelled))
    return short, token[:2], token[2:]


def _fits(token: str) -> bool:
    """Whether what is attached to a letter can be its value: `-input_ids 3` is no shape for `-i`."""
    return not token.startswith("-i") or token[2:3] == "["


def _looks_long(spelled: str) -> bool:
    """Whether `-seq` or `-batch-size` means a longer flag rather than a letter with its value."""
    body = spelled.lstrip("-")
    words = [known.lstrip("-") for known in _BY_NAME if len(known.lstrip("-")) > 1]
    return len(body) > 2 and any(word.startswith(body) or body.startswith(word) for word in words)


def _suggest(spelled: str) -> str:
    import difflib  # 3 ms, and only on the way out

    close = [known for known in _BY_NAME if len(spelled) > 2 and known.lstrip("-").startswith(spelled.lstrip("-"))]
    close = close or difflib.get_close_matches(spelled, _BY_NAME, n=2)
    return f"did you mean {' or '.join(close[:3])}?" if close else "tuibench benchmark --help lists all"


def _value(name: str, attached: str | None, rest: list[str]) -> str:
    if attached is not None:
        return attached
    if not rest or rest[0] == "--" or _is_flag(rest[0]):
        raise UsageError(f"{name} needs a value", "tuibench benchmark --help says which")
    return rest.pop(0)


def _is_flag(token: str) -> bool:
    name = token.partition("=")[0].replace("_", "-")
    return name in _BY_NAME or name in LATER_FLAGS or name in _HELP


def _store(fields: dict[str, Any], flag: Flag, value: Any) -> None:
    if flag.many == "list" and flag.field in fields:
        fields[flag.field] = f"{fields[flag.field]},{value}"
    elif flag.many == "each":
        fields[flag.field] = (*fields.get(flag.field, ()), value)
    elif flag.field == "export_path" and flag.field in fields:
        raise UsageError("-x is given twice", "one run writes one file; --json prints to stdout besides")
    else:
        fields[flag.field] = value
