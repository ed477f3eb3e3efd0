"""Errors as facts: `with refused(UsageError, "unknown_flag", flag="-x")` in place of a match of words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from tuibench.core.errors import TuibenchError
from tuibench.core.reason import Reason
from tuibench.core.record import from_plain
from tuibench.present.reason import reason_hint, reason_words


@contextmanager
def refused(kind: type[TuibenchError], code: str, /, **fields: Any) -> Iterator[pytest.ExceptionInfo[TuibenchError]]:
    """Expect an error of this kind with this code, and at least these fields."""
    with pytest.raises(kind) as caught:
        yield caught
    # The traceback refers to this frame, so the objects in it, such as thousands of sockets, would outlive the test.
    caught.value.__traceback__ = None
    reason = caught.value.reason
    assert (reason.code, {name: reason.fields.get(name) for name in fields}) == (code, fields)


@dataclass(frozen=True)
class ChildError:
    """The error in the answer of a child task."""

    reason: Reason
    exit_code: int

    @staticmethod
    def of(line: dict[str, Any]) -> ChildError:
        """Return the error of the last line of an answer."""
        assert line["ok"] is False, line
        return ChildError(from_plain(Reason, line["error"]["reason"]), line["error"]["exit_code"])

    @property
    def code(self) -> str:
        return self.reason.code

    @property
    def fields(self) -> dict[str, Any]:
        return self.reason.fields


def require_shown(reason: Reason) -> Reason:
    """Return the reason; fail unless its message is one printable line and it has a hint."""
    message = reason_words(reason)
    assert message.isprintable() and reason_hint(reason), message
    return reason
