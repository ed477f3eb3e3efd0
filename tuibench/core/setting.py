"""One setting of a benchmark or a profile; flags, help, form, command, record and docs are made from it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any

from tuibench.core.profile_spec import ProfileSpec
from tuibench.core.spec import BenchmarkSpec, InputSettings, Limits
from tuibench.core.value import Kind, text

NEVER, CHANGED, ALWAYS = "never", "changed", "always"
"""When a setting stands among the options that identify a cell; CHANGED: when it is not at its default."""
EFFORT = "effort"
"""Place in the specification of the six settings that make up one Effort."""
_OPTIONS = "options"
_SECTIONS: Mapping[str, Any] = {"inputs": InputSettings, "limits": Limits, "profile": ProfileSpec}


@dataclass(frozen=True, slots=True)
class Place:
    """A field of the benchmark form."""

    label: str
    width: int = 10
    """Columns; 0 takes what the row leaves."""
    empty: str = ""
    """Shown in an empty field: the default in words."""
    hint: str = ""
    beside: int = 0
    """Columns of a field behind another one in the same line; 0 for the first of a line."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting. A record without it has the default: a setting at its default adds nothing to `options`."""

    name: str
    usage: str
    """The spellings of its flag, then the name of its value; a switch has none."""
    help: str
    default_words: str = ""
    """The default as the help shows it."""
    kind: Kind = text
    """Reads the text with its range."""
    at: str = ""
    """Place in the specification, such as `limits.max_time_s` or `options.NAME`; '' for what is no part of it."""
    default: Any = None
    """In a request that does not have it."""
    many: str = ""
    """'list' joins repeated values to one list, 'each' keeps them apart; otherwise the last one counts."""
    always_spelled: bool = False
    """The command that repeats a run has it even at its default."""
    replaces: tuple[str, ...] = ()
    """Settings of a stored benchmark that giving this one removes."""
    identity: str = NEVER
    """NEVER, CHANGED or ALWAYS; engine, scenario, cores and the like are fields of a cell's identity themselves."""
    needs_streams: bool = False
    """Part of the identity only in scenarios with streams."""
    place: Place | None = None
    """Field of the form, which takes a text; settings without one, as most switches, are kept in its line of flags."""
    with_form: bool = False
    """The form takes the flag although it is no part of the specification."""
    of: str = ""
    """The kind of profile that has it alone; '' where both have it."""
    once: str = ""
    """Hint of the error where it is given twice; '' where that is allowed."""

    @property
    def flags(self) -> tuple[str, ...]:
        """Every spelling with its dashes."""
        return tuple(word for word in self.usage.split() if word.startswith("-"))

    @property
    def flag(self) -> str:
        """The spelling in commands: the last one before the long name."""
        return self.flags[max(len(self.flags) - 2, 0)]

    @property
    def help_text(self) -> str:
        """Its help, with the default in brackets."""
        return f"{self.help} [{self.default_words}]" if self.default_words else self.help

    @property
    def metavar(self) -> str:
        """Name of its value; '' for a switch."""
        last = self.usage.split()[-1]
        return "" if last.startswith("-") else last

    @property
    def is_further(self) -> bool:
        """Whether the form takes it in its line of further flags."""
        return self.place is None and (self.with_form or bool(self.at))

    def stored(self, spec: BenchmarkSpec) -> Any:
        """Return its value in a specification."""
        section, _, name = self.at.partition(".")
        found = getattr(spec, section)
        if section == _OPTIONS:
            return found.get(name, self.default)
        return getattr(found, name) if name else found

    def words(self, value: Any, *, joined: bool = False) -> Iterator[str]:
        """Yield the words of a command that give it this value, with `joined` as `--flag=value`."""
        for one in value if self.many == "each" else (value,):
            if self.kind.is_switch:
                yield self.flag
            elif joined or self.kind.is_free:  # a text with a dash in front would be taken for a flag
                yield f"{self.flag}={self.kind.spell(one)}"
            else:
                yield from (self.flag, self.kind.spell(one))


@dataclass(frozen=True, slots=True)
class Group:
    """Settings under one heading of the help."""

    title: str
    settings: tuple[Setting, ...]


def in_spec_order(settings: Iterable[Setting]) -> list[Setting]:
    """Return those that are part of a specification, in the order of its fields."""
    top = [one.name for one in fields(BenchmarkSpec)]

    def place(setting: Setting) -> tuple[float, int]:
        section, _, name = setting.at.partition(".")
        inner = [one.name for one in fields(_SECTIONS[section])] if section in _SECTIONS else []
        # The flag of each dim follows the other axes.
        return top.index(section) + 1.5 * (setting.many == "each"), inner.index(name) if name in inner else 0

    return sorted((one for one in settings if one.at), key=place)


def build_sections(settings: Iterable[Setting], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a BenchmarkSpec for settled values by name; an option at its default is left out."""
    top: dict[str, Any] = {_OPTIONS: {}}
    sections: dict[str, dict[str, Any]] = {}
    for setting in settings:
        if setting.name not in values:
            continue
        value = values[setting.name]
        section, _, name = setting.at.partition(".")
        if section in _SECTIONS:
            sections.setdefault(section, {})[name] = value
        elif section != _OPTIONS:
            top[section] = value
        elif value != setting.default:
            top[_OPTIONS][name] = value
    return top | {name: _SECTIONS[name](**found) for name, found in sections.items()}


def identity_options(settings: Iterable[Setting], spec: BenchmarkSpec, *, has_streams: bool) -> dict[str, str]:
    """Return the options that identify a cell of `spec`; a setting at its default adds nothing unless it is ALWAYS."""
    found: dict[str, str] = {}
    for setting in in_spec_order(settings):
        value = setting.stored(spec) if setting.identity != NEVER else setting.default
        if setting.identity == ALWAYS or (value != setting.default and (has_streams or not setting.needs_streams)):
            found[setting.name] = setting.kind.spell(value)
    return found
