"""Rules for every page: help describes the content, and the key lines name working keys."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator
from importlib import import_module

import pytest

import tuibench.tui.screens
from tuibench.tui import key
from tuibench.tui.screens.base import Page


def pages() -> Iterator[type[Page]]:
    """Yield every class of a page that a user can open."""
    for module in pkgutil.walk_packages(tuibench.tui.screens.__path__, "tuibench.tui.screens."):
        loaded = import_module(module.name)
        for found in vars(loaded).values():
            own = isinstance(found, type) and issubclass(found, Page) and found.__module__ == loaded.__name__
            if own and found.__name__.endswith("Screen"):
                yield found


PAGES = list(pages())


def test_page_discovery_finds_all_pages() -> None:
    assert {"HomeScreen", "ProjectScreen", "FormScreen", "SystemScreen", "HelpScreen"} <= {
        page.__name__ for page in PAGES
    }


@pytest.mark.parametrize(
    "page", [page for page in PAGES if page.__name__ != "HelpScreen"], ids=lambda page: page.__name__
)
def test_page_help_begins_with_content_description(page: type[Page]) -> None:
    assert len(page.about.split()) >= 15 and page.about.endswith(".") and page.about.isascii()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.__name__)
def test_page_key_lines_name_each_key_once(page: type[Page]) -> None:
    assert set(page.hints) <= set(key.KEYS) and len(set(page.hints)) == len(page.hints)
