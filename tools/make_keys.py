"""Write docs/keys.md from the table of keys.

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

<!-- Written by tools/make_keys.py from the table of keys: `make docs`. -->

The dashboard needs no mouse. `?` lists the keys of the current screen with your bindings. `:` finds an action by part
of its name. The two lines at the bottom show the most used keys. `r`, `R`, `n` and `ctrl+r` start new work. `X`, `d`
and `E` ask once, then discard something; `u` restores what `d` removed. `o` resumes an interrupted run, `p` finishes
it with the results so far, and `+` gives it more time; they lose nothing and do not ask.
"""

TITLES = {
    "everywhere": ("Everywhere", ""),
    "focus": ("Between the parts of a screen", ""),
    "tab": ("Tabs", "On a project and on a benchmark."),
    "move": ("Moving", "In lists and in texts that are longer than the screen."),
    "open": ("Opening", "In lists."),
    "wide": ("Wide tables", "A narrow terminal leaves out columns; the lines below the list have their values."),
    "list": ("Lists", ""),
    "project": ("Projects", "At home and in a project; `E` in the trash."),
    "benchmark": (
        "Benchmarks",
        "On a benchmark, or on one under the cursor of a list; at home they act on the newest of the project.",
    ),
    "run": ("Runs", "On a run, and on one under the cursor of a list."),
    "figure": ("Figures", "On a benchmark that varied cores, batches or shapes."),
    "profile": ("Profiles", "On a performance or a loss profile."),
    "form": ("Forms", ""),
    "engine": ("Engines", "On the System screen, and in the field Engines of the benchmark form."),
    "machine": ("The machine", "On the System screen."),
}
"""Heading of each group, and where its keys work."""

OUTRO = """\
## Your own keys

Keys are set in the config file. `tuibench config` prints its path and the settings in use.
`tuibench config --keys` lists the id of each action. An action in the file has the given keys and no others:

```toml
[keys]
remove = "ctrl+x,delete"
help = "f1"
metric = "v"
```

- Separate keys by commas. The comma itself is `comma`, the blank `space`.
- Write printable characters as they are (`?`, `G`). Named keys are `enter`, `esc`, `tab`, `backspace`,
  `delete`, `insert`, `home`, `end`, `pgup`, `pgdn`, `left`, `right`, `up`, `down`, `f1` to `f24`, optionally with
  `ctrl+`, `alt+` or `shift+` before them.
- A terminal sends the same for `ctrl+i` and `tab`, for `ctrl+m`, `ctrl+j` and `enter`, for `ctrl+h` and `backspace`,
  and for `ctrl+[` and `esc`.
- Two actions of one screen cannot share a key. Actions that work while you type into a field (`ctrl+q`, `ctrl+r`)
  need a key that types nothing.
- If anything in `[keys]` is wrong, the dashboard ignores all of it and says so. `tuibench config` prints the error
  and exits with 2.

The same file sets the look of the dashboard. Every line is optional:

```toml
[dashboard]
theme = "nord"    # a theme of Textual; the default ansi-dark uses the terminal's own colours
ascii = false     # true: plain ASCII only
mouse = false     # true: use the mouse over SSH, too
fps = 15          # maximum frames per second; default 30, over SSH 15
bell = true       # ring once when a run ends
```
"""


def make_page() -> str:
    """Return the whole page."""
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
