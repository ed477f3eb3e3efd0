"""All states of a disk that a file system may leave after a power loss.

Allowed: a file has the data of its last fsync, or one of three variants of later writes. A name that was made,
removed or moved is certain only after an fsync of its directory; before, names may reach the disk in any order. A
move between two directories is one step, but the old name may remain.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from tests.store.disks.recording import Step

Tree = dict[str, "bytes | None"]
"""Relative path to content; None for a directory."""

CONTENTS = ("now", "synced", "half", "zeros")
"""Fates of data that was not synced."""

DROP, KEEP, BOTH = range(3)
"""Fates of a change of a name; BOTH is a move whose old name stayed."""


@dataclass(slots=True)
class Node:
    """A file or directory that names refer to."""

    folder: bool
    now: bytearray = field(default_factory=bytearray)
    synced: bytes = b""

    def content(self, kind: str) -> bytes:
        """Return the content that a reader finds."""
        if self.now == self.synced or kind == "now":
            return bytes(self.now)
        if kind == "synced":
            return self.synced
        if kind == "half":
            return bytes(self.now[: len(self.now) // 2])
        same = len(self.synced) if self.now.startswith(self.synced) else 0
        return bytes(self.now[:same]) + bytes(len(self.now) - same)


Name = tuple[int, str]
"""A directory's number and a name in it."""


@dataclass(slots=True)
class Change:
    """One change of names: made, removed, or moved (the new name comes first)."""

    number: int
    effects: dict[Name, int | None]

    @property
    def moves_far(self) -> bool:
        """Return True if the change touches two directories."""
        return len({folder for folder, _ in self.effects}) > 1


class Machine:
    """Replays a trace and returns the possible contents after a power loss at any step."""

    def __init__(self, start: Path, *, syncs_files: bool = True, syncs_folders: bool = True) -> None:
        self.syncs_files, self.syncs_folders = syncs_files, syncs_folders
        self.nodes = [Node(True)]
        self.names: dict[Name, int | None] = {}
        self.safe: dict[Name, tuple[int, int | None]] = {}
        self.pending: list[Change] = []
        self.open: dict[int, int] = {}
        self.count = 0
        for path in sorted(start.rglob("*")):
            content = b"" if path.is_dir() else path.read_bytes()
            self.nodes.append(Node(path.is_dir(), bytearray(content), content))
            name = self._name(path.relative_to(start).as_posix())
            self.names[name] = len(self.nodes) - 1
            self.safe[name] = (0, len(self.nodes) - 1)

    def play(self, step: Step) -> None:
        """Replay the given steps."""
        if step.kind == "open":
            if step.created:
                self._change({self._name(step.path): self._make(False)})
            self.open[step.file] = self._find(step.path)
        elif step.kind == "write":
            node = self.nodes[self.open[step.file]]
            node.now[step.offset : step.offset + len(step.data)] = step.data
        elif step.kind == "fsync":
            self._sync(self.open[step.file])
        elif step.kind == "link":
            self._change({self._name(step.target): self._find(step.path)})
        elif step.kind == "replace":
            self._change({self._name(step.target): self._find(step.path), self._name(step.path): None})
        elif step.kind == "mkdir":
            self._change({self._name(step.path): self._make(True)})
        elif step.kind in ("unlink", "rmdir"):
            self._change({self._name(step.path): None})

    def _make(self, folder: bool) -> int:
        self.nodes.append(Node(folder))
        return len(self.nodes) - 1

    def _change(self, effects: dict[Name, int | None]) -> None:
        self.count += 1
        self.names |= effects
        self.pending.append(Change(self.count, effects))

    def _find(self, path: str) -> int:
        node = 0
        for part in () if path == "." else PurePosixPath(path).parts:
            found = self.names.get((node, part))
            assert found is not None, f"{path} is not there"
            node = found
        return node

    def _name(self, path: str) -> Name:
        whole = PurePosixPath(path)
        return self._find(str(whole.parent)), whole.name

    def _sync(self, number: int) -> None:
        node = self.nodes[number]
        if not node.folder:
            if self.syncs_files:
                node.synced = bytes(node.now)
            return
        if not self.syncs_folders:
            return
        for change in self.pending:
            mine = {name: to for name, to in change.effects.items() if name[0] == number}
            takes = any(to is None for to in mine.values())
            for name, to in (change.effects if takes else mine).items():
                if self.safe.get(name, (0, None))[0] < change.number:
                    self.safe[name] = (change.number, to)
                    mine[name] = to
            change.effects = {} if takes else {n: to for n, to in change.effects.items() if n not in mine}
        self.pending = [change for change in self.pending if change.effects]

    def states(self, draw: random.Random, more: int) -> Iterator[Tree]:
        """Return possible contents: the extremes, each change alone, each change missing, and `more` at random."""
        size = len(self.pending)
        for contents in CONTENTS:
            yield self._tree([KEEP] * size, [contents] * len(self.nodes))
            yield self._tree([DROP] * size, [contents] * len(self.nodes))
        for one in range(size):
            for rest, other in ((KEEP, DROP), (DROP, KEEP), (DROP, BOTH), (KEEP, BOTH)):
                if other != BOTH or self.pending[one].moves_far:
                    choice = [rest] * size
                    choice[one] = other
                    yield self._tree(choice, ["synced" if rest else "now"] * len(self.nodes))
        for _ in range(more if size else 0):
            choice = [draw.choice((DROP, KEEP, BOTH)) for _ in range(size)]
            yield self._tree(choice, [draw.choice(CONTENTS) for _ in self.nodes])

    def _tree(self, choice: list[int], contents: list[str]) -> Tree:
        names = dict(self.safe)
        for change, what in zip(self.pending, choice, strict=True):
            for name, to in change.effects.items():
                stays = what == DROP or (what == BOTH and to is None and change.moves_far)
                if not stays and names.get(name, (0, None))[0] < change.number:
                    names[name] = (change.number, to)
        inside: dict[int, list[tuple[str, int]]] = {}
        for (folder, base), (_, to) in names.items():
            if to is not None:
                inside.setdefault(folder, []).append((base, to))
        tree: Tree = {}
        queue = [("", 0)]
        while queue:
            path, number = queue.pop()
            for child, node in inside.get(number, ()):
                below = f"{path}{child}"
                tree[below] = None if self.nodes[node].folder else self.nodes[node].content(contents[node])
                if self.nodes[node].folder:
                    queue.append((f"{below}/", node))
        return tree


def lay_out(tree: Tree, root: Path) -> None:
    """Write a state to disk, for a fresh store to open; thousands are written, so without `Path`."""
    for path in sorted(tree):
        content, place = tree[path], f"{root}/{path}"
        if content is None:
            os.mkdir(place, 0o700)
            continue
        file = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        written = os.write(file, content)
        os.close(file)
        assert written == len(content)


def read_tree(root: Path) -> Tree:
    """Read a state from disk."""
    paths = sorted(root.rglob("*"))
    return {path.relative_to(root).as_posix(): None if path.is_dir() else path.read_bytes() for path in paths}
