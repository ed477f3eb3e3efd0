"""Reads flags declared in a table, without argparse, which abbreviates flags and splits `-ncores` into letters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from tuibench.core.benchmark_setting import LATER
from tuibench.core.errors import UsageError
from tuibench.core.setting import Setting
from tuibench.core.text import show
from tuibench.core.value import not_in_this_version, text

HELP = ("-h", "--help")


class FlagReader:
    """Parser for the flags of some settings; with `as_text` values of a specification stay text."""

    def __init__(self, settings: Iterable[Setting], command: str = "benchmark", *, as_text: bool = False) -> None:
        self._command = command
        self._as_text = as_text
        self._by_name = {flag.replace("_", "-"): setting for setting in settings for flag in setting.flags}

    def split(self, argv: Sequence[str]) -> tuple[list[str], dict[str, Any]]:
        """Return the positional words, and the values of flags by setting name."""
        words: list[str] = []
        fields: dict[str, Any] = {}
        rest = list(argv)
        while rest:
            token = rest.pop(0)
            if token == "--":
                return [*words, *rest], fields
            if not token.startswith("-") or token == "-":
                words.append(token)
                continue
            setting, name, attached = self._find(token)
            if setting.kind.is_switch:
                if attached is not None:
                    raise UsageError(f"{name} takes no value")
                fields[setting.name] = True
                continue
            kind = text if setting.at and (self._as_text or setting.many) else setting.kind
            _store(fields, setting, kind(name, self._value(name, attached, rest)))
        return words, fields

    def _find(self, token: str) -> tuple[Setting, str, str | None]:
        """Return the setting of a flag, the flag as typed, and the value attached to it."""
        name, equals, attached = token.partition("=")
        spelled = name.replace("_", "-")
        if spelled in self._by_name:
            return self._by_name[spelled], name, attached if equals else None
        if spelled in LATER:
            raise not_in_this_version(spelled)
        short = self._by_name.get(token[:2])
        if (
            token.startswith("--")
            or short is None
            or short.kind.is_switch
            or self._looks_long(spelled)
            or not _fits(token)
        ):
            raise UsageError(f"unknown flag {show(name, 60)}", self._suggest(spelled))
        return short, token[:2], token[2:]

    def _looks_long(self, spelled: str) -> bool:
        """Return whether `-seq` or `-batch-size` is a misspelled long flag instead of a letter with its value."""
        body = spelled.lstrip("-")
        words = [known.lstrip("-") for known in self._by_name if len(known.lstrip("-")) > 1]
        return len(body) > 2 and any(word.startswith(body) or body.startswith(word) for word in words)

    def _suggest(self, spelled: str) -> str:
        import difflib  # 3 ms, needed for error messages only

        close = [
            known for known in self._by_name if len(spelled) > 2 and known.lstrip("-").startswith(spelled.lstrip("-"))
        ]
        close = close or difflib.get_close_matches(spelled, self._by_name, n=2)
        return f"did you mean {' or '.join(close[:3])}?" if close else f"tuibench {self._command} --help lists all"

    def _value(self, name: str, attached: str | None, rest: list[str]) -> str:
        if attached is not None:
            return attached
        if not rest or rest[0] == "--" or self._is_flag(rest[0]):
            raise UsageError(f"{name} needs a value", f"tuibench {self._command} --help says which")
        return rest.pop(0)

    def _is_flag(self, token: str) -> bool:
        name = token.partition("=")[0].replace("_", "-")
        return name in self._by_name or name in LATER or name in HELP


def _fits(token: str) -> bool:
    """Return whether the text attached to a letter can be its value: `-input_ids 3` is no shape for `-i`."""
    return not token.startswith("-i") or token[2:3] == "["


def _store(fields: dict[str, Any], setting: Setting, value: Any) -> None:
    name = setting.name
    if setting.once and name in fields:
        raise UsageError(f"{setting.flags[0]} is given twice", setting.once)
    if setting.many == "list" and name in fields:
        value = f"{fields[name]},{value}"
    fields[name] = (*fields.get(name, ()), value) if setting.many == "each" else value
