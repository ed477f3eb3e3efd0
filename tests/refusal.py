"""Errors as facts: `with refused(UsageError, "unknown_flag", name="-x")` in place of a match of words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tuibench.core.errors import TuibenchError


@contextmanager
def refused(kind: type[TuibenchError], code: str, **fields: Any) -> Iterator[pytest.ExceptionInfo[TuibenchError]]:
    """Expect an error of this kind with this code, and at least these fields."""
    with pytest.raises(kind) as caught:
        yield caught
    reason = caught.value.reason
    assert (reason.code, {name: reason.fields.get(name) for name in fields}) == (code, fields)
