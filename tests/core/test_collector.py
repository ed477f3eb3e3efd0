from __future__ import annotations

import contextlib
import gc

from tuibench.core.record import pause_collector


def test_collector_is_enabled_again_after_an_exception() -> None:
    assert gc.isenabled()
    with contextlib.suppress(KeyError), pause_collector():
        assert not gc.isenabled()
        raise KeyError
    assert gc.isenabled()
