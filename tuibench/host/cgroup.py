"""Control groups of this process: CPU and memory limits, and throttling so far."""

from __future__ import annotations

from collections.abc import Iterator

from tuibench.core.value import dataclass
from tuibench.host.kernel_files import Mount, Tree, parse_cpus, parse_mounts, parse_pairs

_V1_CONTROLLERS = ("cpu", "cpuset", "memory")
_V1_NO_LIMIT = 1 << 62
_MOUNTS = "sys/fs/cgroup"


@dataclass(frozen=True, slots=True)
class Groups:
    """Directories of this process's groups per hierarchy, from the innermost to the highest visible one."""

    version: str | None
    """v1, v2 or hybrid; None without control groups."""
    unified: tuple[str, ...] = ()
    cpu: tuple[str, ...] = ()
    cpuset: tuple[str, ...] = ()
    memory: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Throttling:
    """Number and total time of stops by a CPU quota since the groups were created."""

    times: int
    us: int


@dataclass(frozen=True, slots=True)
class MemoryRoom:
    """Memory that can still be allocated, within the limits of the machine and of the groups."""

    total_bytes: int | None
    available_bytes: int | None
    limit_bytes: int | None
    """The lowest limit of the groups."""
    room_bytes: int | None
    """The available memory or the groups' remaining memory, whichever is less."""


def find_groups(tree: Tree) -> Groups:
    """Find the groups of this process, with or without a cgroup namespace, for v1, v2 and both mounted together."""
    own = _own_paths(tree)
    mounts = _mounts(tree)
    if not mounts:
        mounts = _guessed_mounts(tree)
    dirs = {name: _walk(tree, mounts.get(name, []), own.get(name, "/")) for name in ("", *_V1_CONTROLLERS)}
    old = any(dirs[name] for name in _V1_CONTROLLERS)
    version = ("hybrid" if old else "v2") if dirs[""] else ("v1" if old else None)
    return Groups(version, dirs[""], dirs["cpu"], dirs["cpuset"], dirs["memory"])


def read_quota(tree: Tree, groups: Groups) -> float | None:
    """Return the tightest quota of the groups, in CPUs; None if no group sets one."""
    quotas = [amount for amount in _quotas(tree, groups) if amount is not None]
    return min(quotas, default=None)


def read_cpuset(tree: Tree, groups: Groups) -> tuple[int, ...] | None:
    """Return the CPUs that the groups allow; None if no group restricts them."""
    for name in (f"{path}/cpuset.cpus.effective" for path in groups.unified):
        if cpus := parse_cpus(tree.read(name)):
            return cpus
    for path in groups.cpuset:
        for leaf in ("cpuset.effective_cpus", "cpuset.cpus"):
            if cpus := parse_cpus(tree.read(f"{path}/{leaf}")):
                return cpus
    return None


def read_throttling(tree: Tree, groups: Groups) -> Throttling | None:
    """Return the throttling by all quotas of the groups so far; None if no group counts it."""
    times = us = 0
    seen = False
    for path in (*groups.unified, *groups.cpu):
        stat = parse_pairs(tree.read(f"{path}/cpu.stat"))
        if "nr_throttled" in stat:
            seen = True
            times += stat["nr_throttled"]
            us += stat.get("throttled_usec", stat.get("throttled_time", 0) // 1000)
    return Throttling(times, us) if seen else None


def read_memory(tree: Tree, groups: Groups) -> MemoryRoom:
    """Return the memory that can be allocated: the machine's free memory and the groups' remaining memory."""
    info = parse_pairs(tree.read("proc/meminfo"))
    # Kernels before Linux 3.14 have no MemAvailable.
    available = info.get("MemAvailable", info.get("MemFree"))
    bounds = list(_memory_bounds(tree, groups))
    rooms = [max(limit - used, 0) for limit, used in bounds]
    if available is not None:
        rooms.append(available)
    limit = min((bound[0] for bound in bounds), default=None)
    return MemoryRoom(info.get("MemTotal"), available, limit, min(rooms, default=None))


def _quotas(tree: Tree, groups: Groups) -> Iterator[float | None]:
    for path in groups.unified:
        words = (tree.read(f"{path}/cpu.max") or "").split()
        yield _ratio(*words) if len(words) == 2 else None
    for path in groups.cpu:
        quota = tree.read(f"{path}/cpu.cfs_quota_us")
        if quota is not None and not quota.startswith("-"):
            yield _ratio(quota, tree.read(f"{path}/cpu.cfs_period_us") or "")


def _ratio(quota: str, period: str) -> float | None:
    if not (quota.isdecimal() and period.isdecimal()) or int(quota) == 0 or int(period) == 0:
        return None
    return int(quota) / int(period)


def _memory_bounds(tree: Tree, groups: Groups) -> Iterator[tuple[int, int]]:
    sources = [(path, "memory.max", "memory.current", "inactive_file") for path in groups.unified]
    sources += [
        (path, "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file") for path in groups.memory
    ]
    for path, limit_name, usage_name, cache_name in sources:
        limit = tree.number(f"{path}/{limit_name}")
        if limit is None or limit >= _V1_NO_LIMIT:
            continue
        # The kernel drops idle page cache before it refuses an allocation.
        cache = parse_pairs(tree.read(f"{path}/memory.stat")).get(cache_name, 0)
        yield limit, max((tree.number(f"{path}/{usage_name}") or 0) - cache, 0)


def _own_paths(tree: Tree) -> dict[str, str]:
    paths: dict[str, str] = {}
    for line in (tree.read("proc/self/cgroup") or "").splitlines():
        number, _, rest = line.partition(":")
        names, _, path = rest.partition(":")
        for name in names.split(",") if names else [""] if number == "0" else []:
            paths[name] = path.removesuffix(" (deleted)")
    return paths


def _mounts(tree: Tree) -> dict[str, list[Mount]]:
    mounts: dict[str, list[Mount]] = {}
    for mount in parse_mounts(tree.read("proc/self/mountinfo")):
        controllers = [name for name in mount.options.split(",") if name in _V1_CONTROLLERS]
        for name in {"cgroup": controllers, "cgroup2": [""]}.get(mount.kind, ()):
            mounts.setdefault(name, []).append(mount)
    return mounts


def _guessed_mounts(tree: Tree) -> dict[str, list[Mount]]:
    if tree.exists(f"{_MOUNTS}/cgroup.controllers"):
        return {"": [Mount("/", f"/{_MOUNTS}")]}
    names = [name for name in _V1_CONTROLLERS if tree.exists(f"{_MOUNTS}/{name}")]
    return {name: [Mount("/", f"/{_MOUNTS}/{name}")] for name in names}


def _walk(tree: Tree, mounts: list[Mount], own: str) -> tuple[str, ...]:
    best: tuple[str, ...] = ()
    for mount in mounts:
        parts = _below(own, mount.root)
        # A container may see only its own part of the hierarchy, while the path is the host's.
        while parts and not tree.exists("/".join((mount.point, *parts))):
            parts.pop()
        if not parts and not tree.exists(mount.point):
            continue
        dirs = tuple("/".join((mount.point.rstrip("/"), *parts[:n])) for n in range(len(parts), -1, -1))
        best = max(best, dirs, key=len)
    return best


def _below(own: str, root: str) -> list[str]:
    parts = [part for part in own.split("/") if part]
    above = [part for part in root.split("/") if part]
    if ".." in parts or parts[: len(above)] != above:
        return []
    return parts[len(above) :]
