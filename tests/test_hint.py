"""Every command in a message, hint or help text of the package is accepted by the shell."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tuibench.cli.arguments import parse
from tuibench.cli.command import COMMANDS
from tuibench.core.errors import UsageError
from tuibench.present.error.tables import HINTS, MESSAGES
from tuibench.present.error.words import message_words

PACKAGE = Path(__file__).resolve().parent.parent / "tuibench"
UNKNOWN = "\x00"
"""Replaces interpolated parts of an f-string, and fields of a template."""
FIELD = re.compile(r"\{\w+(:[^{}]*(\{\w+\}[^{}]*)?)?\}")
PROSE = frozenset({"that", "again", "anew", "runs", "in", "or"})
"""Words that follow the product's name in prose."""
ACTIONS = {"store": {"check", "migrate"}, "trash": {"list", "restore", "empty"}}
ACTIONS["engines"] = {"list", "install", "download", "test", "remove"}
ACTIONS["project"] = {"list", "show", "new", "edit", "copy", "remove"}
INCOMPLETE = re.compile(r"required|needs (a|the)")
"""Parser errors of a command that is named without its arguments."""
ARGUMENT = re.compile(rf"-.*|[A-Z]+(\.\w+)?|{UNKNOWN}|.*\d.*|.*\.onnx|\[.*\]|\.\.\.\]")


def texts(tree: ast.Module) -> Iterator[str]:
    """Yield every string that is no docstring, with UNKNOWN for interpolated parts and fields."""
    nodes = list(ast.walk(tree))
    bodies = [n.body for n in nodes if isinstance(n, ast.Module | ast.ClassDef | ast.FunctionDef)]
    beside = {id(line.value) for body in bodies for line in body if isinstance(line, ast.Expr)}
    for node in nodes:
        if isinstance(node, ast.JoinedStr):
            beside |= {id(one) for one in node.values}
            yield "".join(str(one.value) if isinstance(one, ast.Constant) else UNKNOWN for one in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in beside:
            yield FIELD.sub(UNKNOWN, node.value)


def commands(text: str) -> Iterator[list[str]]:
    """Yield the words of each command in a text, up to where the sentence continues."""
    for found in re.finditer(r"tuibench ([^`\n,;:()]+)", text):
        words = found[1].split("  ")[0].rstrip(". ").split()
        if not words or words[0] in PROSE or (words[0] == UNKNOWN and len(words) == 1):
            continue
        name = {UNKNOWN: "list", "COMMAND": "list", "PATH": "sample"}.get(words[0], words[0])
        rest = words[1:]
        taken = [name]
        if name in ACTIONS and rest and not ARGUMENT.fullmatch(rest[0]):
            taken.append(rest.pop(0))
        for word in rest:
            if not ARGUMENT.fullmatch(word):
                break
            taken += [] if word.startswith("[") or word.endswith("]") else [word.replace(UNKNOWN, "7")]
        yield taken


def refusal(words: list[str]) -> str:
    """Return the shell's error for a command; '' if it is accepted, or would be when complete."""
    try:
        parse(words)
    except UsageError as error:
        return "" if INCOMPLETE.search(message_words(error)) else message_words(error)
    return ""


def named() -> list[tuple[str, list[str]]]:
    """Return every command with the module that names it, or with the code of the error."""
    sources = [
        (path.relative_to(PACKAGE).as_posix(), words)
        for path in sorted(PACKAGE.rglob("*.py"))
        if b"tuibench " in (source := path.read_bytes())
        for text in texts(ast.parse(source))
        for words in commands(text)
    ]
    # As they are in the tables: a template may be joined from several strings of the source.
    templates = [
        (code, words)
        for code, text in (*MESSAGES.items(), *HINTS.items())
        if isinstance(text, str)
        for words in commands(FIELD.sub(UNKNOWN, text))
    ]
    return sources + templates


def test_every_named_command_can_be_typed() -> None:
    every = named()
    assert len(every) > 60 and {words[0] for _, words in every} > set(COMMANDS) - {"doctor", "edit", "import", "show"}
    assert [(where, " ".join(words), why) for where, words in every if (why := refusal(words))] == []


def test_commands_in_templates_of_errors_are_read() -> None:
    found = [words for code, words in named() if code == "compared_with_itself"]
    assert found == [["show", "7"]]


@pytest.mark.parametrize(
    "text",
    [
        "Make room, or empty the trash with `tuibench trash --empty`.",
        "tuibench trash drop deletes it",
        "tuibench purge deletes it",
        "tuibench resume ID --force goes on",
        "`tuibench store chekc --repair` mends it",
    ],
)
def test_missing_command_would_be_found(text: str) -> None:
    assert [why for words in commands(text) if (why := refusal(words))]
