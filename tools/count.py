"""Count the source: sizes per package and of the tests, to compare trees of the project.

python tools/count.py [TREE] [--json]      TREE is a checkout; the one of this script by default

Each figure is counted as follows.

files           Python files below tuibench/; a package is the first directory below it, `.` the top level
lines           physical lines: newline characters
code_lines      lines that hold a token other than a comment or a docstring; every line of another string counts. A
                docstring is the first statement of a module, class or function; the string below an attribute is code
statements      `ast.stmt` nodes, docstrings too; a `def` is one and each statement in it another
inner_imports   statements inside functions that import a module of tuibench
riddles         docstrings whose first word is What, Whether, Of, Who, That or How

Of tests/ also:

tests           functions that begin with `test_`; a parametrized one counts once
asserts         assert statements
prose_asserts   asserts on an English sentence: the asserted expression (not the message behind the comma) has a
                string literal, possibly a part of an f-string, with a space and at least two runs of lower-case
                letters. Left out are literals that only name a thing to look up: a subscript and the arguments of a
                call. So `"3 runs were left" in done.err` counts, `cell["p50 ms"] == 3` does not
prose_share     prose_asserts / asserts
goldens         files below tests/goldens
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import re
import tokenize
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "tuibench"
RIDDLES = frozenset({"What", "Whether", "Of", "Who", "That", "How"})
_WORD = re.compile(r"[a-z]+")
_NO_CODE = frozenset(
    {
        *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT),
        *(tokenize.ENCODING, tokenize.ENDMARKER),
    }
)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass
class Counts:
    """The figures of some files."""

    files: int = 0
    lines: int = 0
    code_lines: int = 0
    statements: int = 0
    inner_imports: int = 0
    riddles: int = 0

    def add(self, other: Counts) -> None:
        """Add the figures of other files."""
        for each in fields(self):
            setattr(self, each.name, getattr(self, each.name) + getattr(other, each.name))


@dataclass
class TestCounts(Counts):
    """The figures of the tests."""

    tests: int = 0
    asserts: int = 0
    prose_asserts: int = 0


def count_source(source: str) -> Counts:
    """Count one file."""
    tree = ast.parse(source)
    docstrings = list(_docstrings(tree))
    return Counts(
        files=1,
        lines=source.count("\n"),
        code_lines=_count_code_lines(source, docstrings),
        statements=sum(isinstance(node, ast.stmt) for node in ast.walk(tree)),
        inner_imports=sum(1 for _ in _inner_imports(tree)),
        riddles=sum(_first_word(node) in RIDDLES for node in docstrings),
    )


def count_test(source: str) -> TestCounts:
    """Count one file of the tests."""
    nodes = list(ast.walk(ast.parse(source)))
    asserts = [node for node in nodes if isinstance(node, ast.Assert)]
    return TestCounts(
        **asdict(count_source(source)),
        tests=sum(isinstance(node, _FUNCTIONS) and node.name.startswith("test_") for node in nodes),
        asserts=len(asserts),
        prose_asserts=sum(is_on_prose(node.test) for node in asserts),
    )


def is_on_prose(asserted: ast.expr) -> bool:
    """Return whether an asserted expression holds an English sentence; the module's docstring says how it is told."""
    return any(" " in text and len(_WORD.findall(text)) >= 2 for text in _literals(asserted))


def _docstrings(tree: ast.AST) -> Iterator[ast.Constant]:
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, *_FUNCTIONS)) and node.body:
            first = node.body[0]
            value = first.value if isinstance(first, ast.Expr) else None
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                yield value


def _literals(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    for name, child in ast.iter_fields(node):
        looked_up = (isinstance(node, ast.Subscript) and name == "slice") or (
            isinstance(node, ast.Call) and name in ("args", "keywords")
        )
        if not looked_up:
            for each in child if isinstance(child, list) else [child]:
                if isinstance(each, ast.AST):
                    yield from _literals(each)


def _count_code_lines(source: str, docstrings: list[ast.Constant]) -> int:
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in _NO_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in docstrings:
        lines.difference_update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(lines)


def _inner_imports(tree: ast.AST) -> Iterator[ast.stmt]:
    functions = [node for node in ast.walk(tree) if isinstance(node, _FUNCTIONS)]
    found = {node for function in functions for node in ast.walk(function) if _is_own_import(node)}
    yield from (node for node in found if isinstance(node, ast.stmt))


def _is_own_import(node: ast.AST) -> bool:
    if isinstance(node, ast.ImportFrom):
        return (node.module or "").split(".")[0] == PACKAGE
    return isinstance(node, ast.Import) and any(each.name.split(".")[0] == PACKAGE for each in node.names)


def _first_word(docstring: ast.Constant) -> str:
    words = str(docstring.value).split()
    return words[0].rstrip(",:") if words else ""


def count_tree(root: Path) -> dict[str, dict[str, float]]:
    """Count every package, the package as a whole ("total") and the tests ("tests")."""
    packages: dict[str, Counts] = {}
    total = Counts()
    for path in sorted((root / PACKAGE).rglob("*.py")):
        parts = path.relative_to(root / PACKAGE).parts
        counts = count_source(path.read_text(encoding="utf-8"))
        packages.setdefault(parts[0] if len(parts) > 1 else ".", Counts()).add(counts)
        total.add(counts)
    tests = TestCounts()
    for path in sorted((root / "tests").rglob("*.py")):
        tests.add(count_test(path.read_text(encoding="utf-8")))
    goldens = sum(path.is_file() for path in (root / "tests" / "goldens").rglob("*"))
    share = round(tests.prose_asserts / tests.asserts, 3) if tests.asserts else 0.0
    return {
        **{name: asdict(packages[name]) for name in sorted(packages)},
        "total": asdict(total),
        "tests": {**asdict(tests), "prose_share": share, "goldens": goldens},
    }


def main() -> None:
    """Print the figures of a tree."""
    parser = argparse.ArgumentParser(description="Count the source of a tree.")
    parser.add_argument("tree", nargs="?", type=Path, default=ROOT)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    counted = count_tree(arguments.tree)
    if arguments.json:
        print(json.dumps(counted, indent=1))
        return
    columns = [each.name for each in fields(Counts)]
    print(f"{'':12}" + "".join(f"{name:>14}" for name in columns))
    for name, figures in counted.items():
        print(f"{name:12}" + "".join(f"{figures[column]:>14,}" for column in columns))
    print("tests: " + ", ".join(f"{name} {value:,}" for name, value in counted["tests"].items() if name not in columns))


if __name__ == "__main__":
    main()
