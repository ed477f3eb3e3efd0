"""Reads the command line of `tuibench profile`, and makes the flags that repeat a stored profile."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tuibench.core import benchmark_setting, profile_setting
from tuibench.core.errors import UsageError
from tuibench.core.profile_spec import LOSS, PERFORMANCE
from tuibench.core.spec import BenchmarkSpec
from tuibench.request.flag_reader import FlagReader
from tuibench.request.profile import ProfileValues, as_typed, profile_texts, stored_values
from tuibench.request.request import BenchmarkRequest

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
        what = "profile needs a model" if not models else "profile takes one model"
        raise UsageError(what, "tuibench profile sample profiles the built-in one")
    return to_request(models[0], given)


def to_request(model: str, given: Mapping[str, Any]) -> ProfileRequest:
    """Make the request from the typed fields."""
    fields_of = dict(given)
    page = {name: fields_of.pop(name) for name in tuple(fields_of) if name in _PAGE}
    own = {name: fields_of.pop(name) for name in tuple(fields_of) if name in _OWN}
    loss, flops = bool(own.get("loss")), bool(own.get("flops"))
    if loss and flops:
        raise UsageError("--flops and --loss exclude each other", "give one of them")
    typed = {
        one.name: fields_of.pop(one.name) for one in profile_setting.settings() if one.at and one.name in fields_of
    }
    values = ProfileValues(model=model, kind=LOSS if loss else PERFORMANCE, **typed)
    output = BenchmarkRequest(models=(model,), **fields_of)
    if page.get("layer") and output.json:
        raise UsageError("--layer and --json exclude each other", "the JSON has all that is known of every layer")
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
