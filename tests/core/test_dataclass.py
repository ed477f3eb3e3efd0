"""Values of our `dataclass` behave like those of the standard library."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Callable
from dataclasses import field
from typing import Any

import pytest

from tuibench.core.value import dataclass

Decorator = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Pickled:
    """A class that pickle can find."""

    a: int
    b: tuple[str, ...] = ()


def make(decorate: Decorator) -> Any:
    @decorate(frozen=True, slots=True)
    class Value:
        """A value."""

        a: int
        b: float | None = None
        c: dict[str, int] = field(default_factory=dict, hash=False)
        d: int = field(default=7, compare=False)

        @property
        def twice(self) -> int:
            """Return a doubled field."""
            return 2 * self.a

    return Value


@pytest.fixture(params=[dataclass, dataclasses.dataclass], ids=["ours", "standard"])
def kind(request: pytest.FixtureRequest) -> Any:
    return make(request.param)


def test_values_compare_hash_and_print_by_their_fields(kind: Any) -> None:
    one = kind(1, c={"x": 1})
    assert one == kind(a=1, c={"x": 1}, d=9) and one != kind(2, c={"x": 1}) and one != (1, None, {"x": 1})
    assert hash(one) == hash(kind(1, c={"y": 2})) != hash(kind(1, 2.0)) and {one: 1}[one] == 1
    assert repr(one).endswith("Value(a=1, b=None, c={'x': 1}, d=7)") and one.twice == 2
    assert kind(1).c is not kind(1).c and one != make(dataclass)(1, c={"x": 1})


def test_values_cannot_be_changed(kind: Any) -> None:
    one = kind(1)
    with pytest.raises(dataclasses.FrozenInstanceError, match="a"):
        one.a = 2
    with pytest.raises(dataclasses.FrozenInstanceError):
        del one.a
    assert not hasattr(one, "__dict__") and one.a == 1


@pytest.mark.parametrize(("args", "named"), [((), {}), ((1,), {"a": 1}), ((1,), {"z": 1}), ((1, 2, {}, 4, 5), {})])
def test_wrong_arguments_are_refused(kind: Any, args: tuple[Any, ...], named: dict[str, Any]) -> None:
    for _ in range(2):
        with pytest.raises(TypeError):
            kind(*args, **named)


def test_standard_functions_and_copies_work(kind: Any) -> None:
    one: Any = kind(1, 2.5, {"x": 1})
    assert [part.name for part in dataclasses.fields(kind)] == list("abcd")
    assert dataclasses.replace(one, a=3) == kind(3, 2.5, {"x": 1})
    assert dataclasses.asdict(one) == {"a": 1, "b": 2.5, "c": {"x": 1}, "d": 7}
    assert copy.deepcopy(one) == one == copy.copy(one)
    assert kind.__match_args__ == ("a", "b", "c", "d")


def test_pickled_value_is_restored() -> None:
    assert pickle.loads(pickle.dumps(Pickled(1, ("x",)))) == Pickled(1, ("x",))  # noqa: S301 - our own bytes


def test_own_methods_and_other_options_are_kept() -> None:
    @dataclass(frozen=True, slots=True)
    class Named:
        """A value with its own comparison and text."""

        name: str

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Named)

        def __hash__(self) -> int:
            return 1

        def __repr__(self) -> str:
            return "named"

    assert Named("a") == Named("b") and repr(Named("a")) == "named" and hash(Named("a")) == 1

    @dataclass
    class Changing:
        """A mutable class."""

        a: int = 0

    one = Changing()
    one.a = 2
    assert one == Changing(2)
