"""Every command that a message, hint or help text of the package names is one that the shell takes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tuibench.cli.arguments import parse
from tuibench.cli.command import COMMANDS
from tuibench.core.errors import UsageError

PACKAGE = Path(__file__).resolve().parent.parent / "tuibench"
UNKNOWN = "\x00"
"""What an f-string puts in when it is used."""
PROSE = frozenset({"that", "again", "anew", "runs"})
"""What follows the name of the product where no command is meant."""
ACTIONS = {"store": {"check", "migrate"}, "trash": {"list", "restore", "empty"}}
ACTIONS["project"] = {"list", "show", "new", "edit", "copy", "remove"}
INCOMPLETE = re.compile(r"required|needs (a|the)")
"""What the parser says of a command whose name alone is mentioned."""
ARGUMENT = re.compile(rf"-.*|[A-Z]+(\.\w+)?|{UNKNOWN}|.*\d.*|.*\.onnx|\[.*\]|\.\.\.\]")


def texts(tree: ast.Module) -> Iterator[str]:
    """Every string that is more than a docstring, with UNKNOWN for what is filled in."""
    bodies = [n.body for n in ast.walk(tree) if isinstance(n, ast.Module | ast.ClassDef | ast.FunctionDef)]
    beside = {id(line.value) for body in bodies for line in body if isinstance(line, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            beside |= {id(one) for one in node.values}
            yield "".join(str(one.value) if isinstance(one, ast.Constant) else UNKNOWN for one in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in beside:
            yield node.value


def commands(text: str) -> Iterator[list[str]]:
    """The words of each command that a text names, up to where its own words go on."""
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
    """Why the shell does not take a command; '' where it does, or would with the rest of it."""
    try:
        parse(words)
    except UsageError as error:
        return "" if INCOMPLETE.search(error.message) else error.message
    return ""


def named() -> list[tuple[str, list[str]]]:
    """Every command with the module that names it."""
    return [
        (path.relative_to(PACKAGE).as_posix(), words)
        for path in sorted(PACKAGE.rglob("*.py"))
        for text in texts(ast.parse(path.read_bytes()))
        for words in commands(text)
    ]


def test_every_command_that_is_named_anywhere_can_be_typed() -> None:
    every = named()
    assert len(every) > 60 and {words[0] for _, words in every} > set(COMMANDS) - {"doctor", "edit", "import", "show"}
    assert [(where, " ".join(words), why) for where, words in every if (why := refusal(words))] == []


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
def test_a_command_that_does_not_exist_would_be_found(text: str) -> None:
    assert [why for words in commands(text) if (why := refusal(words))]
