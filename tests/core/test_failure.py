from __future__ import annotations

import pytest

from tuibench.core.reason import Failure, failure_words


@pytest.mark.parametrize(
    ("failure", "words"),
    [
        (Failure("signal", "first", "the worker died by SIGFPE", "SIGFPE"), "died by SIGFPE in the first inference"),
        (Failure("signal", "load", "a stream went", "SIGSEGV"), "died by SIGSEGV in load: a stream went"),
        (Failure("timeout", "first", "the phase did not end within 60 s"),
         "timeout in the first inference: the phase did not end within 60 s"),
        (Failure("memory", "load", "out of memory: bad_alloc"), "out of memory in load: bad_alloc"),
        (Failure("memory", "timed", "killed by the kernel: out of memory", "SIGKILL"),
         "out of memory in timing: killed by the kernel"),
        (Failure("inputs", "inputs", "give --dim n=4"), "failed in making inputs: give --dim n=4"),
        (Failure("model", "inspect", "m is empty"), "failed in reading the model: m is empty"),
        (Failure("engine", "start", "x cannot be imported"), "failed in starting the worker: x cannot be imported"),
        (Failure("refused", "load", "no such operator"), "refused in load: no such operator"),
        (Failure("setting", "load", "no precision bf16"), "failed in load: no precision bf16"),
        (Failure("exit", "check", "the worker ended with code 3"),
         "failed in checking the outputs: the worker ended with code 3"),
        (Failure("exception", "warmup", ""), "failed in warm-up"),
        (Failure("exception", "\x1b[2J", "\n"), "failed in \\e[2J"),
    ],
)  # fmt: skip
def test_failure_words_give_kind_phase_and_reason_once(failure: Failure, words: str) -> None:
    assert failure_words(failure) == words


def test_long_failure_reason_is_cut() -> None:
    assert len(failure_words(Failure("exception", "load", "x" * 5000))) < 330
