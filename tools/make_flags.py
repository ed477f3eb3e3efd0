"""Make docs/flags.md from the tables of settings.

python tools/make_flags.py           writes docs/flags.md
python tools/make_flags.py --print   prints it
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tuibench.core.settings import benchmark as benchmark_setting  # noqa: E402 - the package of this checkout
from tuibench.core.settings import profile as profile_setting  # noqa: E402
from tuibench.core.settings.setting import Group, Setting  # noqa: E402

PAGE = ROOT / "docs" / "flags.md"

INTRO = """\
# Flags

<!-- Made by tools/make_flags.py from the tables of settings: `make docs` writes it again. -->

Every flag of the commands that measure. `-b8`, `-b 8`, `-b=8` and `--batch-size=8` mean the same; `_` and `-` are the
same in names.
"""


def make_page() -> str:
    """Return the whole page."""
    parts = [INTRO]
    parts += _chapter("tuibench benchmark", benchmark_setting.GROUPS)
    parts += _chapter("tuibench rerun", [Group("Besides the flags of `tuibench benchmark`", benchmark_setting.RERUN)])
    parts += _chapter("tuibench profile", profile_setting.GROUPS)
    return "\n".join(parts)


def _chapter(command: str, groups: Iterable[Group]) -> Iterator[str]:
    yield f"## {command}\n"
    for group in groups:
        lines = [f"### {group.title}", "", "| flag | what it does | default |", "|---|---|---|"]
        yield "\n".join([*lines, *map(_row, group.settings)]) + "\n"


def _row(setting: Setting) -> str:
    flags = ", ".join(f"`{flag}`" for flag in setting.flags) + (f" {setting.metavar}" if setting.metavar else "")
    cells = (flags, setting.help, setting.default_words)
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


if __name__ == "__main__":
    if sys.argv[1:] == ["--print"]:
        sys.stdout.write(make_page())
    else:
        PAGE.write_text(make_page(), encoding="utf-8")
