"""Make docs/keys.md from the registry of keys, so that the page cannot lag behind the dashboard.

python tools/make_keys.py           writes docs/keys.md
python tools/make_keys.py --print   prints it
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tuibench.tui.key import GROUPS, Key, all_shown  # noqa: E402 - the package of this checkout, installed or not

PAGE = ROOT / "docs" / "keys.md"

INTRO = """\
# Keys of the dashboard

<!-- Made by tools/make_keys.py from the registry of keys: `make docs` writes it anew. -->

Nothing needs a mouse. `?` shows the keys of the current screen as you bound them; `:` finds an action by a part of its
name; the two lines at the bottom show the keys used most. Only `r`, `R`, `n` and `ctrl+r` start new work, and only `X`,
`d` and `E` discard something, each after one question; `u` restores what `d` removed. `o` resumes an interrupted run,
`p` finishes one with its results, and `+` gives it more time: none of them loses anything, so none asks.
"""

TITLES = {
    "everywhere": ("Everywhere", ""),
    "focus": ("Between the parts of a screen", ""),
    "tab": ("Tabs", "On a project and on a benchmark."),
    "move": ("Moving", "In lists and in texts that are longer than the screen."),
    "open": ("Opening", "In lists."),
    "wide": ("Wide tables", "A narrow terminal leaves columns out; what they hold stands below the list as well."),
    "list": ("Lists", ""),
    "project": ("Projects", "At home and in a project; `E` in the trash."),
    "benchmark": (
        "Benchmarks",
        "Wherever one is under the cursor or on the screen; at home the newest of the project is meant.",
    ),
    "run": ("Runs", "On a run, and on one under the cursor of a list."),
    "figure": ("Figures", "On a benchmark that varied cores, batches or shapes."),
    "profile": ("Profiles", "On a performance or a loss profile."),
    "form": ("Forms", ""),
    "machine": ("The machine", "On the System screen."),
}
"""Heading and place of each group."""

OUTRO = """\
## Keys of your own

The config file says which keys do what: `tuibench config` prints where it lies and what it comes to, and
`tuibench config --keys` lists every action by its id. An action that stands there has the keys given and no others:

```toml
[keys]
remove = "ctrl+x,delete"
help = "f1"
metric = "v"
```

- Several keys are separated by commas; the comma itself is `comma`, the blank `space`.
- A sign is written as it is (`?`, `G`), a named key in words: `enter`, `esc`, `tab`, `backspace`, `delete`, `insert`,
  `home`, `end`, `pgup`, `pgdn`, `left`, `right`, `up`, `down`, `f1` to `f24`; with `ctrl+`, `alt+` or `shift+` before
  it.
- `ctrl+i` is `tab`, `ctrl+m` and `ctrl+j` are `enter`, `ctrl+h` is `backspace` and `ctrl+[` is `esc`: a terminal sends
  the same for both.
- Two actions of one screen cannot share a key. What works while a field is being filled in (`ctrl+q`, `ctrl+r`) needs a
  key that nobody types.
- Where anything in `[keys]` is wrong, all of it is left out and the dashboard says so; `tuibench config` says what, and
  ends with 2.

The same file has what the dashboard looks like. All of it may be left out:

```toml
[dashboard]
theme = "nord"    # any theme of Textual; ansi-dark, the terminal's own colours, is the default
ascii = false     # true: plain ASCII only
mouse = false     # true also asks for the mouse over SSH
fps = 15          # frames a second at most: 30, or 15 over SSH
bell = true       # one bell when a run ends
```
"""


def make_page() -> str:
    """The whole page."""
    parts = [INTRO]
    for name, group in GROUPS.items():
        title, place = TITLES[name]
        parts.append("\n".join([f"## {title}", "", *([place, ""] if place else []), *_table(group)]) + "\n")
    return "\n".join([*parts, OUTRO])


def _table(group: tuple[Key, ...]) -> Iterator[str]:
    yield "| keys | what it does | id |"
    yield "|---|---|---|"
    for key in group:
        keys = " ".join(f"`{each}`" for each in all_shown(key.id, {}).split())
        yield f"| {keys} | {key.text} | `{key.id}` |"


if __name__ == "__main__":
    if sys.argv[1:] == ["--print"]:
        sys.stdout.write(make_page())
    else:
        PAGE.write_text(make_page(), encoding="utf-8")
