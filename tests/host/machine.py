"""Machines made of files: the parts of /proc and /sys that a reader sees, written below a directory of the test."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tuibench.core.units import cpu_ranges
from tuibench.host.facts import Process

INTEL_FLAGS = "fpu sse2 avx2 fma f16c avx512f avx512_vnni avx512_bf16 avx_vnni amx_bf16 avx512_fp16 amx_tile amx_int8"
AMD_FLAGS = "fpu sse2 avx2 fma f16c avx512f avx512_vnni avx512_bf16"
ARM_FEATURES = "fp asimd evtstrm aes atomics fphp asimdhp asimddp sve i8mm bf16"


@dataclass(frozen=True)
class Machine:
    """A directory that looks like the root of a machine."""

    root: Path

    def write(self, path: str, text: object) -> None:
        """Put `text` at `path`."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{text}\n")

    def cpu_file(self, cpu: int, path: str, text: object) -> None:
        """Put `text` below a CPU's directory."""
        self.write(f"sys/devices/system/cpu/cpu{cpu}/{path}", text)

    def stat(self, ticks: Mapping[int, Iterable[int]]) -> None:
        """Write /proc/stat: user nice system idle iowait irq softirq steal guest guest_nice per CPU."""
        rows = [f"cpu{cpu} " + " ".join(map(str, row)) for cpu, row in ticks.items()]
        self.write("proc/stat", "\n".join(["cpu  9 9 9 9 9 9 9 9 0 0", *rows, "intr 1 2 3", "ctxt 5"]))

    def schedstat(self, thread: int, ran: int, waited: int) -> None:
        """Write one thread's account."""
        self.write(f"proc/self/task/{thread}/schedstat", f"{ran} {waited} 7")

    def mount(self, *lines: str) -> None:
        """Write mountinfo from 'root point fstype options' lines, among others."""
        rows = ["20 1 8:1 / / rw,relatime shared:1 - ext4 /dev/root rw"]
        for number, line in enumerate(lines, 30):
            top, point, kind, options = line.split()
            rows.append(f"{number} 20 0:{number} {top} {point} rw,nosuid shared:{number} - {kind} {kind} {options}")
            (self.root / point.lstrip("/")).mkdir(parents=True, exist_ok=True)
        self.write("proc/self/mountinfo", "\n".join(rows))


def build_cpus(
    machine: Machine, packages: int, cores: int, smt: int, *, nodes: int = 1, cores_per_l3: int | None = None
) -> tuple[int, ...]:
    """Write topology and caches: `cores` per package, second threads numbered after all first ones, `nodes` each."""
    total = packages * cores
    everyone = range(total * smt)
    per_l3 = cores_per_l3 or cores
    per_node = cores // nodes
    for cpu in everyone:
        core = cpu % total
        package = core // cores
        members = [c for c in everyone if (c % total) // cores == package]
        threads = cpu_ranges(c for c in everyone if c % total == core)
        machine.cpu_file(cpu, "topology/physical_package_id", package)
        machine.cpu_file(cpu, "topology/core_id", core % cores)
        machine.cpu_file(cpu, "topology/die_id", 0)
        machine.cpu_file(cpu, "topology/thread_siblings_list", threads)
        machine.cpu_file(cpu, "topology/package_cpus_list", cpu_ranges(members))
        machine.cpu_file(cpu, "topology/die_cpus_list", cpu_ranges(members))
        _build_caches(machine, cpu, threads, [c for c in everyone if (c % total) // per_l3 == core // per_l3])
    for node in range(packages * nodes):
        cpus = cpu_ranges(c for c in everyone if (c % total) // per_node == node)
        machine.write(f"sys/devices/system/node/node{node}/cpulist", cpus)
    machine.write("sys/devices/system/cpu/online", cpu_ranges(everyone))
    machine.write("sys/devices/system/cpu/smt/active", int(smt > 1))
    return tuple(everyone)


def _build_caches(machine: Machine, cpu: int, threads: str, l3: Iterable[int]) -> None:
    rows = [(1, "Data", "48K", threads), (1, "Instruction", "32K", threads), (2, "Unified", "2048K", threads)]
    for index, (level, kind, size, shared) in enumerate([*rows, (3, "Unified", "32M", cpu_ranges(l3))]):
        for name, value in (("level", level), ("type", kind), ("size", size), ("shared_cpu_list", shared)):
            machine.cpu_file(cpu, f"cache/index{index}/{name}", value)


def build_system(machine: Machine) -> None:
    """Write the files that every Linux has."""
    machine.write("proc/sys/kernel/osrelease", "6.8.0-41-generic")
    machine.write("proc/sys/kernel/random/boot_id", "5b1d9a4e-0000-4000-8000-000000000001")
    machine.write("proc/loadavg", "0.52 0.48 0.40 1/234 5678")
    machine.write("proc/cmdline", "BOOT_IMAGE=/vmlinuz root=UUID=secret")
    machine.write("proc/self/schedstat", "123 4 5")
    machine.write("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never")
    machine.write("sys/devices/system/cpu/isolated", "")
    lines = ("MemTotal: 65536000 kB", "MemFree: 60000000 kB", "MemAvailable: 62000000 kB")
    machine.write("proc/meminfo", "\n".join([*lines, "SwapTotal: 2000 kB", "SwapFree: 1500 kB"]))
    for name in ("cpu", "memory", "io"):
        machine.write(f"proc/pressure/{name}", "some avg10=0.00 avg60=0.00 avg300=0.00 total=1000\nfull total=7")


def build_cpuinfo(machine: Machine, cpus: Iterable[int], *, brand: str, vendor: str, flags: str) -> None:
    """Write /proc/cpuinfo as x86 does."""
    entry = (
        f"vendor_id\t: {vendor}\ncpu family\t: 6\nmodel\t\t: 143\nmodel name\t: {brand}\nstepping\t: 8\n"
        f"microcode\t: 0x2b0005c0\ncpu MHz\t\t: 2000.000\nflags\t\t: {flags}\nbugs\t\t: spectre_v1"
    )
    machine.write("proc/cpuinfo", "\n\n".join(f"processor\t: {cpu}\n{entry}" for cpu in cpus))


def build_arm_cpuinfo(machine: Machine, cpus: Iterable[int]) -> None:
    """Write /proc/cpuinfo as ARM servers do: numbers, and no brand."""
    entry = (
        f"BogoMIPS\t: 2100.00\nFeatures\t: {ARM_FEATURES}\nCPU implementer\t: 0x41\nCPU architecture: 8\n"
        "CPU variant\t: 0x1\nCPU part\t: 0xd40\nCPU revision\t: 1"
    )
    machine.write("proc/cpuinfo", "\n\n".join(f"processor\t: {cpu}\n{entry}" for cpu in cpus))


def build_frequency(machine: Machine, cpus: Iterable[int], governor: str, khz: int = 2_400_000) -> None:
    """Write cpufreq for each CPU."""
    for cpu in cpus:
        for name, value in (
            ("scaling_governor", governor),
            ("scaling_cur_freq", khz),
            ("scaling_driver", "intel_pstate"),
            ("scaling_min_freq", 800_000),
            ("scaling_max_freq", 3_800_000),
        ):
            machine.cpu_file(cpu, f"cpufreq/{name}", value)


def process_on(cpus: Iterable[int], **changes: object) -> Process:
    """Return a process that may use `cpus`, independent of the machine that runs the test."""
    values: dict[str, object] = {
        "affinity": tuple(cpus),
        "machine": "x86_64",
        "python": "3.12.1",
        "libc": "glibc 2.39",
        "versions": {"numpy": "2.0.0", "openvino": None},
        "environ": {},
        "argv": ("tuibench", "doctor"),
        "executable": "/home/ann/venv/bin/python",
        "cwd": "/home/ann",
        "hostname": "secret-host",
        "user": "ann",
    }
    return Process(**(values | changes))  # type: ignore[arg-type]
