"""House rules as pure functions over source text, so that a made-up file can show each one failing."""

from __future__ import annotations

import ast
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import PurePosixPath

ANYTHING = ("*",)
ENGINES = ("deepsparse", "intel_extension_for_transformers", "onnxruntime", "openvino", "torch")
"""Packages that execute models: deferred wherever they are imported, and each in its own module."""


@cache
def parsed(source: str) -> ast.Module:
    """Return the syntax tree of a module; every rule reads the same one."""
    return ast.parse(source)


@cache
def nodes_of(source: str) -> list[ast.AST]:
    """Return every node of a module's syntax tree."""
    return list(ast.walk(parsed(source)))


@dataclass(frozen=True, slots=True)
class Room:
    """Packages that a room may import besides the standard library, its own room and core."""

    ours: tuple[str, ...] = ()
    third: tuple[str, ...] = ()
    deferred: tuple[str, ...] = ()
    """Third-party packages that may be imported inside functions only."""


ROOMS = {
    "core": Room(),
    "data": Room(),
    "stats": Room(),
    "host": Room(),
    "host/facts": Room(ours=("host", "host/cpu")),
    "host/cpu": Room(ours=("host",), deferred=("cpuinfo",)),
    "host/checkup": Room(ours=("host", "host/facts", "host/cpu"), deferred=("psutil",)),
    "engines": Room(third=("numpy",), deferred=(*ENGINES, "transformers")),
    "worker": Room(ours=("stats", "engines", "host/noise"), third=("numpy",)),
    # Foreign bytes: only inside child.py.
    "model": Room(
        ours=("stats", "worker", "engines", "host/noise"), third=("numpy", "onnx"), deferred=("onnxruntime",)
    ),
    "model/download": Room(deferred=("huggingface_hub",)),
    "model/imports": Room(),
    # The start of the worker with its protocol; of the engines only their capabilities and installations.
    "runs": Room(
        ours=(
            *("stats", "host", "host/facts", "host/cpu", "worker/start", "worker/job"),
            *("engines/protocol", "engines/factory", "engines/installation"),
        )
    ),
    "store": Room(third=("tinydb",)),
    "store/directories": Room(deferred=("platformdirs",)),
    "present": Room(ours=("stats",), third=("rich",)),
    "services": Room(
        ours=(
            *("store", "store/directories", "runs", "present", "stats"),
            *("host", "host/facts", "host/cpu", "host/checkup"),
            *("engines/factory", "engines/installation", "engines/recipes"),
        )
    ),
    "runner": Room(ours=ANYTHING, deferred=ANYTHING),
    "child": Room(ours=ANYTHING, deferred=ANYTHING),
    "tui": Room(ours=("services", "present"), third=("textual", "rich")),
    "cli": Room(ours=("services", "present", "cli/dashboard"), third=("rich",)),
    "cli/dashboard": Room(ours=("cli", "services", "present", "tui/start", "tui/terminal")),
    # The dashboard's reading of the config file, without the dashboard.
    "cli/configuration": Room(ours=("cli", "services", "present", "tui/config", "tui/key", "tui/start")),
    "__main__": Room(ours=("cli",)),
    "__init__": Room(),
}
"""The longest key that is a prefix of a file's path is its room."""

ROOTS = ("runner", "child")
"""Composition roots import nothing else of ours at their top, so that they hear signals before any import."""

WORKER_SIDE = ("core", "stats", "host", "engines", "worker")
WORKER_PYTHON = (3, 10)

NEWER_THAN_WORKER = {
    "asyncio": {"Barrier", "Runner", "TaskGroup", "timeout", "timeout_at"},
    "contextlib": {"chdir"},
    "datetime": {"UTC"},
    "enum": {"EnumCheck", "FlagBoundary", "ReprEnum", "StrEnum", "member", "nonmember", "verify"},
    "hashlib": {"file_digest"},
    "inspect": {"getmembers_static", "markcoroutinefunction"},
    "itertools": {"batched"},
    "logging": {"getLevelNamesMapping", "getHandlerByName"},
    "math": {"cbrt", "exp2", "fma", "sumprod"},
    "operator": {"call"},
    "os": {"process_cpu_count", "listdrives"},
    "sys": {"exception", "activate_stack_trampoline", "monitoring"},
    "typing": {
        *("LiteralString", "Never", "NotRequired", "Required", "Self", "TypeAliasType", "TypeVarTuple", "Unpack"),
        *("assert_never", "assert_type", "clear_overloads", "dataclass_transform", "get_overloads", "override"),
        *("reveal_type", "ReadOnly", "TypeIs", "get_protocol_members", "is_protocol"),
    },
}
NEWER_MODULES = {"tomllib", "wsgiref.types"}
NEWER_BUILTINS = {"BaseExceptionGroup", "ExceptionGroup", "EncodingWarning", "PythonFinalizationError"}


@dataclass(frozen=True, slots=True)
class Import:
    """One imported module, its line, and whether the import runs when the file is loaded."""

    module: str
    line: int
    on_top: bool
    for_types: bool


def room_key(path: str) -> str:
    """Return the key in ROOMS for a path such as host/facts.py, or for a module such as host/facts; '' if none."""
    parts = PurePosixPath(path.removesuffix(".py")).parts
    names = ("/".join(parts[:n]) for n in range(len(parts), 0, -1))
    return next((name for name in names if name in ROOMS), "")


@cache
def imports(tree: ast.Module) -> list[Import]:
    """Return every import of a file, those inside functions and by name through importlib included."""
    found: list[Import] = []
    _collect(tree, found, on_top=True, for_types=False)
    return found


def _collect(node: ast.AST, found: list[Import], on_top: bool, for_types: bool) -> None:
    for child in ast.iter_child_nodes(node):
        inside = isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        for module in _imported(child):
            line = child.lineno if isinstance(child, (ast.stmt, ast.expr)) else 0
            found.append(Import(module, line, on_top, for_types))
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            _collect(ast.Module(child.body, []), found, on_top, for_types=True)
            continue
        _collect(child, found, on_top and not inside, for_types)


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        module = node.module or ""
        if module == "tuibench" or (module.startswith("tuibench.") and module.count(".") == 1):
            return [f"{module}.{alias.name}" for alias in node.names]
        return [module]
    if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if called in ("import_module", "__import__") and isinstance(node.args[0].value, str):
            return [node.args[0].value]
    return []


def deferred_imports(source: str) -> set[str]:
    """Return the modules of ours that a file imports inside functions."""
    found = imports(parsed(source))
    return {each.module for each in found if not each.on_top and each.module.split(".")[0] == "tuibench"}


def find_cycle(sources: Mapping[str, str]) -> list[str]:
    """Return the modules of one import cycle, the first of them at both ends; [] if there is none.

    Imports inside functions and those for types alone are left out: nothing runs them while a module is imported.
    """
    modules = {
        f"tuibench.{path.removesuffix('.py').removesuffix('/__init__').replace('/', '.')}": path for path in sources
    }
    needs = {
        module: [each.module for each in imports(parsed(sources[path])) if each.on_top and not each.for_types]
        for module, path in modules.items()
    }
    done: set[str] = set()

    def follow(module: str, way: list[str]) -> list[str]:
        if module in way:
            return [*way[way.index(module) :], module]
        if module in done or module not in needs:
            return []
        for needed in needs[module]:
            if found := follow(needed, [*way, module]):
                return found
        done.add(module)
        return []

    return next((found for module in needs if (found := follow(module, []))), [])


def forbidden_imports(path: str, source: str) -> list[str]:
    """Return one line per import that the room of `path` (relative to the package) may not make."""
    key = room_key(path)
    if not key:
        return [f"{path}: stands in no room of tests/rules.py"]
    found = [f"{path}:{i.line}: {key} may not import {i.module}" for i in imports(parsed(source)) if not _may(key, i)]
    if path.endswith("/__init__.py"):
        eager = [i for i in imports(parsed(source)) if i.module != "__future__"]
        found += [f"{path}:{i.line}: a room's __init__ imports nothing, but has {i.module}" for i in eager]
    if key == "engines":
        others = {i.module.split(".")[0] for i in imports(parsed(source))} & set(ENGINES)
        found += [f"{path}: more than one engine: {', '.join(sorted(others))}"] if len(others) > 1 else []
    return found


def _may(key: str, entry: Import) -> bool:
    room = ROOMS[key]
    top, *rest = entry.module.split(".")
    if top in sys.stdlib_module_names:
        return True
    deferred = not entry.on_top or entry.for_types
    if top != "tuibench":
        return top in room.third or (deferred and (top in room.deferred or room.deferred == ANYTHING))
    if key in ROOTS:
        return deferred
    target = "/".join(rest)
    if not rest or rest[0].startswith("__"):
        return True
    goal = room_key(target)
    return goal in (key, "core") or any(target == own or goal == own for own in room.ours)


def newer_than_worker(path: str, source: str) -> list[str]:
    """Return the constructs that the oldest worker interpreter does not support."""
    try:
        tree = ast.parse(source, feature_version=WORKER_PYTHON)
    except SyntaxError as error:
        return [f"{path}:{error.lineno}: {error.msg}"]
    found = [f"{path}:{i.line}: {i.module}" for i in imports(tree) if i.module in NEWER_MODULES]
    for node in ast.walk(tree):
        names: set[str] = set()
        if isinstance(node, ast.ImportFrom):
            names = {alias.name for alias in node.names} & NEWER_THAN_WORKER.get(node.module or "", set())
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            names = {node.attr} & NEWER_THAN_WORKER.get(node.value.id, set())
        elif isinstance(node, ast.Name):
            names = {node.id} & NEWER_BUILTINS
        found += [f"{path}:{getattr(node, 'lineno', 0)}: {name} is newer than a worker" for name in sorted(names)]
        if isinstance(node, ast.TryStar):
            found.append(f"{path}:{node.lineno}: except* is newer than a worker")
    return found


def oversized(path: str, source: str, most: int = 40, with_reason: int = 60) -> list[str]:
    """Return functions over `most` lines without a '# long: reason', those over `with_reason`, and classes over 250."""
    lines = source.splitlines()
    found = []
    for node in nodes_of(source):
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        length = (node.end_lineno or node.lineno) - node.lineno + 1
        limit = 250
        if not isinstance(node, ast.ClassDef):
            reasoned = any("# long: " in line for line in lines[node.lineno - 1 : node.end_lineno])
            limit = with_reason if reasoned else most
        if length > limit:
            found.append(f"{path}:{node.lineno}: {node.name} has {length} lines, of at most {limit}")
    return found


def undocumented(path: str, source: str) -> list[str]:
    """Return the public modules, classes and functions without a docstring."""
    tree = parsed(source)
    found = [] if ast.get_docstring(tree) else [f"{path}:1: the module has no docstring"]
    queue: list[ast.AST] = [tree]
    while queue:
        for node in ast.iter_child_nodes(queue.pop()):
            if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) or node.name[0] == "_":
                continue
            if not ast.get_docstring(node):
                found.append(f"{path}:{node.lineno}: {node.name} has no docstring")
            if isinstance(node, ast.ClassDef):
                queue.append(node)
    return found


def swallowed(path: str, source: str) -> list[str]:
    """Return the handlers that catch everything and do nothing, or that lack a reason."""
    lines = source.splitlines()
    found = []
    for node in nodes_of(source):
        if not isinstance(node, ast.ExceptHandler):
            continue
        caught = ast.unparse(node.type) if node.type else "everything"
        if caught not in ("everything", "Exception", "BaseException"):
            continue
        if isinstance(node.body[-1], ast.Raise) and node.body[-1].exc is None:
            continue
        idle = all(isinstance(s, (ast.Pass, ast.Continue)) or ast.unparse(s) == "..." for s in node.body)
        around = lines[node.lineno - 2 : node.body[0].lineno]
        if idle:
            found.append(f"{path}:{node.lineno}: catches {caught} and does nothing")
        elif not any("#" in line for line in around):
            found.append(f"{path}:{node.lineno}: catches {caught} without a comment that says why it may")
    return found


def prints(path: str, source: str) -> list[str]:
    """Return the calls of print, which only the shell's entry point may use."""
    calls = (n for n in nodes_of(source) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name))
    return [f"{path}:{n.lineno}: print" for n in calls if isinstance(n.func, ast.Name) and n.func.id == "print"]


_MARKUP = frozenset({"Static", "Label", "Button", "Option", "Log", "RichLog", "Markdown", "DataTable", "Tooltip"})
"""Textual's widgets that parse their text as markup or pass control characters through."""
_TELLING = frozenset({"notify"})
_PLAIN = frozenset({"show", "Text", "Content"})


def marked_up(path: str, source: str) -> list[str]:
    """Return the places where foreign text could reach Textual's markup; only our own widgets may show it."""
    found = []
    for node in nodes_of(source):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        given = [*node.args, *(pair.value for pair in node.keywords)]
        if name in _MARKUP | _TELLING and any(map(_may_be_foreign, given)):
            found.append(f"{path}:{node.lineno}: {name} takes text that did not go through show()")
        if name in ("from_markup", "render_markup"):
            found.append(f"{path}:{node.lineno}: {name}")
        allowed = [pair for pair in node.keywords if pair.arg == "markup" and ast.unparse(pair.value) != "False"]
        found += [f"{path}:{node.lineno}: markup is on" for _ in allowed]
    return found


def _may_be_foreign(value: ast.expr) -> bool:
    """Return whether a value may be text of other origin: neither a constant nor made safe here."""
    if isinstance(value, ast.Constant):
        return False
    called = value.func if isinstance(value, ast.Call) else None
    name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
    return name not in _PLAIN
