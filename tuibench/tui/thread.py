"""Daemon threads: quitting does not wait for a child that reads a model, or for a download."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")


class DaemonThreads(ThreadPoolExecutor):
    """One thread per call (50 µs), ended with the process; a ThreadPoolExecutor because asyncio accepts no other.

    Ending them is safe: runs are other processes, and the store survives a kill at any instant.
    """

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Start `fn` at once."""
        future: Future[T] = Future()

        def carry_out() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                value = fn(*args, **kwargs)
            except BaseException as error:  # the caller gets it from the future
                future.set_exception(error)
            else:
                future.set_result(value)

        threading.Thread(target=carry_out, name="desk", daemon=True).start()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Return without waiting."""
