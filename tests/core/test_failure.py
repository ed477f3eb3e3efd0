from __future__ import annotations

import pytest

from tuibench.core.reason import DIED, KILLED_BY_KERNEL, OUT_OF_MEMORY, Failure, because, error_text
from tuibench.core.record import from_plain
from tuibench.present.reason import export_words, failure_words


@pytest.mark.parametrize(
    ("failure", "words"),
    [
        (Failure("signal", "first", because(DIED, signal="SIGFPE"), "SIGFPE"),
         "died by SIGFPE in the first inference"),
        (Failure("signal", "load", error_text("a stream went"), "SIGSEGV"), "died by SIGSEGV in load: a stream went"),
        (Failure("timeout", "first", error_text("the phase did not end within 60 s")),
         "timeout in the first inference: the phase did not end within 60 s"),
        (Failure("memory", "load", because(OUT_OF_MEMORY, text="bad_alloc")), "out of memory in load: bad_alloc"),
        (Failure("memory", "timed", because(OUT_OF_MEMORY, text="killed by the kernel"), "SIGKILL"),
         "out of memory in timing: killed by the kernel"),
        (Failure("inputs", "inputs", error_text("give --dim n=4")), "failed in making inputs: give --dim n=4"),
        (Failure("model", "inspect", error_text("m is empty")), "failed in reading the model: m is empty"),
        (Failure("engine", "start", error_text("x cannot be imported")),
         "failed in starting the worker: x cannot be imported"),
        (Failure("refused", "load", error_text("no such operator")), "refused: no such operator"),
        (Failure("setting", "load", error_text("no precision bf16")), "failed in load: no precision bf16"),
        (Failure("exit", "check", error_text("the worker ended with code 3")),
         "failed in checking the outputs: the worker ended with code 3"),
        (Failure("exception", "warmup", error_text("")), "failed in warm-up"),
        (Failure("exception", "\x1b[2J", error_text("")), "failed in \\e[2J"),
    ],
)  # fmt: skip
def test_failure_words_give_kind_phase_and_reason_once(failure: Failure, words: str) -> None:
    assert failure_words(failure) == words


@pytest.mark.parametrize(
    ("kind", "message", "words"),
    [
        ("signal", "the worker died by SIGFPE", "died by SIGFPE in load"),
        ("memory", "out of memory: bad_alloc", "out of memory in load: bad_alloc"),
        ("memory", "killed by the kernel: out of memory", "out of memory in load: killed by the kernel"),
        ("exception", "no", "failed in load: no"),
    ],
)
def test_failures_of_older_records_read_the_same(kind: str, message: str, words: str) -> None:
    old = {"kind": kind, "phase": "load", "message": message, "signal": "SIGFPE" if kind == "signal" else None}
    failure = from_plain(Failure, old)
    assert failure_words(failure) == words
    assert export_words(failure.message) == message, "exports keep the sentence"


def test_failure_without_its_fields_is_shown_as_it_is() -> None:
    for code in (OUT_OF_MEMORY, DIED, KILLED_BY_KERNEL):
        assert failure_words(
            from_plain(Failure, {"kind": "memory", "phase": "load", "message": {"code": code, "fields": {}}})
        )


def test_long_failure_reason_is_cut() -> None:
    assert len(failure_words(Failure("exception", "load", error_text("x" * 5000)))) <= 330
