"""Other processes (start time, stopped state) and the file system of a path."""

from __future__ import annotations

import os
import re
from pathlib import Path

from tuibench.host.kernel_files import Tree


def start_ticks(pid: int, root: Path = Path("/")) -> int | None:
    """Return the ticks from boot to the start of a process; None if there is no such process."""
    fields = _read(pid, root)
    return int(fields[19]) if fields else None


def is_stopped(pid: int, root: Path = Path("/")) -> bool:
    """Return whether a process is stopped, by Ctrl-Z or a debugger."""
    return _read(pid, root)[:1] in (["T"], ["t"])


def _read(pid: int, root: Path) -> list[str]:
    """Return the fields after the process name, which is in parentheses and may itself contain parentheses."""
    try:
        text = (root / "proc" / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    return text.rpartition(")")[2].split()


_OCTAL = re.compile(r"\\([0-7]{3})")
_REMOTE = frozenset(
    {
        *("nfs", "nfs4", "cifs", "smb3", "smbfs", "ncpfs", "afs", "9p", "ceph", "glusterfs", "lustre", "beegfs"),
        *("gpfs", "pvfs2", "orangefs", "ocfs2", "gfs2", "davfs", "wekafs", "virtiofs"),
    }
)
_REMOTE_FUSE = ("sshfs", "gluster", "ceph", "s3fs", "rclone", "davfs", "beegfs", "juicefs", "gcsfuse", "moosefs")


def find_mount(path: str, mountinfo: str) -> tuple[str, str]:
    """Return mount point and type of the file system of an absolute path; ('', '') if no mount matches."""
    best = "", ""
    for line in mountinfo.splitlines():
        before, separator, after = line.partition(" - ")
        words, kinds = before.split(), after.split()
        if not separator or len(words) < 5 or not kinds:
            continue
        point = _OCTAL.sub(lambda found: chr(int(found[1], 8)), words[4])
        inside = path == point or path.startswith(point.rstrip("/") + "/")
        # Of several mounts on one point the last one hides the others.
        if inside and len(point) >= len(best[0]):
            best = point, kinds[0]
    return best


def is_remote(path: str, root: Path = Path("/")) -> str:
    """Return the type of the network file system that contains a path; '' if it is local or unknown."""
    _, kind = find_mount(os.path.realpath(path), Tree(root).read("proc/self/mountinfo") or "")
    base, _, helper = kind.partition(".")
    shared = base in _REMOTE or (base == "fuse" and helper.startswith(_REMOTE_FUSE))
    return kind if shared else ""
