"""Requests distributed over NUMA nodes, and threads pinned to nodes."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.build import make_cell, make_job
from tuibench.core.cell import Execution
from tuibench.engines.onnxruntime import node_groups
from tuibench.engines.protocol import LoadSettings
from tuibench.runs.supervision import Bounds, Supervision
from tuibench.runs.task import StopSwitch
from tuibench.worker.bundle import write_bundle
from tuibench.worker.elastic import EMULATED, Balance
from tuibench.worker.loading import Share, divide_cpus, near_cpus
from tuibench.worker.main import make_shares

FOUR_NODES = tuple(tuple(range(32 * node, 32 * node + 32)) for node in range(4))


@given(nodes=st.integers(1, 5), steps=st.lists(st.integers(0, 9), max_size=60))
def test_a_request_goes_to_a_node_with_the_fewest_in_flight(nodes: int, steps: list[int]) -> None:
    balance = Balance(nodes)
    flying: list[list[int]] = [[] for _ in range(nodes)]
    last = 0
    for step in steps:
        busy = [one for one in range(nodes) if flying[one]]
        if step < 4 and busy:
            ended = busy[step % len(busy)]
            flying[ended].pop()
            balance.give_back(ended)
        else:
            taken = balance.take(last)
            fewest = min(map(len, flying))
            assert len(flying[taken]) == fewest
            assert taken == last or len(flying[last]) > fewest
            flying[taken].append(1)
            last = taken


def test_concurrent_requests_are_all_counted() -> None:
    balance = Balance(3)

    def send() -> None:
        for _ in range(500):
            balance.give_back(balance.take(0))

    threads = [threading.Thread(target=send) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [balance.take(0), balance.take(0), balance.take(0)] == [0, 1, 2]


def test_one_instance_serves_each_node_of_the_cores(tmp_path: Path) -> None:
    cell = make_cell(scenario="elastic", cores=128)
    job = make_job(tmp_path, tmp_path, cell, cpus=tuple(range(128)), nodes=FOUR_NODES, streams=8)
    assert make_shares(job, Share(job.cpus, 128)) == [Share(node, 32) for node in FOUR_NODES]


def test_pinned_to_nodes_a_stream_gets_all_cpus_of_its_nodes() -> None:
    cpus = tuple(range(128))
    shares = divide_cpus(cpus, 8, "numa", FOUR_NODES)
    assert [share.cpus for share in shares] == [FOUR_NODES[index // 2] for index in range(8)]
    assert {share.threads for share in shares} == {16}
    assert divide_cpus(cpus, 3, "numa", FOUR_NODES)[0].cpus == FOUR_NODES[0] + FOUR_NODES[1]
    assert near_cpus((5,), ()) == (5,)


def test_each_onnxruntime_thread_gets_the_cpus_of_its_node() -> None:
    setting = LoadSettings(
        "m.onnx", 128, 1, tuple(range(128)), "numa", "f32", one_at_a_time=True, work_dir="", nodes=FOUR_NODES
    )
    groups = [tuple(int(cpu) - 1 for cpu in group.split(",")) for group in node_groups(setting).split(";")]
    assert len(groups) == 127
    assert groups == [FOUR_NODES[thread // 32] for thread in range(1, 128)]


@pytest.mark.parametrize("streams", [1, 2, 3])
def test_elastic_execution_has_its_clients_on_all_nodes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, streams: int
) -> None:
    monkeypatch.setenv("TUIBENCH_FAKE", json.dumps({"default": {"latency_us": 300}}))
    bundle = tmp_path / "inputs.npz"
    write_bundle(bundle, [{"x": np.full((2,), i, dtype=np.float32)} for i in range(2)])
    cpus = tuple(sorted(os.sched_getaffinity(0)))
    cell = make_cell(scenario="elastic", cores=len(cpus), streams=streams)
    nodes = tuple((cpu,) for cpu in cpus)
    job = make_job(tmp_path, bundle, cell, cpus=cpus, nodes=nodes, streams=streams)
    result = Supervision(job, Bounds(1.0, None), StopSwitch(), lambda frame: None, 100).carry_out()
    assert isinstance(result, Execution), result
    assert (result.used.streams, result.used.stream_kind) == (streams, EMULATED)
    assert result.used.distinct_inputs == 2
    assert result.p50_ns >= 300_000
    assert result.iterations >= 3
