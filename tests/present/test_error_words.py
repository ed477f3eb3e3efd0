"""Every reason and every error of the package has words, with the fields that they need."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from string import Formatter

import tuibench
from tuibench.core import errors as core_errors
from tuibench.core import reason as core_reason
from tuibench.present import reason as reason_module
from tuibench.present import store as store_module
from tuibench.present.comparison_reason import COMPARISON_WORDS
from tuibench.present.error.phrase import PHRASES
from tuibench.present.error.tables import HINTS, MESSAGES, TABLES
from tuibench.present.profile.reason import PROFILE_WORDS
from tuibench.present.reason import _WORDS
from tuibench.present.store import STORE_WORDS

TREES = {
    path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(Path(tuibench.__file__).parent.rglob("*.py"))
}
ERRORS = {name for name, kind in vars(core_errors).items() if isinstance(kind, type) and issubclass(kind, Exception)}


def errors() -> set[str]:
    """Return the names of all classes of errors."""
    found, classes = set(ERRORS), [n for tree in TREES.values() for n in ast.walk(tree) if isinstance(n, ast.ClassDef)]
    while new := {
        one.name for one in classes if found & {getattr(base, "id", "") for base in one.bases} and one.name not in found
    }:
        found |= new
    return found


def named(first: ast.expr, path: Path) -> Iterator[str]:
    """Yield the codes in an expression: literals, names of `core/reason.py` and of the module, either side of an if."""
    module = {
        target.id: node.value
        for node in TREES[path].body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for each in [first.body, first.orelse] if isinstance(first, ast.IfExp) else [first]:
        value = module.get(each.id, each) if isinstance(each, ast.Name) else each
        if isinstance(value, ast.Constant):
            yield str(value.value)
        elif isinstance(value, ast.Name):
            yield getattr(core_reason, value.id, "")


@dataclass(frozen=True)
class Made:
    """A reason or an error where it is made."""

    code: str
    fields: frozenset[str] | None
    """None if some are passed on with `**`."""
    is_error: bool
    place: str


def made() -> Iterator[Made]:
    """Yield every reason and error of the package."""
    kinds = errors()
    for path, tree in TREES.items():
        for node in ast.walk(tree):
            name = getattr(getattr(node, "func", None), "id", "")
            if not isinstance(node, ast.Call) or not node.args or name not in {"Reason", "because", "Unknown"} | kinds:
                continue
            fields = {keyword.arg for keyword in node.keywords}
            if name not in kinds and not (name == "because" and len(node.args) == 1):
                fields = {None}
            given = None if None in fields else frozenset(one for one in fields if one)
            for code in named(node.args[0], path):
                yield Made(code, given, name in kinds, f"{path.name}:{node.lineno}")


def test_every_code_has_words() -> None:
    assert {one.code for one in made()} <= _WORDS.keys() | {""}


def test_every_error_has_a_hint_or_none_on_purpose() -> None:
    assert {one.code for one in made() if one.is_error} <= HINTS.keys() | {""}


def test_hints_are_lower_case_without_a_full_stop_or_backticks() -> None:
    hints = {code: hint for code, hint in HINTS.items() if isinstance(hint, str)}
    assert not {code for code, hint in hints.items() if hint[:2].istitle() or hint.endswith(".") or "`" in hint}


def test_every_code_of_an_error_is_raised() -> None:
    tables = {path for path in TREES if path.parent.name == "error" or path == Path(store_module.__file__)}
    elsewhere = {
        node.value
        for path, tree in TREES.items()
        for node in ast.walk(tree)
        if path not in tables and isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    assert elsewhere >= HINTS.keys() | STORE_WORDS.keys()


def test_every_code_has_one_entry() -> None:
    assert sum(map(len, TABLES)) == len(MESSAGES)
    tree = ast.parse(Path(reason_module.__file__).read_text(encoding="utf-8"))
    tables = [node for node in ast.walk(tree) if isinstance(node, ast.Dict)]
    (table,) = (node for node in tables if None in node.keys)  # the one that takes in the others
    own = [key for key in table.keys if key is not None]
    assert len(own) + sum(map(len, (COMPARISON_WORDS, PROFILE_WORDS, STORE_WORDS, PHRASES, MESSAGES))) == len(_WORDS)


def test_templates_of_errors_name_given_fields() -> None:
    for one in made():
        for words in (MESSAGES.get(one.code), HINTS.get(one.code)):
            if isinstance(words, str) and one.fields is not None and one.is_error:
                wanted = {name.split("[")[0] for _, name, _, _ in Formatter().parse(words) if name}
                assert wanted <= one.fields, (one.place, one.code, wanted - one.fields)
