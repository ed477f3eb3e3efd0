"""Find the possible small faults in Python source: what tools/mutants.py picks from.

Only code inside functions is mutated. What is mutated: a comparison, `and`/`or`/`not`, a constant (numbers, booleans,
strings without a space), arithmetic, a condition (negated), a return value (None), a statement (deleted). Annotations,
decorators, f-strings and docstrings are left alone.
"""

from __future__ import annotations

import ast
import hashlib
from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class Mutant:
    """One fault, told by what it changes and not by where that stands."""

    id: str
    module: str
    """The path below the package, in the tree from which it was picked."""
    qualname: str
    kind: str
    statement: str
    """Normalised text of the statement."""
    occurrence: int
    """How many equal statements stand before it in the function."""
    number: int
    """Its place among the possible faults of the statement."""
    before: str
    after: str


@dataclass(frozen=True)
class Site:
    """A possible fault where it stands in a file."""

    mutant: Mutant
    path: str
    line: int
    start: int
    end: int
    """Offsets in bytes of what is replaced."""


def find_sites(source: str, module: str) -> list[Site]:
    """Return every possible fault in the functions of one file, in the order of the source."""
    starts = [0]
    for line in source.encode("utf-8").splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    found = []
    for qualname, function in functions_of(ast.parse(source)):
        seen: Counter[str] = Counter()
        for statement in _statements(function):
            text = normalised(statement)
            faults = enumerate(_faults(statement))
            for number, (kind, node, after) in faults:
                mutant = _name(module, qualname, kind, text, seen[text], number, ast.unparse(node), after)
                start = starts[node.lineno - 1] + node.col_offset
                end = starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)
                found.append(Site(mutant, module, node.lineno, start, end))
            seen[text] += 1
    return found


def functions_of(tree: ast.AST, prefix: str = "") -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Yield each function with its qualified name, nested ones too."""
    for node in ast.iter_child_nodes(tree):
        name = prefix
        if isinstance(node, _FUNCTIONS):
            name = f"{prefix}{node.name}"
            yield name, node
            name += "."
        elif isinstance(node, ast.ClassDef):
            name = f"{prefix}{node.name}."
        yield from functions_of(node, name)


def normalised(statement: ast.stmt) -> str:
    """Return the text of a statement without its layout; of a compound one the head alone."""
    head = deepcopy(statement)
    for name in ("body", "orelse", "finalbody", "handlers", "cases"):
        if isinstance(getattr(head, name, None), list):
            setattr(head, name, [ast.Pass()] if name == "body" else [])
    return ast.unparse(head)


def _name(
    module: str, qualname: str, kind: str, text: str, occurrence: int, number: int, before: str, after: str
) -> Mutant:
    parts = (module, qualname, kind, text, str(occurrence), str(number), after)
    digest = hashlib.sha256("\0".join(parts).encode("utf-8", "backslashreplace")).hexdigest()[:12]
    return Mutant(digest, module, qualname, kind, text, occurrence, number, before, after)


def _statements(node: ast.AST) -> Iterator[ast.stmt]:
    """Yield the statements of a function in order, without those of functions and classes in it."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (*_FUNCTIONS, ast.ClassDef, ast.Import, ast.ImportFrom)):
            continue
        if isinstance(child, ast.stmt):
            yield child
        yield from _statements(child)


def _faults(statement: ast.stmt) -> Iterator[tuple[str, ast.expr | ast.stmt, str]]:
    """Yield kind, node and new text of each possible fault of one statement."""
    if isinstance(statement, (ast.If, ast.While)):
        yield "condition", statement.test, f"(not ({ast.unparse(statement.test)}))"
    if isinstance(statement, ast.Return) and statement.value is not None and not _is_none(statement.value):
        yield "return", statement.value, "None"
    if _can_go(statement):
        yield "delete", statement, "pass"
    for node in _expressions(statement):
        yield from ((kind, node, after) for kind, after in _changes(node))


def _can_go(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Expr):
        return not isinstance(statement.value, ast.Constant)
    return isinstance(statement, (ast.Assign, ast.AugAssign, ast.Raise, ast.Continue, ast.Break, ast.Delete))


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _expressions(node: ast.AST) -> Iterator[ast.expr]:
    """Yield the expressions of a statement's head, without annotations and f-strings, whose places are not known."""
    for name, child in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        for each in child if isinstance(child, list) else [child]:
            if not isinstance(each, ast.AST) or isinstance(each, (ast.stmt, ast.JoinedStr, ast.excepthandler)):
                continue
            if isinstance(each, ast.match_case):
                continue
            if isinstance(each, ast.expr):
                yield each
            yield from _expressions(each)


_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
}


def _changes(node: ast.expr) -> Iterator[tuple[str, str]]:
    """Yield kind and new text of each fault of one expression itself."""
    changed: Any = deepcopy(node)
    if isinstance(node, ast.Compare):
        for number, operator in enumerate(node.ops):
            changed = deepcopy(node)
            changed.ops[number] = _COMPARISONS[type(operator)]()
            yield "comparison", f"({ast.unparse(changed)})"
    elif isinstance(node, ast.BoolOp):
        changed.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield "boolean", f"({ast.unparse(changed)})"
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield "boolean", f"({ast.unparse(node.operand)})"
    elif isinstance(node, ast.BinOp) and type(node.op) in _ARITHMETIC and not _is_of_text(node):
        changed.op = _ARITHMETIC[type(node.op)]()
        yield "arithmetic", f"({ast.unparse(changed)})"
    elif isinstance(node, ast.Constant):
        yield from _constants(node.value)


def _is_of_text(node: ast.BinOp) -> bool:
    sides = (node.left, node.right)
    return any(
        isinstance(side, ast.JoinedStr) or (isinstance(side, ast.Constant) and isinstance(side.value, (str, bytes)))
        for side in sides
    )


def _constants(value: object) -> Iterator[tuple[str, str]]:
    if isinstance(value, bool):
        yield "boolean", repr(not value)
    elif isinstance(value, (int, float)):
        yield "constant", repr(value + 1)
    elif isinstance(value, str) and " " not in value:
        yield "constant", repr(f"{value}X")
