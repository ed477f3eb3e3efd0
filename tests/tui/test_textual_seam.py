from __future__ import annotations

import ast
import importlib
import inspect
import io
import pkgutil
import threading
from collections.abc import Iterator

from textual.app import App
from textual.drivers import linux_driver
from textual.screen import Screen
from textual.widget import Widget

import tuibench.tui
from tests.cli.shell import PATIENCE_S
from tests.tui.counting import CountingDriver, counter_of
from tuibench.tui.textual_seam import QuietApp


class Lost(io.StringIO):
    """A terminal whose other end is closed."""

    def write(self, text: str) -> int:
        raise OSError(5, "Input/output error")


def test_write_to_lost_terminal_does_not_block() -> None:
    QuietApp().get_driver_class()
    writer = linux_driver.WriterThread(Lost())  # type: ignore[attr-defined]
    writer.start()

    def write() -> None:
        for _ in range(200):
            writer.write("text")
        writer.stop()

    thread = threading.Thread(target=write, daemon=True)
    thread.start()
    thread.join(PATIENCE_S)
    assert not thread.is_alive()


async def test_terminal_title_is_restored() -> None:
    app: QuietApp = QuietApp()
    app.driver_class = CountingDriver
    async with app.run_test(headless=False):
        driver = counter_of(app)
        driver.take()
        app.set_terminal_title("first")
        app.set_terminal_title("\x1b]0;second")
        assert driver.take() == "\x1b[22;0t\x1b]0;first\x07\x1b]0;\\e]0;second\x07"
    assert "\x1b[23;0t" in driver.take()


async def test_unchanged_terminal_title_is_not_restored() -> None:
    app: QuietApp = QuietApp()
    app.driver_class = CountingDriver
    async with app.run_test(headless=False):
        driver = counter_of(app)
    assert ";0t" not in driver.take()


SEAMS = {"textual_seam", "widgets.painted", "palette"}
"""Modules that may reach below Textual's public surface, each with the reason."""


def private_names(of: ast.ClassDef) -> Iterator[tuple[str, bool]]:
    """Yield each private name of a class, and True for a call of its base's method."""
    for node in ast.walk(of):
        name, calls = "", False
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            name = node.name
        elif isinstance(node, ast.Attribute):
            calls = isinstance(node.value, ast.Call) and ast.unparse(node.value) == "super()"
            name = node.attr if calls or ast.unparse(node.value) == "self" else ""
        if name.startswith("_") and not name.startswith("__"):
            yield name, calls


def reaches(source: str, module: object) -> Iterator[str]:
    """Yield the private names of Textual that a module imports and that its classes define or use."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("textual"):
            yield from (
                one for one in [*(node.module or "").split("."), *(a.name for a in node.names)] if one[0] == "_"
            )
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            mro = inspect.getmro(getattr(module, node.name))
            own = [base for base in mro if base.__module__.startswith("textual")]
            for name, calls in private_names(node):
                # A mixin gets Textual's classes as bases only where it is used.
                bases = own or ([App, Screen, Widget] if calls else [])
                if any(hasattr(base, name) or name in inspect.get_annotations(base) for base in bases):
                    yield name


def test_only_seam_module_uses_private_textual_api() -> None:
    found = {}
    for each in pkgutil.walk_packages(tuibench.tui.__path__, "tuibench.tui."):
        module = importlib.import_module(each.name)
        if names := sorted(set(reaches(inspect.getsource(module), module))):
            found[each.name.removeprefix("tuibench.tui.")] = names
    assert set(found) == SEAMS, found
