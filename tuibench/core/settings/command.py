"""Reads flags declared in a table, without argparse, which abbreviates flags and splits `-ncores` into letters."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any

from tuibench.core.errors import ExclusiveFlags, UsageError
from tuibench.core.settings import benchmark as benchmark_setting
from tuibench.core.settings import profile as profile_setting
from tuibench.core.settings.benchmark import LATER
from tuibench.core.settings.kinds import not_in_this_version, text
from tuibench.core.settings.request import (
    BenchmarkRequest,
    ProfileValues,
    as_typed,
    profile_texts,
    stored_values,
    to_values,
)
from tuibench.core.settings.setting import Setting
from tuibench.core.spec import LOSS, PERFORMANCE, BenchmarkSpec
from tuibench.core.value import dataclass

HELP = ("-h", "--help")
_NEAR = 0.7
"""Least likeness of a flag that is suggested for a misspelled one."""


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
                    raise UsageError("flag_takes_no_value", flag=name)
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
            raise UsageError(
                "unknown_flag", flag=name, similar=similar_flags(spelled, self._by_name), command=self._command
            )
        return short, token[:2], token[2:]

    def _looks_long(self, spelled: str) -> bool:
        """Return whether `-seq` or `-batch-size` is a misspelled long flag instead of a letter with its value."""
        body = spelled.lstrip("-")
        words = [known.lstrip("-") for known in self._by_name if len(known.lstrip("-")) > 1]
        return len(body) > 2 and any(word.startswith(body) or body.startswith(word) for word in words)

    def _value(self, name: str, attached: str | None, rest: list[str]) -> str:
        if attached is not None:
            return attached
        if not rest or rest[0] == "--" or self._is_flag(rest[0]):
            raise UsageError("flag_needs_value", flag=name, command=self._command)
        return rest.pop(0)

    def _is_flag(self, token: str) -> bool:
        name = token.partition("=")[0].replace("_", "-")
        return name in self._by_name or name in LATER or name in HELP


def similar_flags(typed: str, known: Iterable[str]) -> list[str]:
    """Return the known flags that begin with the name typed; without any, those that are spelled nearly so."""
    from difflib import SequenceMatcher  # 3 ms, needed for error messages only

    wanted = typed.partition("=")[0].lstrip("-").replace("_", "-")

    def nearness(name: str) -> float:
        # Also to the beginning: --bacth means --batch-size.
        return max(SequenceMatcher(None, wanted, one).ratio() for one in (name, name[: len(wanted)]))

    names = {flag: flag.lstrip("-") for flag in known}
    close = [flag for flag, name in names.items() if len(wanted) > 1 and name.startswith(wanted)]
    near = {flag: nearness(name) for flag, name in names.items()}
    return close[:3] or sorted((flag for flag in near if near[flag] >= _NEAR), key=lambda flag: -near[flag])[:2]


def _fits(token: str) -> bool:
    """Return whether the text attached to a letter can be its value: `-input_ids 3` is not a shape for `-i`."""
    return not token.startswith("-i") or token[2:3] == "["


def _store(fields: dict[str, Any], setting: Setting, value: Any) -> None:
    name = setting.name
    if setting.once and name in fields:
        raise UsageError(setting.once, flag=setting.flags[0])
    if setting.many == "list" and name in fields:
        value = f"{fields[name]},{value}"
    fields[name] = (*fields.get(name, ()), value) if setting.many == "each" else value


_PAGE = frozenset(setting.name for setting in profile_setting.PAGE)
_OWN = frozenset({"flops", "loss"})


@dataclass(frozen=True, slots=True)
class ProfileRequest:
    """One `tuibench profile` as typed."""

    values: ProfileValues
    output: BenchmarkRequest
    """The options for output, storage and queueing, which all measuring commands share."""
    flops: bool = False
    page: Mapping[str, Any] = field(default_factory=dict)
    """The typed values of `profile_setting.PAGE`, by name."""
    given: frozenset[str] = frozenset()
    """The names of all typed fields."""


def read_request(argv: Sequence[str]) -> ProfileRequest:
    """Read the words after `tuibench profile`; raise UsageError if they are invalid."""
    models, given = FlagReader(profile_setting.settings(), "profile", as_text=True).split(argv)
    if len(models) != 1:
        raise UsageError("profile_takes_one_model", count=len(models))
    return to_request(models[0], given)


def to_request(model: str, given: Mapping[str, Any]) -> ProfileRequest:
    """Make the request from the typed fields."""
    fields_of = dict(given)
    page = {name: fields_of.pop(name) for name in tuple(fields_of) if name in _PAGE}
    own = {name: fields_of.pop(name) for name in tuple(fields_of) if name in _OWN}
    loss, flops = bool(own.get("loss")), bool(own.get("flops"))
    if loss and flops:
        raise ExclusiveFlags("flags_exclude", first="--flops", second="--loss")
    typed = {
        one.name: fields_of.pop(one.name) for one in profile_setting.settings() if one.at and one.name in fields_of
    }
    values = ProfileValues(model=model, kind=LOSS if loss else PERFORMANCE, **typed)
    output = BenchmarkRequest(models=(model,), **fields_of)
    if page.get("layer") and output.json:
        raise ExclusiveFlags("layer_excludes_json", first="--layer", second="--json")
    return ProfileRequest(values, output, flops, page, frozenset(given))


def profile_words(spec: BenchmarkSpec) -> Iterator[str]:
    """Yield the flags of `tuibench profile` that spell every setting of `spec`."""
    for setting, value in stored_values(spec):
        yield from setting.words(value, joined=setting.flag.startswith("--"))


def recall_profile(spec: BenchmarkSpec, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a stored profile updated with `given`, which may use the setting names of a benchmark."""
    found = profile_texts(spec)
    known = profile_setting.by_name()
    at = {setting.at: setting for setting in known.values() if setting.at}
    for name, value in given.items():
        setting = known.get(name) or at[benchmark_setting.by_name()[name].at]
        is_text = isinstance(value, str) or not setting.at
        found[setting.name] = value if is_text else as_typed(setting, value)
    if "dims" in given:
        dims = {text.rpartition("=")[0]: text for text in (*profile_texts(spec).get("dims", ()), *given["dims"])}
        found["dims"] = tuple(dims.values())
    return found


def again(spec: BenchmarkSpec) -> str:
    """Return a shell line that reads back to an equal spec in the same directory on the same machine."""
    return shlex.join(command_words(spec, [source.asked for source in spec.models]))


def command_words(spec: BenchmarkSpec, models: Sequence[str]) -> list[str]:
    """Return the unquoted words of that line, with `models` as the names of the models."""
    if spec.profile is not None:
        name, flags = "profile", list(profile_words(spec))
    else:
        name, flags = "benchmark", list(benchmark_words(spec))
    # A model that looks like a flag must follow the flags.
    guarded = any(model.startswith("-") for model in models)
    return ["tuibench", name, *flags, "--", *models] if guarded else ["tuibench", name, *models, *flags]


def benchmark_words(spec: BenchmarkSpec) -> Iterator[str]:
    """Yield the flags of `tuibench benchmark` that spell every setting of `spec`."""
    known = benchmark_setting.by_name()
    for name, value in to_values(spec).items():
        yield from known[name].words(value)
