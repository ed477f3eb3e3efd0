"""Probable roles of free dims, from names, ranks and types, and the values to try for each role."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property

from tuibench.core.errors import UsageError
from tuibench.core.model import Port
from tuibench.core.reason import Reason, because
from tuibench.core.text import show
from tuibench.core.value import dataclass

# Names that exporters number themselves; they do not show which dims agree.
_COUNTED = re.compile(
    r"(unk_*\d+|.*_dim_\d+|.*dynamicdimension\.?\d+|dyn\w*_?\d*|[a-z]?\d+|\*|.*batch.*)", re.IGNORECASE
)


def is_tensor(port: Port) -> bool:
    """Return whether an input has one shape; items of a sequence share no batch."""
    return "tensor" in (port.kind, port.inner if port.kind == "optional" else None)


@dataclass(frozen=True, slots=True)
class Place:
    """One axis of one input."""

    port: Port
    axis: int

    @property
    def address(self) -> str:
        """INPUT:AXIS, valid for named and unnamed axes."""
        return f"{self.port.name}:{self.axis}"


_MOST_DIMS = 12
"""Most dims in an error."""


@dataclass(frozen=True)
class Layout:
    """Free dims of a model; a key is the symbol, or INPUT:AXIS for an unnamed dim."""

    ports: tuple[Port, ...]
    batch_dim: str | None = None

    @cached_property
    def places(self) -> dict[str, list[Place]]:
        """Every free dim and its places, in the order of the inputs."""
        found: dict[str, list[Place]] = {}
        for port in self.ports:
            for axis, key in enumerate(self.keys(port)):
                if isinstance(key, str):
                    found.setdefault(key, []).append(Place(port, axis))
        return found

    @cached_property
    def batch(self) -> frozenset[str]:
        """Keys of the batch: the first free axis 0, and the others at axis 0 without a name of their own."""
        if self.batch_dim is not None:
            return frozenset(self.resolve(self.batch_dim, "--batch-dim"))
        if not self.axis_zero:
            return frozenset()
        first = self.axis_zero[0]
        others = [key for key in self.axis_zero if self._is_unnamed(key) or _COUNTED.fullmatch(key)]
        return frozenset({first, *others})

    @cached_property
    def axis_zero(self) -> tuple[str, ...]:
        """Free keys at axis 0 of tensor inputs, in the order of the inputs."""
        first = [self.keys(port)[0] for port in self.ports if is_tensor(port) and self.keys(port)]
        return tuple(dict.fromkeys(key for key in first if isinstance(key, str)))

    def keys(self, port: Port) -> tuple[int | str, ...]:
        """Return an input's shape with a key for each free axis; an unknown rank has only axis 0."""
        if port.shape is None:
            return (f"{port.name}:0",) if port.kind == "tensor" else ()
        return tuple(self._key(port, axis) for axis in range(len(port.shape)))

    def resolve(self, address: str, flag: str) -> tuple[str, ...]:
        """Return the keys for NAME or INPUT:AXIS; raise UsageError that lists the dims if there are none."""
        if address in self.places:
            return (address,)
        if address in self._repeated:
            # The user means every place with that name, although equal names do not tie places together here.
            return tuple(
                f"{port.name}:{axis}"
                for port in self.ports
                for axis, dim in enumerate(port.shape or ())
                if dim == address
            )
        found, subject = self.find_axis(address), f"{flag} {show(address, 60)}:"
        if isinstance(found, str):
            return (found,)
        if isinstance(found, int):
            raise UsageError("dim_fixed", subject=subject, dim=address, fixed=found, dims=self.settable_dims())
        raise UsageError("dim_unknown", subject=subject, dim=address, dims=self.settable_dims())

    def find_axis(self, address: str) -> int | str | None:
        """Return the key or fixed size of INPUT:AXIS; None if no input has that axis."""
        name, _, axis = address.rpartition(":")
        for port in self.ports:
            keys = self.keys(port)
            if port.name == name and axis.isascii() and axis.isdigit() and int(axis) < len(keys):
                return keys[int(axis)]
        return None

    def settable_dims(self) -> Reason:
        """Return the first dims that can be set, for the fields of an error."""
        names = list(self.places)[:_MOST_DIMS]
        repeated = sorted(self._repeated)[: _MOST_DIMS - len(names)]
        return because("settable_dims", names=names, repeated=repeated)

    def _key(self, port: Port, axis: int) -> int | str:
        dim = (port.shape or ())[axis]
        if isinstance(dim, int):
            return dim
        if dim is None or dim in self._repeated:
            return f"{port.name}:{axis}"
        return dim

    @cached_property
    def _repeated(self) -> frozenset[str]:
        """Names written on axis 0 and on another axis of one input: placeholders, not one shared dim."""
        return frozenset(_repeated_names(self.ports))

    def _is_unnamed(self, key: str) -> bool:
        return any(place.address == key for place in self.places[key])


def _repeated_names(ports: Sequence[Port]) -> list[str]:
    return [
        port.shape[0]
        for port in ports
        if port.shape and isinstance(port.shape[0], str) and port.shape.count(port.shape[0]) > 1
    ]


BATCH = ""
"""The key for the batch in a Sum."""


@dataclass(frozen=True, slots=True)
class Sum:
    """A size computed from others, such as past + new tokens; with BATCH as its only key, the batch."""

    keys: tuple[str, ...]
    extra: int = 0


Alternative = int | Sum
TIED = Sum((BATCH,))

# Pairs of height and width: square photographs first, then strips for text recognition.
_HEIGHTS = (224, 48, 32, 64, 128, 256, 320, 416, 512, 640, 96, 299, 28, 160)
_WIDTHS = (224, 320, 320, 64, 128, 256, 320, 416, 512, 640, 96, 299, 28, 160)
_SEQUENCE = (16, 128, 512, 64, 32, 256, 8, 4, 2, 1)
_AUDIO = (16000, 512, 576, 1024, 4096, 400, 160, 8000, 48000, 32000)
_CHUNK = (576, 512, 256, 160, 480, 320, 1024, 16000)
_PAST = (16, 1, 128, 0)
_CHANNELS = (3, 1, 4)
_OTHER = (16, 1, 128, 512, 32, 64, 4, 8, 224, 256, 1024, 80, 40, 10)
_VALUES = {
    "height": _HEIGHTS,
    "width": _WIDTHS,
    "depth": (16, 8, 32, 64),
    "channels": _CHANNELS,
    "sequence": _SEQUENCE,
    "audio": _AUDIO,
    "chunk": _CHUNK,
    "past": _PAST,
    "other": _OTHER,
}
_CHANNEL_COUNTS = (1, 3, 4)

_WORDS_SEQUENCE = re.compile(r"seq|time|length|(^|_)len|token|step|frame|word|text|(^|_)t($|_)")
_WORDS_AUDIO = re.compile(r"sample|audio|wav|signal|speech|pcm|sound")
_WORDS_IDS = re.compile(r"ids?($|_|\b)|mask|token|input")
_WORDS_PAST = re.compile(r"past|cache")
_WORDS_STATE = re.compile(r"state|hidden|(^|_)h0?n?($|_)|(^|_)c0?n?($|_)|cache|memory")
_WORDS_RATE = re.compile(r"(^|_)(sr|sample_?rate|sampling_?rate|samplerate|rate|fs)($|_)")
_INTEGERS = frozenset({"int64", "int32", "int16", "int8", "uint64", "uint32", "uint16", "uint8"})
_REALS = frozenset({"float32", "float16", "bfloat16", "float64"})


def group_of(layout: Layout, key: str) -> str:
    """Return the role of a free dim; dims of one role change their values together."""
    place = layout.places[key][0]
    symbol, name = key.lower(), place.port.name.lower()
    if key in layout.axis_zero:
        return f"axis0 {key}"
    if _follows(layout, key):
        return f"total {key}"
    if _WORDS_PAST.search(symbol) or (_WORDS_PAST.search(name) and place.port.dtype in _REALS):
        return "past"
    if _is_state(place):
        return f"state {key}"
    spatial = _spatial(place)
    if spatial and not (key != place.address and _WORDS_SEQUENCE.search(symbol)):
        return spatial
    if place.port.dtype in _REALS and (_WORDS_AUDIO.search(symbol) or _WORDS_AUDIO.search(name)):
        return "chunk" if _is_streaming(layout) else "audio"
    if is_sequence(place, symbol):
        return "sequence"
    if place.port.dtype in _REALS and len(place.port.shape or ()) == 2 and _has_rate(layout):
        return "chunk" if _is_streaming(layout) else "audio"
    return f"other {key}"


def alternatives(layout: Layout, key: str) -> tuple[Alternative, ...]:
    """Return the values to try for a free dim, best first."""
    group = group_of(layout, key)
    kind = group.split(" ", 1)[0]
    if kind == "axis0":
        return (1, TIED, 16)
    if kind == "state":
        return (TIED, 1, 16)
    if kind == "total":
        return _totals(layout, key)
    if kind == "other":
        return (*_OTHER[:2], TIED, *_OTHER[2:])
    return _VALUES[kind]


def sequence_keys(layout: Layout) -> tuple[str, ...]:
    """Return the dims that `-seq_len` sets: new tokens, without the past."""
    return tuple(key for key in layout.places if key not in layout.batch and group_of(layout, key) == "sequence")


def is_rate(port: Port) -> bool:
    """Return whether an input is a sample rate."""
    return bool(_WORDS_RATE.search(port.name.lower())) and port.shape in ((), (1,), None)


def is_mask(port: Port) -> bool:
    """Return whether an input is a mask."""
    return "mask" in port.name.lower()


def is_state(port: Port) -> bool:
    """Return whether an input is a state, an output of an earlier call."""
    return bool(_WORDS_STATE.search(port.name.lower()) or _WORDS_PAST.search(port.name.lower()))


def is_image(port: Port) -> bool:
    """Return whether an input has an image shape: three or four dims with 1, 3 or 4 channels first or last."""
    return any(_spatial(Place(port, axis)) in ("height", "width") for axis in range(len(port.shape or ())))


def is_sequence(place: Place, symbol: str) -> bool:
    """Return whether an axis counts tokens or frames."""
    if _WORDS_SEQUENCE.search(symbol.rpartition(":")[0] if symbol.endswith(f":{place.axis}") else symbol):
        return True
    return place.port.dtype in _INTEGERS and place.axis == 1 and bool(_WORDS_IDS.search(place.port.name.lower()))


def _spatial(place: Place) -> str | None:
    shape, axis = place.port.shape or (), place.axis
    if len(shape) not in (3, 4, 5) or place.port.dtype in ("int64", "string", "bool"):
        return None
    lead = 1 if len(shape) > 3 else 0
    first, last = shape[lead], shape[-1]
    if len(shape) == 3 and not (first == 3 or (isinstance(first, int) and last in (3, 4))):
        # Three dims are usually frames of features; an image without a batch is recognized by its three channels.
        return None
    if first in _CHANNEL_COUNTS:
        names = ("depth", "height", "width") if len(shape) == 5 else ("height", "width")
        return names[axis - lead - 1] if axis > lead else None
    if last in _CHANNEL_COUNTS:
        names = ("depth", "height", "width") if len(shape) == 5 else ("height", "width")
        return names[axis - lead] if lead <= axis < len(shape) - 1 else None
    if len(shape) == 4 and all(not isinstance(dim, int) for dim in shape[1:]):
        return ("channels", "height", "width")[axis - 1] if axis > 0 else None
    return None


def _is_state(place: Place) -> bool:
    """Return whether an axis is the batch of a recurrent state, which follows a constant count of layers."""
    shape = place.port.shape or ()
    return place.axis == 1 and len(shape) == 3 and isinstance(shape[0], int) and shape[1] is None


def _follows(layout: Layout, key: str) -> bool:
    if "+" in key or "total" in key.lower():
        return True
    place = layout.places[key][0]
    return place.axis == 1 and is_mask(place.port) and bool(_past_keys(layout, key))


def _totals(layout: Layout, key: str) -> tuple[Alternative, ...]:
    written = _parse_sum(layout, key)
    past, new = _past_keys(layout, key), sequence_keys_without(layout, key)
    guesses: list[Alternative] = [written] if written else []
    guesses += [Sum((p, n)) for p in past for n in new]
    guesses += [Sum((n,)) for n in new] + [Sum((p,), extra) for p in past for extra in (1, 0)]
    return (*dict.fromkeys(guesses), *_SEQUENCE)


def sequence_keys_without(layout: Layout, key: str) -> tuple[str, ...]:
    """Return the dims of new tokens except `key`; does not look up the role of `key`."""
    return tuple(
        other
        for other, places in layout.places.items()
        if other != key
        and other not in layout.batch
        and not _WORDS_PAST.search(other.lower())
        and "total" not in other.lower()
        and not is_state(places[0].port)
        and is_sequence(places[0], other.lower())
    )


def _past_keys(layout: Layout, key: str) -> list[str]:
    return [
        other
        for other, places in layout.places.items()
        if other not in (key, *layout.batch)
        and places[0].axis > 0
        and "+" not in other
        and "total" not in other.lower()
        and (_WORDS_PAST.search(other.lower()) or _WORDS_PAST.search(places[0].port.name.lower()))
    ]


def _parse_sum(layout: Layout, key: str) -> Sum | None:
    terms = [term.strip() for term in key.split("+")]
    if len(terms) < 2 or not all(term in layout.places or term.isdigit() for term in terms):
        return None
    known = tuple(BATCH if t in layout.batch else t for t in terms if not t.isdigit())
    return Sum(known, sum(int(t) for t in terms if t.isdigit()))


def _has_rate(layout: Layout) -> bool:
    return any(is_rate(port) for port in layout.ports)


def _is_streaming(layout: Layout) -> bool:
    return any(is_state(port) for port in layout.ports)
