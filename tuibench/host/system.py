"""The operating system: kernel, container, control groups, memory, swap, mounts and processes."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tuibench.host.cgroup import Groups, Throttling, read_memory, read_throttling
from tuibench.host.kernel_files import Tree, parse_cpus, parse_mounts, parse_pairs

_CHOSEN = re.compile(r"\[(\w+)\]")
_IN_PATH = re.compile(r"(?:^|[/:_-])(docker|kubepods|lxc|libpod|containerd|garden)(?:[/.:_-]|$)", re.MULTILINE)
_PATH_KINDS = {"kubepods": "kubernetes", "libpod": "podman"}

_MACHINE_ID = re.compile(r"[0-9a-f]{32}")
_FILES = ("etc/machine-id", "var/lib/dbus/machine-id")


def read_kernel(tree: Tree) -> dict[str, Any]:
    """Return kernel, boot id, isolated CPUs and kernel settings."""
    return {
        "release": tree.read("proc/sys/kernel/osrelease"),
        "boot_id": tree.read("proc/sys/kernel/random/boot_id"),
        "isolated_cpus": list(parse_cpus(tree.read("sys/devices/system/cpu/isolated"))),
        "thp": _chosen(tree.read("sys/kernel/mm/transparent_hugepage/enabled")),
        "product": tree.read("sys/class/dmi/id/product_name") or None,
        "schedstat": _keeps_schedstat(tree),
        "pressure": tree.exists("proc/pressure/cpu"),
    }


def read_container(tree: Tree, environ: Mapping[str, str]) -> str | None:
    """Return the kind of container of this process; None if no sign of one is found."""
    if "KUBERNETES_SERVICE_HOST" in environ or tree.exists("var/run/secrets/kubernetes.io"):
        return "kubernetes"
    if tree.exists(".dockerenv"):
        return "docker"
    if tree.exists("run/.containerenv"):
        return "podman"
    named = tree.read("run/systemd/container") or environ.get("container")
    if named:
        return named
    found = _IN_PATH.search(tree.read("proc/self/cgroup") or "")
    return _PATH_KINDS.get(found.group(1), found.group(1)) if found else None


def read_memory_facts(tree: Tree, groups: Groups) -> dict[str, Any]:
    """Return memory and swap, and the limits of the control groups."""
    room = read_memory(tree, groups)
    info = parse_pairs(tree.read("proc/meminfo"))
    swap_total, swap_free = info.get("SwapTotal"), info.get("SwapFree")
    return {
        "total_bytes": room.total_bytes,
        "available_bytes": room.available_bytes,
        "limit_bytes": room.limit_bytes,
        "room_bytes": room.room_bytes,
        "swap_total_bytes": swap_total,
        "swap_used_bytes": None if swap_total is None or swap_free is None else swap_total - swap_free,
    }


def read_group_facts(tree: Tree, groups: Groups, quota: float | None) -> dict[str, Any]:
    """Return version and CPU quota of the control groups, and their throttling so far."""
    throttling: Throttling | None = read_throttling(tree, groups)
    return {
        "version": groups.version,
        "quota_cpus": quota,
        "throttled_times": throttling.times if throttling else None,
        "throttled_us": throttling.us if throttling else None,
    }


def _chosen(text: str | None) -> str | None:
    found = _CHOSEN.search(text or "")
    return found.group(1) if found else None


def _keeps_schedstat(tree: Tree) -> bool:
    # A kernel without this accounting has no such file, or prints zeros even for the reading thread.
    text = tree.read("proc/self/schedstat")
    return text is not None and text.split() != ["0", "0", "0"]


def read_machine(root: Path = Path("/"), environ: Mapping[str, str] | None = None) -> str:
    """Return the machine id, or the host name if there is none; in containers, which may share an id, return both."""
    tree = Tree(root)
    host = tree.read("proc/sys/kernel/hostname") or ""
    texts = (tree.read(path) for path in _FILES)
    # A golden image contains "uninitialized" until its first boot.
    machine = next((text for text in texts if text and _MACHINE_ID.fullmatch(text)), None)
    if machine is None:
        return f"host {host or 'unknown'}"
    contained = read_container(tree, os.environ if environ is None else environ)
    return f"machine-id {machine}" + (f" host {host}" if contained else "")


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
    for mount in parse_mounts(mountinfo):
        inside = path == mount.point or path.startswith(mount.point.rstrip("/") + "/")
        # Of several mounts on one point the last one hides the others.
        if inside and len(mount.point) >= len(best[0]):
            best = mount.point, mount.kind
    return best


def is_remote(path: str, root: Path = Path("/")) -> str:
    """Return the type of the network file system that contains a path; '' if it is local or unknown."""
    _, kind = find_mount(os.path.realpath(path), Tree(root).read("proc/self/mountinfo") or "")
    base, _, helper = kind.partition(".")
    shared = base in _REMOTE or (base == "fuse" and helper.startswith(_REMOTE_FUSE))
    return kind if shared else ""
