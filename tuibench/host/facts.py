"""Facts about this machine and interpreter that each result records, private ones kept separate."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tuibench import __version__
from tuibench.core.engine import REGISTRY
from tuibench.core.units import cpu_ranges
from tuibench.core.value import dataclass
from tuibench.host.cgroup import find_groups
from tuibench.host.cpu import read_caches, read_frequency, read_identity
from tuibench.host.kernel_files import Tree, parse_cpus
from tuibench.host.noise import read_frequency_mhz, read_load1
from tuibench.host.system import read_container, read_group_facts, read_kernel, read_memory_facts
from tuibench.host.topology import Topology, read_topology

_BESIDE = (one for one in REGISTRY.values() if not one.hidden and not one.own_release)
PACKAGES = ("tuibench", *(one.package for one in _BESIDE), "onnx", "numpy")
"""Distributions of this interpreter whose versions a result records; engines with one of their own have records."""
_METADATA = re.compile(r"([\w.]+)-([^-]+)(?:-py[\d.]+)?\.(?:dist|egg)-info")
_NAMED = ("brand", "vendor", "family", "model", "stepping", "microcode")


@dataclass(frozen=True, slots=True)
class Process:
    """Facts of the running process that no file contains; tests pass those of a recorded machine."""

    affinity: tuple[int, ...]
    machine: str
    python: str
    libc: str | None
    versions: Mapping[str, str | None]
    environ: Mapping[str, str]
    argv: tuple[str, ...] = ()
    executable: str = ""
    cwd: str | None = None
    hostname: str | None = None
    user: str | None = None


def this_process(packages: Sequence[str] = PACKAGES) -> Process:
    """Describe the running process; a missing home, passwd entry or working directory is no error."""
    uname = os.uname()
    return Process(
        affinity=tuple(sorted(os.sched_getaffinity(0))),
        machine=uname.machine,
        python=".".join(map(str, sys.version_info[:3])),
        libc=_libc(),
        versions=read_versions(packages),
        environ=os.environ,
        argv=tuple(sys.argv),
        executable=sys.executable,
        cwd=_cwd(),
        hostname=uname.nodename,
        user=_user(),
    )


def read_versions(packages: Sequence[str]) -> dict[str, str | None]:
    """Return the versions of distributions by the names of their metadata directories; None if not installed.

    importlib.metadata reads and parses the metadata themselves, which takes a sixth of a runner's CPU.
    """
    found: dict[str, str | None] = dict.fromkeys(packages)
    for directory in reversed(sys.path):
        try:
            names = os.listdir(directory or os.curdir)
        except OSError:
            continue  # a missing directory, or an archive
        for name in names:
            if match := _METADATA.fullmatch(name):
                project = match[1].replace("_", "-").lower()
                if project in found:
                    found[project] = match[2]
    if "tuibench" in found and found["tuibench"] is None:
        # A clone that is not installed has no metadata.
        found["tuibench"] = __version__
    return found


def read_facts(process: Process, root: Path = Path("/")) -> dict[str, Any]:
    """Return all facts: `env` may be published, `env_private` stays on this machine unless its owner decides otherwise.

    Unreadable values are None, each with its reason under `env["missing"]`.
    """
    tree = Tree(root)
    topology = read_topology(process.affinity, root)
    groups = find_groups(tree)
    identity = read_identity(tree)
    env: dict[str, Any] = {
        "cpu": identity | _count(tree, topology) | {"caches": read_caches(tree, topology.allowed)},
        "affinity": _describe_affinity(topology),
        "frequency": read_frequency(tree, topology.allowed)
        | {"current_mhz": read_frequency_mhz(tree, topology.allowed)},
        "memory": read_memory_facts(tree, groups),
        "cgroup": read_group_facts(tree, groups, topology.quota),
        "kernel": read_kernel(tree) | {"machine": process.machine, "libc": process.libc},
        "container": read_container(tree, process.environ),
        "load1": read_load1(tree),
        "python": process.python,
        "versions": dict(process.versions),
    }
    env["missing"] = _missing(env)
    return {"env": env, "env_private": _private(tree, process, groups.unified + groups.cpu)}


def _count(tree: Tree, topology: Topology) -> dict[str, Any]:
    online = parse_cpus(tree.read("sys/devices/system/cpu/online"))
    active = tree.read("sys/devices/system/cpu/smt/active")
    return {
        "online_cpus": len(online) or None,
        "packages": len({core.package for core in topology.cores}),
        "cores": len(topology.cores),
        "threads": sum(len(core.threads) for core in topology.cores),
        "smt_active": topology.smt if active is None else active == "1",
        "numa_nodes": {str(node): cpu_ranges(cpus) for node, cpus in topology.nodes.items()},
    }


def _describe_affinity(topology: Topology) -> dict[str, Any]:
    return {
        "cpus": cpu_ranges(topology.allowed),
        "physical_cores": len(topology.cores),
        "usable_cores": topology.usable_cores,
        "default_cores": topology.default_cores,
        "cpuset": None if topology.cpuset is None else cpu_ranges(topology.cpuset),
    }


def _private(tree: Tree, process: Process, groups: tuple[str, ...]) -> dict[str, Any]:
    return {
        "hostname": process.hostname,
        "user": process.user,
        "argv": list(process.argv),
        "executable": process.executable,
        "cwd": process.cwd,
        "kernel_cmdline": tree.read("proc/cmdline"),
        "cgroup_paths": list(groups),
    }


def _missing(env: Mapping[str, Any]) -> dict[str, str]:
    virtual = ": virtual machine" if env["cpu"]["hypervisor"] else ""
    reasons = {
        "not in /proc/cpuinfo": [f"cpu.{name}" for name in _NAMED],
        "no flags in /proc/cpuinfo": ["cpu.isa"],
        "not in /sys": ["cpu.online_cpus"],
        "unknown on this architecture": ["cpu.hypervisor"],
        f"no cpufreq{virtual}": [
            f"frequency.{name}" for name in ("governors", "driver", "min_mhz", "max_mhz", "current_mhz")
        ],
        f"no boost switch in /sys{virtual}": ["frequency.boost"],
        "not in /proc/meminfo": [
            f"memory.{name}_bytes" for name in ("total", "available", "room", "swap_total", "swap_used")
        ],
        "no limit": ["memory.limit_bytes"],
        "no control groups": ["cgroup.version"],
        "no quota": ["cgroup.quota_cpus"],
        "no CPU control group": ["cgroup.throttled_times", "cgroup.throttled_us"],
        "no control group restricts it": ["affinity.cpuset"],
        "no /proc/sys/kernel": ["kernel.release", "kernel.boot_id"],
        "no transparent huge pages": ["kernel.thp"],
        "no readable DMI": ["kernel.product"],
        "unknown C library": ["kernel.libc"],
    }

    def value_of(place: str) -> Any:
        block, _, name = place.partition(".")
        return env[block][name]

    return {place: why for why, places in reasons.items() for place in places if value_of(place) is None}


def _libc() -> str | None:
    try:
        return os.confstr("CS_GNU_LIBC_VERSION")
    except (ValueError, OSError):
        # musl does not support this name.
        return "musl" if any(name.startswith("ld-musl-") for name in Tree().entries("lib")) else None


def _user() -> str | None:
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return None


def _cwd() -> str | None:
    try:
        return os.getcwd()
    except OSError:
        return None
