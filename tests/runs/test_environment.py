from __future__ import annotations

import copy
from typing import Any

import pytest

from tuibench.core.text import show
from tuibench.present.reason import all_words
from tuibench.runs.environment import environment_changes, forbids_resume

ENV: dict[str, Any] = {
    "cpu": {
        "brand": "AMD EPYC", "vendor": "AuthenticAMD", "family": "26", "model": "2", "stepping": "1",
        "microcode": "0x1000065", "isa": ["avx2", "fma"], "hypervisor": True, "online_cpus": 2, "packages": 1,
        "cores": 2, "threads": 2, "smt_active": False, "numa_nodes": {"0": "0-1"},
        "caches": [{"name": "L1d", "bytes": 49152, "shared_by": 1, "count": 2},
                   {"name": "L3", "bytes": 33554432, "shared_by": 2, "count": 1}],
    },
    "affinity": {"cpus": "0-1", "physical_cores": 2, "usable_cores": 2, "default_cores": 2, "cpuset": "0-1"},
    "frequency": {"driver": "acpi-cpufreq", "governors": {"performance": 2}, "boost": True, "min_mhz": 400.0,
                  "max_mhz": 3000.0, "current_mhz": 2100.0},
    "memory": {"total_bytes": 25_276_518_400, "available_bytes": 24_870_387_712, "limit_bytes": None,
               "room_bytes": 24_870_387_712, "swap_total_bytes": 0, "swap_used_bytes": 0},
    "cgroup": {"version": "v2", "quota_cpus": None, "throttled_times": 0, "throttled_us": 0},
    "kernel": {"release": "6.1.0", "boot_id": "8e34460a", "isolated_cpus": [], "thp": "madvise", "product": None,
               "schedstat": True, "pressure": True, "machine": "x86_64", "libc": "glibc 2.36"},
    "container": "docker", "load1": 0.0, "python": "3.11.7", "versions": {"numpy": "2.4.6"}, "missing": {},
}  # fmt: skip
VERSIONS = {"tuibench": "0.1.0", "onnxruntime": "1.31.1", "onnx": "1.20", "numpy": "2.4.6"}


def changed(path: str, value: Any) -> dict[str, Any]:
    env = copy.deepcopy(ENV)
    block, _, name = path.rpartition(".")
    (env[block] if block else env)[name] = value
    return env


def changes(path: str, value: Any) -> tuple[str, ...]:
    return all_words(environment_changes(ENV, VERSIONS, changed(path, value), VERSIONS))


def forbids(path: str, value: Any) -> bool:
    return bool(forbids_resume(ENV, VERSIONS, changed(path, value), VERSIONS))


def test_equal_environments_have_no_difference() -> None:
    assert environment_changes(ENV, VERSIONS, copy.deepcopy(ENV), dict(VERSIONS)) == ()


@pytest.mark.parametrize(
    ("path", "value", "line", "ends_the_run"),
    [
        ("cpu.brand", "Intel Xeon", "CPU: AMD EPYC (26/2/1) → Intel Xeon (26/2/1)", True),
        ("cpu.stepping", "2", "CPU: AMD EPYC (26/2/1) → AMD EPYC (26/2/2)", True),
        ("cpu.microcode", "0x2", "microcode: 0x1000065 → 0x2", True),
        ("cpu.caches", [{"name": "L3", "bytes": 1 << 20}], "last-level cache: L3 33.6 MB → L3 1.05 MB", False),
        ("cpu.hypervisor", False, "virtual machine: yes → no", False),
        ("frequency.governors", {"powersave": 2}, "governor: performance → powersave", True),
        ("frequency.governors", None, "governor: performance → unknown", True),
        ("frequency.boost", False, "boost: on → off", True),
        ("frequency.max_mhz", 2000.0, "highest frequency (MHz): 3000 → 2000", False),
        ("cpu.smt_active", True, "SMT: off → on", True),
        ("affinity.cpus", "1-2", "CPUs allowed: 0-1 → 1-2", False),
        ("affinity.usable_cores", 1, "cores that can be used: 2 → 1", True),
        ("cgroup.quota_cpus", 1.5, "CPU quota: none → 1.50 CPUs", True),
        ("kernel.isolated_cpus", [1], "isolated CPUs: none → 1", False),
        ("memory.total_bytes", 8_000_000_000, "memory: 25.3 GB → 8.00 GB", False),
        ("memory.limit_bytes", 4_000_000_000, "memory limit: none → 4.00 GB", False),
        ("container", None, "container: docker → none", False),
        ("kernel.release", "6.5.0", "kernel: 6.1.0 → 6.5.0", True),
        ("kernel.thp", "never", "transparent huge pages: madvise → never", False),
        ("python", "3.12.1", "Python: 3.11.7 → 3.12.1", True),
    ],
)
def test_relevant_difference_is_reported_and_may_block_resume(
    path: str, value: Any, line: str, ends_the_run: bool
) -> None:
    assert changes(path, value) == (line,)
    assert forbids(path, value) == ends_the_run


def test_instruction_sets_list_additions_and_removals() -> None:
    assert changes("cpu.isa", ["fma", "amx_bf16"]) == (
        "instruction sets lost: avx2",
        "instruction sets gained: amx_bf16",
    )


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("load1", 7.0), ("memory.available_bytes", 1), ("memory.room_bytes", 1), ("memory.swap_used_bytes", 9),
        ("frequency.current_mhz", 900.0), ("cgroup.throttled_us", 5), ("missing", {"x": "y"}),
        ("memory.total_bytes", 25_276_510_000),
    ],
)  # fmt: skip
def test_volatile_facts_are_ignored(path: str, value: Any) -> None:
    assert changes(path, value) == ()


def test_boot_difference_shows_no_boot_id() -> None:
    assert changes("kernel.boot_id", "77") == ("the machine was rebooted",)
    assert not forbids("kernel.boot_id", "77")
    assert changes("kernel.boot_id", None) == ()


def test_engine_versions_block_resume_and_reader_versions_do_not() -> None:
    newer = {"tuibench": "0.2.0", "onnxruntime": "1.32.0", "onnx": "1.21", "openvino": "2026.1", "numpy": "2.4.6"}
    lines = ("tuibench: 0.1.0 → 0.2.0", "onnxruntime: 1.31.1 → 1.32.0", "openvino: not installed → 2026.1")
    assert all_words(environment_changes(ENV, VERSIONS, ENV, newer)) == lines
    assert all_words(forbids_resume(ENV, VERSIONS, ENV, newer)) == lines


def test_engine_that_only_one_result_measured_is_no_change() -> None:
    apart = VERSIONS | {"onnxruntime@1.27.0": "1.27.0", "deepsparse": "1.8.0"}
    assert environment_changes(ENV, apart, ENV, VERSIONS) == environment_changes(ENV, VERSIONS, ENV, apart) == ()
    other = apart | {"deepsparse": "1.9.0"}
    assert all_words(environment_changes(ENV, apart, ENV, other)) == ("deepsparse: 1.8.0 → 1.9.0",)


@pytest.mark.parametrize("block", [None, [], "text", 3, {"cpu": ["x"], "kernel": "y", "memory": {"total_bytes": "z"}}])
def test_blocks_of_any_shape_raise_nothing(block: Any) -> None:
    strange = {"cpu": block, "frequency": block, "kernel": block, "cgroup": {"quota_cpus": block}, "memory": block}
    assert environment_changes(ENV, VERSIONS, strange, VERSIONS)
    assert environment_changes(strange, {}, strange, {}) == ()
    assert environment_changes({}, {}, {}, {}) == ()


def test_foreign_names_cannot_drive_a_terminal() -> None:
    hostile = "\x1b[31m\u202e\n" + "x" * 1000
    env = changed("cpu.brand", hostile)
    env["frequency"]["governors"] = {hostile: 1}
    env["cpu"]["isa"] = [hostile]
    for line in all_words(environment_changes(ENV, VERSIONS, env, {hostile: hostile})):
        assert show(line, 1000) == line
        assert len(line) < 300
