from __future__ import annotations

import contextlib
import gc

from tuibench.core.collector import pause_collector


def test_the_collector_is_as_it_was() -> None:
    assert gc.isenabled()
    with contextlib.suppress(KeyError), pause_collector():
        assert not gc.isenabled()
        raise KeyError
    assert gc.isenabled()
