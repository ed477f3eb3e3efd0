"""Move and merge modules by a plan, and rewrite every import of them; needed only while the rooms are rebuilt.

A plan is a text file with a line `target: source [source ...]` per new module, in dotted names in the package.
One source is a move; several are merged in the order of their dependencies. Private names that clash get the name of
their module. Run it from the root of the repository, then `ruff check --fix` and `ruff format`.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

TREES = ("tuibench", "tests", "tools")
TEST_FOLDERS = {
    "arrays": "worker",
    "measure": "worker",
    "models": "model",
    "profiles": "model.profile",
    "profiles.loss": "model.loss",
    "fetch": "model.download",
    "intake": "model.imports",
    "insight": "present.profile",
    "plots": "present.plots",
    "report": "present",
    "request": "core.settings",
    "workbench": "services",
}
"""Folders of tests before and after."""


@dataclass
class Module:
    """One source file taken apart."""

    name: str
    path: Path
    text: str
    tree: ast.Module
    renamed: dict[str, str] = field(default_factory=dict)

    @property
    def names(self) -> set[str]:
        """Names that the body binds at the top level."""
        found: set[str] = set()
        for node in body_of(self.tree):
            found |= set(bound(node))
        return found


def bound(node: ast.stmt) -> Iterator[str]:
    """Names that a statement binds."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield node.name
    elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        for target in targets:
            for name in ast.walk(target):
                if isinstance(name, ast.Name):
                    yield name.id
    elif isinstance(node, (ast.If, ast.Try, ast.With, ast.For)):
        for inner in ast.iter_child_nodes(node):
            if isinstance(inner, ast.stmt):
                yield from bound(inner)


def is_docstring(node: ast.stmt) -> bool:
    """True for a bare string."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def is_checking(node: ast.stmt) -> bool:
    """True for `if TYPE_CHECKING:`."""
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def body_of(tree: ast.Module) -> list[ast.stmt]:
    """Statements behind docstring and imports; later imports at the top level count as imports, too."""
    nodes = tree.body[1:] if tree.body and is_docstring(tree.body[0]) else tree.body
    return [n for n in nodes if not isinstance(n, (ast.Import, ast.ImportFrom)) and not is_checking(n)]


def source_of(module: Module) -> str:
    """The body as text, comments and blank lines included."""
    lines = module.text.splitlines(keepends=True)
    drop = [False] * len(lines)
    nodes = module.tree.body
    if nodes and is_docstring(nodes[0]):
        mark(drop, nodes[0])
    for node in nodes:
        if isinstance(node, (ast.Import, ast.ImportFrom)) or is_checking(node):
            mark(drop, node)
    return "".join(line for line, gone in zip(lines, drop, strict=True) if not gone).strip("\n") + "\n"


def mark(drop: list[bool], node: ast.stmt) -> None:
    """Mark the lines of a statement."""
    for line in range(node.lineno - 1, node.end_lineno or node.lineno):
        drop[line] = True


def imports_of(module: Module) -> tuple[list[ast.stmt], list[ast.stmt]]:
    """Imports for run time, and those that only types need."""
    real: list[ast.stmt] = []
    typed: list[ast.stmt] = []
    for node in module.tree.body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            if not (isinstance(node, ast.ImportFrom) and node.module == "__future__"):
                real.append(node)
        elif is_checking(node):
            typed += [n for n in node.body if isinstance(n, (ast.Import, ast.ImportFrom))]  # type: ignore[attr-defined]
    return real, typed


def rename_in(text: str, renamed: dict[str, str]) -> str:
    """Replace names that are no attributes and no keywords of a call."""
    if not renamed:
        return text
    pattern = re.compile(r"(?<![\w.])(" + "|".join(map(re.escape, renamed)) + r")\b(?!\s*=(?!=)[^\n]*[,)]$)")
    return pattern.sub(lambda m: renamed[m[1]], text)


def read_plan(path: Path) -> dict[str, list[str]]:
    """Target -> sources."""
    plan: dict[str, list[str]] = {}
    for line in path.read_text().splitlines():
        target, colon, sources = line.partition("#")[0].partition(":")
        if colon:
            plan[target.strip()] = sources.split()
    return plan


def path_of(name: str) -> Path:
    """File of a module below the package."""
    return Path("tuibench", *name.split(".")).with_suffix(".py")


def order(modules: list[Module]) -> list[Module]:
    """Dependencies first, else as given."""
    by_name = {f"tuibench.{m.name}": m for m in modules}
    done: list[Module] = []
    seen: set[str] = set()

    def visit(module: Module) -> None:
        if module.name in seen:
            return
        seen.add(module.name)
        for node in imports_of(module)[0]:
            if isinstance(node, ast.ImportFrom) and node.module in by_name:
                visit(by_name[node.module])
        done.append(module)

    for module in modules:
        visit(module)
    return done


def settle_clashes(modules: list[Module]) -> None:
    """Give clashing private names the name of their module; equal definitions are kept once."""
    taken: dict[str, str] = {}
    foreign = {name for m in modules for name in imported_names(m)}
    for module in modules:
        for node in body_of(module.tree):
            for name in bound(node):
                text = ast.get_source_segment(module.text, node) or ""
                if name in taken and taken[name] == text and not isinstance(node, ast.ClassDef):
                    module.renamed[name] = name  # kept once: see merged_body
                elif name in taken or (name in foreign and name not in internal_names(modules)):
                    if not name.startswith("_") and name in taken:
                        print(f"CLASH public {name}: {module.name}", file=sys.stderr)
                    stem = module.name.rpartition(".")[2]
                    prefix = stem.upper() if name.isupper() else stem
                    fresh = f"_{prefix}_{name.removeprefix('_')}"
                    module.renamed[name] = fresh
                    taken[fresh] = text
                else:
                    taken[name] = text


def internal_names(modules: list[Module]) -> set[str]:
    """Names that one merged module imports from another."""
    inside = {f"tuibench.{m.name}" for m in modules}
    found: set[str] = set()
    for m in modules:
        for node in ast.walk(m.tree):
            if isinstance(node, ast.ImportFrom) and node.module in inside:
                found |= {a.asname or a.name for a in node.names}
    return found


def imported_names(module: Module) -> set[str]:
    """Names that its imports bind at the top level."""
    found: set[str] = set()
    for nodes in imports_of(module):
        for node in nodes:
            for alias in node.names:  # type: ignore[attr-defined]
                found.add((alias.asname or alias.name).partition(".")[0])
    return found


def merged(modules: list[Module]) -> str:
    """Text of the merged module."""
    inside = {f"tuibench.{m.name}" for m in modules}
    settle_clashes(modules)
    real: list[str] = []
    typed: list[str] = []
    bodies: list[str] = []
    kept: set[str] = set()
    for module in modules:
        for nodes, out in zip(imports_of(module), (real, typed), strict=True):
            for node in nodes:
                if isinstance(node, ast.ImportFrom) and node.module in inside:
                    for alias in node.names:
                        if alias.asname:
                            print(f"ALIAS {alias.asname} in {module.name}", file=sys.stderr)
                    continue
                if isinstance(node, ast.ImportFrom) and any(f"{node.module}.{a.name}" in inside for a in node.names):
                    print(f"NAMESPACE import in {module.name}: {ast.unparse(node)}", file=sys.stderr)
                out.append(ast.get_source_segment(module.text, node) or ast.unparse(node))
        text = source_of(module)
        text = drop_inner_imports(text, inside)
        twice = [n for n, new in module.renamed.items() if n == new]
        text = drop_definitions(text, [n for n in twice if n in kept])
        text = rename_in(text, {n: new for n, new in module.renamed.items() if n != new})
        kept |= module.names
        bodies.append(text)
    doc = ast.get_docstring(modules_by_weight(modules).tree, clean=False) or ""
    head = [f'"""{doc}"""', "", "from __future__ import annotations", "", *real]
    if typed:
        head += ["from typing import TYPE_CHECKING", "", "if TYPE_CHECKING:"]
        for block in typed:
            head += ["    " + line for line in textwrap_dedent(block)]
    return "\n".join([*head, "", "", *("\n" + b for b in bodies)]) + "\n"


def textwrap_dedent(block: str) -> list[str]:
    """Lines of an import, the first of which has lost its indent."""
    lines = block.splitlines()
    return [lines[0], *(line.removeprefix("    ") for line in lines[1:])]


def modules_by_weight(modules: list[Module]) -> Module:
    """The largest, whose docstring the merged module keeps."""
    return max(modules, key=lambda m: len(m.text))


def drop_inner_imports(text: str, inside: set[str]) -> str:
    """Remove imports inside functions of what lies in the same module now."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return text
    lines = text.splitlines(keepends=True)
    for parent in ast.walk(tree):
        for block in ("body", "orelse", "finalbody"):
            statements = getattr(parent, block, None)
            if not isinstance(statements, list):
                continue
            for node in statements:
                if isinstance(node, ast.ImportFrom) and node.module in inside and node.col_offset:
                    for i in range(node.lineno - 1, node.end_lineno or node.lineno):
                        lines[i] = ""
                    if len(statements) == 1:
                        lines[node.lineno - 1] = " " * node.col_offset + "pass\n"
    return "".join(lines)


def drop_definitions(text: str, names: list[str]) -> str:
    """Remove definitions that an earlier part of the module has."""
    if not names:
        return text
    tree = ast.parse(text)
    lines = text.splitlines(keepends=True)
    for node in tree.body:
        found = set(bound(node))
        if found and found <= set(names):
            first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
            for i in range(first - 1, node.end_lineno or node.lineno):
                lines[i] = ""
    return "".join(lines)


def split_namespaces(text: str, moved: dict[str, str]) -> str:
    """Give each imported module that has moved an import of its own; its local name stays."""
    lines = text.splitlines(keepends=True)
    nodes = [n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.ImportFrom) and n.module]
    for node in sorted(nodes, key=lambda n: -n.lineno):
        room = (node.module or "").removeprefix("tuibench").removeprefix(".")
        if not (node.module or "").startswith("tuibench"):
            continue
        gone = [a for a in node.names if f"{room}.{a.name}".removeprefix(".") in moved]
        if not gone:
            continue
        indent = " " * node.col_offset
        made = []
        stay = [a for a in node.names if a not in gone]
        if stay:
            made.append(f"from {node.module} import ({', '.join(map(ast.unparse, stay))})")
        for alias in gone:
            parent, _, stem = moved[f"{room}.{alias.name}".removeprefix(".")].rpartition(".")
            local = alias.asname or alias.name
            made.append(f"from tuibench.{parent} import {stem}" + (f" as {local}" if local != stem else ""))
        last = lines[(node.end_lineno or node.lineno) - 1]
        comment = re.search(r"  # .*", last)
        made[0] += comment[0].rstrip("\n") if comment and node.lineno == node.end_lineno else ""
        lines[node.lineno - 1 : node.end_lineno] = [f"{indent}{line}\n" for line in made]
    return "".join(lines)


def rewrite(files: Iterable[Path], moved: dict[str, str]) -> None:
    """Let every import and every dotted name point at the new modules."""
    longest_first = "|".join(re.escape(name) for name in sorted(moved, key=len, reverse=True))
    pattern = re.compile(rf"\btuibench\.({longest_first})\b(?!\.?\w*\.py)")
    folders = "|".join(sorted(TEST_FOLDERS, key=len, reverse=True))
    for file in files:
        text = old = file.read_text(encoding="utf-8")
        text = split_namespaces(text, moved)
        text = pattern.sub(lambda m: f"tuibench.{moved[m[1]]}", text).replace("tuibench.", "tuibench.")
        text = re.sub(
            r'(?<=")tuibench/([a-z_0-9/]+)\.py(?=")',
            lambda m: f"tuibench/{moved.get(m[1].replace('/', '.'), m[1].replace('/', '.')).replace('.', '/')}.py",
            text,
        )
        text = re.sub(rf"\btests\.({folders})(?=\.| import)", lambda m: f"tests.{TEST_FOLDERS[m[1]]}", text)
        if text != old:
            file.write_text(text, encoding="utf-8")


def move_tests() -> None:
    """Let the folders of tests mirror the rooms."""
    for old, new in sorted(TEST_FOLDERS.items(), key=lambda each: -each[0].count(".")):
        source, target = Path("tests", *old.split(".")), Path("tests", *new.split("."))
        if not source.exists():
            continue
        for path in sorted(p for p in source.rglob("*") if p.is_file() and "__pycache__" not in p.parts):
            aim = target / path.relative_to(source)
            aim.parent.mkdir(parents=True, exist_ok=True)
            if aim.exists() and path.name == "__init__.py":
                subprocess.run(["git", "rm", "-q", "-f", str(path)], check=True)
                continue
            if aim.exists():
                aim = aim.with_name(f"{aim.stem}_of_{old.rpartition('.')[2]}.py")
                print(f"TEST NAME {path} -> {aim}", file=sys.stderr)
            subprocess.run(["git", "mv", str(path), str(aim)], check=True)


def move_styles() -> None:
    """Put each style sheet beside the screen that names it."""
    for file in sorted(Path("tuibench/tui/screens").rglob("*.py")):
        for sheet in re.findall(r'CSS_PATH = "(\w+\.tcss)"', file.read_text(encoding="utf-8")):
            source, target = Path("tuibench/tui/screens", sheet), file.parent / sheet
            if source.exists() and source != target:
                subprocess.run(["git", "mv", str(source), str(target)], check=True)


def settle_packages() -> None:
    """Give every folder with modules its `__init__.py`, and remove the one of a folder that has none left."""
    for folder in sorted(p for p in Path("tuibench").rglob("*") if p.is_dir() and p.name != "__pycache__"):
        init = folder / "__init__.py"
        modules = [p for p in folder.rglob("*.py") if p.name != "__init__.py"]
        if modules and not init.exists():
            init.write_text(f'"""The room `{folder.name}`."""\n', encoding="utf-8")
            subprocess.run(["git", "add", str(init)], check=True)
        elif init.exists() and not modules:
            subprocess.run(["git", "rm", "-q", "-f", str(init)], check=True)


def main() -> None:
    """Carry out the plan named on the command line."""
    plan = read_plan(Path(sys.argv[1]))
    for target, sources in list(plan.items()):
        found = [source for source in sources if path_of(source).exists()]
        for source in set(sources) - set(found):
            print(f"no module {source}", file=sys.stderr)
        plan[target] = found
        if not found:
            del plan[target]
    moved = {source: target for target, sources in plan.items() for source in sources if source != target}
    for target, sources in plan.items():
        path = path_of(target)
        path.parent.mkdir(parents=True, exist_ok=True)
        if len(sources) == 1:
            if sources[0] != target:
                subprocess.run(["git", "mv", str(path_of(sources[0])), str(path)], check=True)
            continue
        modules = []
        for source in sources:
            text = path_of(source).read_text(encoding="utf-8")
            modules.append(Module(source, path_of(source), text, ast.parse(text)))
        text = merged(order(modules))
        keep = modules_by_weight(modules).path
        for module in modules:
            if module.path not in (keep, path):
                subprocess.run(["git", "rm", "-q", "-f", str(module.path)], check=True)
        if keep != path:
            if path.exists():
                subprocess.run(["git", "rm", "-q", "-f", str(path)], check=True)
            subprocess.run(["git", "mv", str(keep), str(path)], check=True)
        path.write_text(text, encoding="utf-8")
    settle_packages()
    move_tests()
    move_styles()
    files = [p for tree in TREES for p in Path(tree).rglob("*.py")]
    rewrite(files, moved)


if __name__ == "__main__":
    main()
