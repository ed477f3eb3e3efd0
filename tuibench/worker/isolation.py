"""Prepares a fresh process for a measurement: CPUs, environment, memory limit, log and its end with the parent."""

from __future__ import annotations

import ctypes
import os
import resource
import signal
from collections.abc import Iterable, Mapping

_PR_SET_PDEATHSIG = 1
_THREAD_STACK_BYTES = 128 << 20


def die_with_parent(parent: int, sig: int = signal.SIGKILL) -> None:
    """Make the kernel end this process as soon as the thread that started it ends, for any reason."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, sig)
    if os.getppid() != parent:
        os._exit(1)


def redirect_output(path: str) -> None:
    """Redirect fd 1 and 2 to a log, because engines print from C++."""
    log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.close(log)


def ignore_interrupts() -> None:
    """Ignore Ctrl-C, which every process of the terminal receives; only the runner handles it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def prefer_oom_kill() -> None:
    """Let the kernel kill this process first when memory runs out, rather than the user's shell."""
    try:
        with open("/proc/self/oom_score_adj", "w", encoding="ascii") as handle:
            handle.write("1000")
    except OSError as error:
        os.write(2, f"oom_score_adj stays as it is: {error}\n".encode())


def pin_process(cpus: Iterable[int]) -> None:
    """Pin the calling thread, and all threads and processes that it creates later, to `cpus`."""
    os.sched_setaffinity(0, set(cpus))


def apply_environment(variables: Mapping[str, str]) -> None:
    """Set variables that libraries read on import; call it before they are imported."""
    os.environ.update(variables)


def thread_variables(threads: int) -> dict[str, str]:
    """Return the variables that limit thread pools: one thread for numpy's BLAS, `threads` for OpenMP."""
    return {
        "OPENBLAS_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
        "OMP_NUM_THREADS": str(threads),
        "OMP_WAIT_POLICY": "PASSIVE",
    }


def limit_memory(room_bytes: int | None, threads: int, limit_bytes: int | None) -> int | None:
    """Limit the address space, so that a lack of memory raises here and kills no other process."""
    if limit_bytes is None and room_bytes is None:
        return None
    growth = limit_bytes if limit_bytes is not None else int(0.9 * (room_bytes or 0))
    cap = address_space_bytes() + growth + _THREAD_STACK_BYTES * threads
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    if hard != resource.RLIM_INFINITY:
        cap = min(cap, hard)
    resource.setrlimit(resource.RLIMIT_AS, (cap, hard))
    return cap


def count_threads() -> int:
    """Return the number of threads of this process, including those of libraries."""
    return len(os.listdir("/proc/self/task"))


def address_space_bytes() -> int:
    """Return the current address space of this process in bytes."""
    with open("/proc/self/statm", encoding="ascii") as handle:
        return int(handle.read().split()[0]) * resource.getpagesize()
