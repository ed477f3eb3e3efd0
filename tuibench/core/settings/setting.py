"""One setting of a benchmark or a profile; flags, help, form, command, record and docs are made from it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from typing import Any

from tuibench.core.scenario import Scenario, own_settings
from tuibench.core.schema import Range
from tuibench.core.settings.kinds import Kind, text
from tuibench.core.spec import BenchmarkSpec, Effort, InputSettings, Limits, ProfileSpec
from tuibench.core.value import dataclass

NEVER, CHANGED, ALWAYS = "never", "changed", "always"
"""Values of `identity`: when a setting is part of a cell's identity; CHANGED: if it is not at its default."""
EFFORT = "effort"
"""Place in the specification of the six settings that make up one Effort."""
OPTIONS = "options"
SECTIONS: Mapping[str, Any] = {"inputs": InputSettings, "limits": Limits, "profile": ProfileSpec}


@dataclass(frozen=True, slots=True)
class Place:
    """A field of the benchmark form."""

    label: str
    width: int = 10
    """Columns; 0 uses the rest of the row."""
    empty: str = ""
    """Placeholder of an empty field: the default in words."""
    hint: str = ""
    beside: int = 0
    """Columns of a field that follows another one in its line; 0 for the first of a line."""


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
    """Reads the text and checks its range."""
    at: str = ""
    """Place in the specification, such as `limits.max_time_s` or `options.NAME`; '' if it is not part of it."""
    default: Any = None
    """Value in a request without this setting."""
    many: str = ""
    """'list' joins repeated values to one list, 'each' keeps them apart; otherwise the last one counts."""
    always_spelled: bool = False
    """True if the command that repeats a run spells it even at its default."""
    replaces: tuple[str, ...] = ()
    """Settings of a stored benchmark that this one replaces."""
    identity: str = NEVER
    """NEVER, CHANGED or ALWAYS; engine, scenario, cores and the like are fields of a cell's identity already.

    A setting that scenarios list in `Scenario.settings` identifies their cells, and no others, without this.
    """
    place: Place | None = None
    """Text field of the form; settings without one, such as most switches, are typed into its line of flags."""
    with_form: bool = False
    """True if the form accepts the flag although it is not part of the specification."""
    of: str = ""
    """The kind of profile that has this setting; '' for both."""
    once: str = ""
    """Code of the error if it is given twice; '' if that is allowed."""

    @property
    def flags(self) -> tuple[str, ...]:
        """Every spelling with its dashes."""
        return tuple(word for word in self.usage.split() if word.startswith("-"))

    @property
    def flag(self) -> str:
        """The spelling used in commands: the last one before the long name."""
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
        """True if the form accepts it in its line of further flags."""
        return self.place is None and (self.with_form or bool(self.at))

    def stored(self, spec: BenchmarkSpec) -> Any:
        """Return its value in a specification."""
        section, _, name = self.at.partition(".")
        found = getattr(spec, section)
        if section == OPTIONS:
            return found.get(name, self.default)
        return getattr(found, name) if name else found

    def words(self, value: Any, *, joined: bool = False) -> Iterator[str]:
        """Yield the words of a command that give it this value, with `joined` as `--flag=value`."""
        for one in value if self.many == "each" else (value,):
            if self.kind.is_switch:
                yield self.flag
            elif joined or self.kind.is_free:  # a separate word with a leading dash would be read as a flag
                yield f"{self.flag}={self.kind.spell(one)}"
            else:
                yield from (self.flag, self.kind.spell(one))


@dataclass(frozen=True, slots=True)
class Group:
    """Settings under one heading of the help."""

    title: str
    settings: tuple[Setting, ...]


def in_spec_order(settings: Iterable[Setting]) -> list[Setting]:
    """Return the settings that are part of a specification, in the order of its fields."""
    top = [one.name for one in fields(BenchmarkSpec)]

    def place(setting: Setting) -> tuple[float, int]:
        section, _, name = setting.at.partition(".")
        inner = [one.name for one in fields(SECTIONS[section])] if section in SECTIONS else []
        # Dims follow the other axes.
        return top.index(section) + 1.5 * (setting.many == "each"), inner.index(name) if name in inner else 0

    return sorted((one for one in settings if one.at), key=place)


def build_sections(settings: Iterable[Setting], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a BenchmarkSpec from values by name; an option at its default is omitted."""
    top: dict[str, Any] = {OPTIONS: {}}
    sections: dict[str, dict[str, Any]] = {}
    for setting in settings:
        if setting.name not in values:
            continue
        value = values[setting.name]
        section, _, name = setting.at.partition(".")
        if section in SECTIONS:
            sections.setdefault(section, {})[name] = value
        elif section != OPTIONS:
            top[section] = value
        elif value != setting.default:
            top[OPTIONS][name] = value
    return top | {name: SECTIONS[name](**found) for name, found in sections.items()}


def ranges_of(settings: Iterable[Setting]) -> dict[type, dict[str, Range]]:
    """Return the allowed range of each number in a specification, by class and field; options by their name."""
    found: dict[type, dict[str, Range]] = {kind: {} for kind in (BenchmarkSpec, Effort, *SECTIONS.values())}
    for setting in settings:
        section, _, name = setting.at.partition(".")
        if setting.at == EFFORT and setting.kind.bounds is not None:
            found[Effort][setting.name] = setting.kind.bounds
        elif setting.at and setting.kind.bounds is not None:
            found[SECTIONS.get(section, BenchmarkSpec)][name or section] = setting.kind.bounds
    return found


def identity_options(settings: Iterable[Setting], spec: BenchmarkSpec, scenario: Scenario) -> dict[str, str]:
    """Return the options that identify a cell of `spec`; a setting at its default adds nothing unless it is ALWAYS."""
    found: dict[str, str] = {}
    others = own_settings() - set(scenario.settings)
    for setting in in_spec_order(settings):
        identifies = setting.identity != NEVER or setting.name in scenario.settings
        value = setting.stored(spec) if identifies else setting.default
        if setting.identity == ALWAYS or (value != setting.default and setting.name not in others):
            found[setting.name] = setting.kind.spell(value)
    return found
