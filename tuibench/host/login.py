"""Whether a process outlives the log-out of its user, as systemd is told in its files; nothing is started for it."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from tuibench.host.tree import Tree

_PLACES = ("usr/lib/systemd", "usr/local/lib/systemd", "run/systemd", "etc/systemd")
"""Later ones count more; a file of the same name in one of them hides those before it."""
_KILL = re.compile(r"\s*(#?)\s*KillUserProcesses\s*=\s*(\w+)\s*", re.ASCII)
_TRUE = frozenset({"yes", "true", "on", "1"})


@dataclass(frozen=True, slots=True)
class LogOut:
    """What happens to the processes of a user who logs out; None where nothing says."""

    kills: bool | None
    """Whether those of the session are ended."""
    lingers: bool | None
    """Whether the user's own manager, and what runs under it, stays."""
    in_session: bool
    """Whether this process belongs to a session at all."""


def read_log_out(user: str | None, root: Path = Path("/")) -> LogOut:
    """As far as files tell; all unknown where systemd does not run the machine."""
    tree = Tree(root)
    if not os.path.isdir(root / "run/systemd/system"):
        return LogOut(None, None, False)
    lingers = os.path.exists(root / "var/lib/systemd/linger" / user) if user and "/" not in user else None
    groups = tree.read("proc/self/cgroup") or ""
    return LogOut(_kills(tree, root), lingers, ".slice/session-" in groups)


def _kills(tree: Tree, root: Path) -> bool | None:
    main = next((text for place in reversed(_PLACES) if (text := tree.read(f"{place}/logind.conf"))), "")
    # What the distribution built in stands there as a comment.
    found = _last(main, comments=True)
    for path in _drop_ins(root):
        said = _last(tree.read(path) or "", comments=False)
        found = found if said is None else said
    return found


def _drop_ins(root: Path) -> list[str]:
    by_name: dict[str, str] = {}
    for place in _PLACES:
        try:
            names = os.listdir(root / place / "logind.conf.d")
        except OSError:
            continue
        by_name |= {name: f"{place}/logind.conf.d/{name}" for name in names if name.endswith(".conf")}
    return [by_name[name] for name in sorted(by_name)]


def _last(text: str, *, comments: bool) -> bool | None:
    default: bool | None = None
    said: bool | None = None
    for line in text.splitlines():
        match = _KILL.fullmatch(line)
        if match and match[1]:
            default = match[2].lower() in _TRUE
        elif match:
            said = match[2].lower() in _TRUE
    return said if said is not None or not comments else default
