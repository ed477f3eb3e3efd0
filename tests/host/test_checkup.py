from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.host.machine import (
    AMD_FLAGS,
    Machine,
    build_arm_cpuinfo,
    build_cpuinfo,
    build_cpus,
    build_frequency,
    build_system,
    process_on,
)
from tuibench.host.checkup import examine, sample_noise
from tuibench.host.cpu import Brand

QUIET_TICKS = dict.fromkeys(range(4), (0, 0, 0, 50, 0, 0, 0, 0, 0, 0))


@pytest.fixture
def host(machine: Machine) -> Machine:
    """A quiet machine of four cores without findings."""
    build_system(machine)
    machine.write("proc/meminfo", "MemTotal: 64000000 kB\nMemAvailable: 60000000 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB")
    build_cpuinfo(machine, range(4), brand="AMD EPYC", vendor="AuthenticAMD", flags=AMD_FLAGS)
    build_frequency(machine, build_cpus(machine, packages=1, cores=4, smt=1), "performance")
    machine.stat(QUIET_TICKS)
    return machine


def examined(host: Machine, cpus: tuple[int, ...] = (0, 1, 2, 3), **changes: Any) -> dict[str, Any]:
    settings: dict[str, Any] = {"root": host.root, "sleep": lambda _: None, "canary": lambda: 300_000}
    settings |= {"cpu_seconds": dict} | changes
    return examine(process_on(cpus), **settings)


def numbers(text: str) -> list[float]:
    """Return the numbers in a text."""
    return [float(found) for found in re.findall(r"[0-9]+(?:\.[0-9]+)?", text)]


def findings_of(host: Machine, cpus: tuple[int, ...] = (0, 1, 2, 3), **changes: Any) -> dict[str, dict[str, str]]:
    found = examined(host, cpus, **changes)["findings"]
    for finding in found:
        assert finding["seen"]
        assert finding["why"]
        assert finding["mend"]
    return {finding["topic"]: finding for finding in found}


def group(host: Machine, **files: object) -> None:
    host.write("proc/self/cgroup", "0::/")
    host.mount("/ /sys/fs/cgroup cgroup2 rw")
    for name, text in files.items():
        host.write(f"sys/fs/cgroup/{name.replace('_', '.')}", text)


def test_quiet_machine_has_no_findings(host: Machine) -> None:
    facts = examined(host)
    assert facts["findings"] == []
    assert facts["schema"] == 1
    assert json.loads(json.dumps(facts)) == facts


def test_sample_covers_the_time_of_the_sleep(host: Machine) -> None:
    group(host, cpu_stat="nr_throttled 1\nthrottled_usec 100")
    slept: list[float] = []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        host.stat({0: (30, 0, 0, 70, 0, 0, 0, 0), 1: (0, 0, 0, 90, 0, 0, 0, 10), 2: (90, 0, 0, 60, 0, 0, 0, 0)})
        host.write("proc/pressure/cpu", "some avg10=0 total=101000")
        host.write("sys/fs/cgroup/cpu.stat", "nr_throttled 2\nthrottled_usec 350")

    clock = iter((10.0, 10.5))
    canaries = iter((300_000, 309_000))
    used = iter(
        (
            {(7, 1.0): ("make", 10.0), (8, 1.0): ("idle", 1.0), (9, 1.0): ("old", 5.0)},
            {(7, 1.0): ("make", 10.4), (8, 1.0): ("idle", 1.01), (9, 2.0): ("new", 9.0)},
        )
    )
    noise = sample_noise(
        (0, 1), host.root, seconds=0.5, sleep=sleep, canary=lambda: next(canaries), clock=lambda: next(clock),
        cpu_seconds=lambda: next(used),
    )  # fmt: skip
    assert slept == [0.5]
    assert noise["processes"] == [{"pid": 7, "name": "make", "cpus": 0.8}], "not what began meanwhile"
    assert noise["busy"] == {"0": 0.6, "1": 0.2}
    assert noise["busy_share"] == pytest.approx(0.4)
    assert noise["steal_share"] == pytest.approx(0.1)
    assert noise["throttled_us"] == 250
    assert noise["pressure"]["cpu"] == pytest.approx(0.2)
    assert noise["canary_ns"] == 300_000
    assert noise["canary_drift"] == pytest.approx(0.03)


@pytest.mark.parametrize(("governor", "level"), [("powersave", "harm"), ("schedutil", "note")])
def test_governor_that_changes_the_clock_is_found(host: Machine, governor: str, level: str) -> None:
    build_frequency(host, (0, 1), governor)
    finding = findings_of(host)["governor"]
    assert finding["level"] == level
    assert governor in finding["seen"] and numbers(finding["seen"]) == [2]


def test_quota_below_the_cores_is_found(host: Machine) -> None:
    group(host, cpu_max="250000 100000")
    finding = findings_of(host)["quota"]
    assert numbers(finding["seen"]) == [2.5, 4] and numbers(finding["mend"]) == [2]
    group(host, cpu_max="150000 100000")
    assert numbers(findings_of(host)["quota"]["mend"]) == [1]
    group(host, cpu_max="400000 100000")
    assert "quota" not in findings_of(host)


def test_earlier_throttling_is_a_note_and_present_one_is_harm(host: Machine) -> None:
    group(host, cpu_stat="nr_throttled 3\nthrottled_usec 2000000")
    assert numbers(findings_of(host)["throttling"]["seen"]) == [3, 2]
    assert findings_of(host)["throttling"]["level"] == "note"

    def sleep(_: float) -> None:
        group(host, cpu_stat="nr_throttled 4\nthrottled_usec 2100000")

    assert findings_of(host, sleep=sleep)["throttling"]["level"] == "harm"


def test_busy_cpus_and_steal_are_found(host: Machine) -> None:
    def sleep(_: float) -> None:
        host.stat({**QUIET_TICKS, 1: (0, 0, 0, 100, 0, 0, 0, 0), 2: (40, 0, 0, 50, 0, 0, 0, 10), 3: (50, 0, 0, 50)})

    used = iter(({(9, 1.0): ("make", 0.0)}, {(9, 1.0): ("make", 1e6)}))
    found = findings_of(host, sleep=sleep, cpu_seconds=lambda: next(used))
    assert numbers(found["busy"]["seen"])[:3] == [2, 3, 100] and "make (9)" in found["busy"]["seen"]
    assert numbers(found["steal"]["seen"]) == [6.7]
    assert found["steal"]["level"] == "harm"


def test_changing_cpu_speed_is_found(host: Machine) -> None:
    ticks = iter((300_000, 330_000))
    assert numbers(findings_of(host, canary=lambda: next(ticks))["speed"]["seen"]) == [10]
    ticks = iter((300_000, 303_000))
    assert "speed" not in findings_of(host, canary=lambda: next(ticks))


def test_kernel_without_schedstat_is_found(host: Machine) -> None:
    host.write("proc/self/schedstat", "0 0 0")
    assert findings_of(host)["schedstat"]["level"] == "harm"


def test_used_swap_is_found(host: Machine) -> None:
    host.write("proc/meminfo", "MemAvailable: 60000000 kB\nSwapTotal: 2000000 kB\nSwapFree: 1000000 kB")
    assert numbers(findings_of(host)["swap"]["seen"]) == [1.02]


def test_little_memory_and_memory_pressure_are_found(host: Machine) -> None:
    def sleep(_: float) -> None:
        host.write("proc/pressure/memory", "some avg10=0 total=99000000")

    assert numbers(findings_of(host, sleep=sleep)["memory"]["seen"])[-1] == 100
    host.write("proc/pressure/memory", "some total=1")
    group(host, memory_max=500_000_000, memory_current=100_000_000)
    assert numbers(findings_of(host)["memory"]["seen"]) == [400]


def test_smt_and_numa_nodes_are_found(host: Machine) -> None:
    cpus = build_cpus(host, packages=2, cores=2, smt=2)
    found = findings_of(host, cpus)
    assert found["smt"]["level"] == "note"
    assert numbers(found["numa"]["seen"]) == [2]


def test_virtual_machine_without_a_governor_is_found(host: Machine) -> None:
    build_cpuinfo(host, range(4), brand="x", vendor="y", flags=f"{AMD_FLAGS} hypervisor")
    assert "virtual" not in findings_of(host)
    for cpu in range(4):
        (host.root / f"sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor").unlink()
    assert findings_of(host)["virtual"]["level"] == "note"


@pytest.mark.parametrize(("mode", "count"), [("[always] madvise never", 1), ("always [madvise] never", 0)])
def test_huge_page_mode_is_checked(host: Machine, mode: str, count: int) -> None:
    host.write("sys/kernel/mm/transparent_hugepage/enabled", mode)
    assert ("huge pages" in findings_of(host)) == bool(count)


def test_affinity_smaller_than_the_machine_is_found(host: Machine) -> None:
    assert numbers(findings_of(host, (1, 2))["affinity"]["seen"]) == [1, 2, 4]


def test_terminal_encoding_without_unicode_is_found(host: Machine) -> None:
    assert "ascii" in findings_of(host, terminal={"encoding": "ascii"})["terminal"]["seen"]
    assert findings_of(host, terminal={"encoding": "UTF-8"}) == {}


def test_missing_and_unresponsive_engines_are_found(host: Machine) -> None:
    engines: list[dict[str, Any]] = [
        {"name": "onnxruntime", "available": True, "version": "1.20", "error": None},
        {"name": "openvino", "available": False, "version": None, "error": "No module named 'openvino'"},
    ]
    missing = findings_of(host, engines=engines)["engines"]
    assert missing["level"] == "note"
    assert engines[1]["error"] in missing["seen"] and missing["mend"].endswith("'tuibench[openvino]'")
    engines[0]["available"] = None
    engines[0]["error"] = "the child ended with 1"
    worst = examined(host, engines=engines)["findings"][0]
    assert worst["level"] == "harm"
    assert "onnxruntime" in worst["seen"] and engines[0]["error"] in worst["seen"]


def test_harm_findings_come_before_notes(host: Machine) -> None:
    build_cpus(host, packages=2, cores=2, smt=1)
    host.write("proc/self/schedstat", "0 0 0")
    assert [finding["level"] for finding in examined(host)["findings"]] == ["harm", "note"]


def test_slow_brand_lookup_runs_only_if_files_lack_the_brand(host: Machine) -> None:
    asked: list[str | None] = []

    def brand(boot_id: str | None) -> Brand:
        asked.append(boot_id)
        return Brand("Neoverse-V1", ("sve",))

    assert examined(host, brand=brand)["env"]["cpu"]["brand"] == "AMD EPYC"
    assert asked == []
    build_arm_cpuinfo(host, range(4))
    env = examined(host, brand=brand)["env"]
    assert asked == [env["kernel"]["boot_id"]]
    assert env["cpu"]["brand"] == "Neoverse-V1"
    assert "cpu.brand" not in env["missing"]
    assert "asimddp" in env["cpu"]["isa"]


def test_machine_without_readable_files_is_examined(machine: Machine) -> None:
    facts = examined(machine, (0,))
    assert facts["noise"]["steal_share"] is None
    assert facts["noise"]["pressure"] == {}
    assert [finding["topic"] for finding in facts["findings"]] == ["schedstat"]
