"""Causes and conclusions as facts: reasons, failures and verdicts; `present/` makes their words."""

from __future__ import annotations

from dataclasses import field, replace
from typing import Any

from tuibench.core.scenario import LATENCY
from tuibench.core.value import ADDED_LATER, TEXT, dataclass

LEGACY_TEXT = "told"
"""Code of a sentence of an older version or of another program; its only field is `text`."""
LEGACY_INTERVAL = "told_interval"
"""The same for a number that lacks only its interval."""
_NO_INTERVAL = "no interval: "


@dataclass(frozen=True, slots=True)
class Reason:
    """A cause of a missing number, an early end or a warning."""

    code: str
    """A plain identifier such as too_few_executions."""
    fields: dict[str, Any] = field(default_factory=dict, hash=False)
    """Numbers, names, texts of other programs, and further reasons."""

    def __hash__(self) -> int:
        """Tell apart the many reasons of one code, such as the sentences of an older record."""
        return hash((self.code, frozenset(one for one in self.fields.values() if isinstance(one, (str, int, float)))))

    @staticmethod
    def upgrade(data: Any) -> Any:
        """Return the plain form of what an older version wrote: a sentence, or None for an empty one."""
        if not isinstance(data, str):
            return data
        if not data:
            return None
        if data in _OLD_TEXTS:
            return {"code": _OLD_TEXTS[data], "fields": {}}
        code = LEGACY_INTERVAL if data.startswith(_NO_INTERVAL) else LEGACY_TEXT
        return {"code": code, "fields": {"text": data.removeprefix(_NO_INTERVAL)}}


FINISHED_ON_REQUEST = "finished_on_request"
"""Code of the end of a run that a user finished, and of its cells."""
CANCELLED_ON_REQUEST = "cancelled_on_request"
SAVED_AS_FAR = "saved_as_far"
"""Code of an interrupted run that was saved as it was."""
SIGNAL = "signal"
DIED = "died"
"""Code of a process that a signal ended; its fields are `signal` and `process`, '' for a child task."""
KILLED_BY_KERNEL = "killed_by_kernel"
"""Code of a process that the kernel ended because memory was short."""
OUT_OF_MEMORY = "out_of_memory"
"""Code of an allocation that failed; its field is `text`."""
ERROR = "error"
"""Code of a message of an exception; its only field is `text`."""
MAX_TIME = "max_time"
RUNNER_DIED = "runner_died"
LIGHTER_BRANCH = "lighter_branch"
"""Code of a node that counts as zero because no run showed which branch is taken."""
DONE_BEFORE = "done_before"
"""Code of a node that counts as zero because its output is known before the first inference."""
LEFT_OUT = "left_out"
"""Code of a call of a function without figures, or with lower bounds only."""
_OLD_ENDS = {
    "finished on request": FINISHED_ON_REQUEST,
    "cancelled on request": CANCELLED_ON_REQUEST,
    "saved as far as it was measured": SAVED_AS_FAR,
    "max-time": MAX_TIME,
    "its runner died": RUNNER_DIED,
    "the runner died": RUNNER_DIED,
}
"""Ends of runs in journals of older versions."""
_OLD_TEXTS = {
    "already int8": "already_int8",
    "not run": "not_run",
    "the other branch of its If is larger": LIGHTER_BRANCH,
    "depends on constants alone: computed beforehand": DONE_BEFORE,
    "the limit of nodes was reached: not all of this call is counted": LEFT_OUT,
}
"""Sentences of older records and of exports that are compared; the same words are made of the codes."""


def because(code: str, /, **fields: Any) -> Reason:
    """Return the reason with these fields."""
    return Reason(code, {name: list(one) if isinstance(one, tuple) else one for name, one in fields.items()})


def legacy_text(text: str) -> Reason:
    """Return the reason that keeps a sentence as it is."""
    return Reason(LEGACY_TEXT, {"text": text})


def error_text(message: str) -> Reason:
    """Return the reason for the message of an engine or of the system."""
    return Reason(ERROR, {"text": message})


def upgrade_end(reason: Reason | None) -> Reason | None:
    """Return the reason why a run ended, with the code for what an older version wrote."""
    text = reason.fields.get("text") if reason is not None and reason.code == LEGACY_TEXT else None
    if text in _OLD_ENDS:
        return Reason(_OLD_ENDS[text])
    return because(SIGNAL, signal=text) if text in ("SIGTERM", "SIGINT", "SIGHUP") else reason


@dataclass(frozen=True, slots=True)
class Drift:
    """The difference between the outputs of two models that got the same samples."""

    base: str
    new: str
    """Checksums of the models."""
    batch: int | None
    dims: dict[str, int]
    samples: int
    is_generated: bool
    """True if tuibench made the samples, which says nothing about accuracy."""
    sqnr_db: float | None = None
    """Power of the base's outputs / power of the difference, in dB; None for equal outputs, or ones without power."""
    max_abs: float | None = None
    """Largest difference of two finite values; None without one."""
    cosine: float | None = None
    differing: int = 0
    """Values that differ and are left out above: NaN or infinite on one side, no floats, or of another shape."""
    same_top: int | None = None
    """Rows whose largest output is the same class; None for generated samples, and for outputs without classes."""
    rows: int = 0
    reason: Reason | None = field(default=None, metadata=TEXT)
    """Why there are no numbers."""

    @property
    def is_equal(self) -> bool:
        """True if all values are equal."""
        return self.reason is None and not self.max_abs and not self.differing


@dataclass(frozen=True, slots=True)
class Verdict:
    """The comparison of two operands: ratio is new / base in time, with its 95 % interval."""

    kind: str | None
    """faster, slower, equivalent or undecided; None where `reasons` forbid a verdict."""
    ratio: float
    low: float | None
    high: float | None
    n: int
    """Number of pairs."""
    base: str
    new: str
    """Names of the operands."""
    metric: str = LATENCY
    margin: float = 0.02
    """Differences below it count as equivalent."""
    more_pairs: int | None = None
    """Pairs that would decide an undecided comparison; None if more pairs would not."""
    more_s: float | None = None
    """Seconds for those pairs."""
    reasons: tuple[Reason, ...] = ()
    """Reasons against a verdict."""
    told: str = ""
    """The sentence of a record that lacks the facts above."""
    drift: Drift | None = field(default=None, metadata=ADDED_LATER | {"sparse": True})
    """The difference of the outputs, if the operands are two models."""

    def turned(self) -> Verdict:
        """Return the verdict with the operands exchanged."""
        low, high = (None if one is None else 1 / one for one in (self.high, self.low))
        kind = {"faster": "slower", "slower": "faster"}.get(self.kind or "", self.kind)
        return replace(self, kind=kind, ratio=1 / self.ratio, low=low, high=high, base=self.new, new=self.base, told="")


@dataclass(frozen=True, slots=True)
class Failure:
    """Reason why a cell or an execution has no result."""

    kind: str
    """refused, setting, signal, timeout, memory, exit, exception, inputs, engine or model.

    With refused, the engine cannot run this model; with setting, it does not support a requested setting, such as a
    precision.
    """
    phase: str
    """inspect, inputs, start, load, first, check, warmup or timed."""
    message: Reason | None = field(metadata=TEXT)
    """The cause; an engine's own message has the code ERROR."""
    signal: str | None = None
    log_tail: str | None = None

    @staticmethod
    def upgrade(data: Any) -> Any:
        """Return the plain form of what an older version wrote: a sentence that repeats the kind or the signal."""
        said = data.get("message") if isinstance(data, dict) else None
        if not isinstance(said, str):
            return data
        code, fields = ERROR, {"text": said}
        died = f"died by {data['signal']}" if data.get("kind") == "signal" and data.get("signal") else None
        if died and said.endswith(died):
            code, fields = DIED, {"signal": data["signal"], "process": said.removesuffix(died).strip()}
        elif said.startswith("out of memory: "):
            code, fields = OUT_OF_MEMORY, {"text": said.removeprefix("out of memory: ")}
        elif said == "killed by the kernel: out of memory":
            code, fields = KILLED_BY_KERNEL, {}
        return data | {"message": {"code": code, "fields": fields}}

    def as_reason(self) -> Reason:
        """Return the failure as a reason, for a field of another one."""
        return because("failed_in", kind=self.kind, phase=self.phase, signal=self.signal, why=self._cause())

    def _cause(self) -> Reason | None:
        """Return the cause without a repetition of the kind or the signal."""
        why = self.message
        if why is None or (why.code == DIED and self.kind == "signal"):
            return None
        if why.code == OUT_OF_MEMORY:
            return error_text(str(why.fields.get("text", "")))
        return Reason("killed") if why.code == KILLED_BY_KERNEL else why
