"""The page of one stored benchmark: name and origin, figures, and the result as printed."""

from __future__ import annotations

from collections.abc import Iterator

from tuibench.core.card import StoredBenchmark
from tuibench.core.run import RunResult, RunSession
from tuibench.core.short_id import short_id
from tuibench.core.text import show
from tuibench.core.units import count_of, seconds
from tuibench.report.age import moment_words
from tuibench.report.figures import drawings
from tuibench.report.style import to_ascii
from tuibench.report.summary import summary
from tuibench.report.tradeoff import TITLE, tradeoff_lines

_LONGEST = 4096


def stored_page(
    stored: StoredBenchmark,
    now: float,
    *,
    project: str = "",
    own_host: str = "",
    ascii_only: bool = False,
    figures: int | None = None,
) -> str:
    """Return the page of `show`; `project` is the name of its project, `own_host` the id of this machine.

    `figures` is the width of the figures in columns; None omits them.
    """
    lines = [f"{label}: {text}" for label, text in _facts(stored, now, project, own_host) if text]
    blocks = ["\n".join(lines)]
    drawn = drawings(stored.result, figures, ascii_only) if figures is not None else ()
    blocks += ["\n".join([drawing.title, drawing.text, *drawing.sentences]) for drawing in drawn]
    choices = tradeoff_lines(stored.result)
    blocks += ["\n".join([TITLE, *choices])] if choices else []
    text = "\n\n".join(blocks) + "\n\n"
    return (to_ascii(text) if ascii_only else text) + summary(stored.result, ascii_only)


def _facts(stored: StoredBenchmark, now: float, project: str, own_host: str) -> Iterator[tuple[str, str]]:
    result, metadata = stored.result, stored.metadata
    yield "Benchmark", f"{show(short_id(result.id), 10)} ({show(result.id, 40)})"
    yield "Name", show(metadata.name, _LONGEST)
    yield "Note", show(metadata.note, _LONGEST)
    yield "Project", show(project or (short_id(metadata.project) if metadata.project else ""), _LONGEST)
    yield "Measured", _measured(result, now)
    yield "Host", _host(result.host, own_host)
    yield "Status", "" if result.status == "finished" else show(result.status, 40)
    yield "Re-run of", show(short_id(metadata.rerun_of), 10) if metadata.rerun_of else ""
    for number, session in enumerate(result.sittings if len(result.sittings) > 1 else (), 1):
        yield f"Session {number}", _session(session, now)


def _measured(result: RunResult, now: float) -> str:
    when = moment_words(result.started_utc, now) or "at an unknown time"
    if result.foreign:
        # An imported result has only its measuring time.
        return f"{when}, for {seconds(result.seconds)}"
    waited = f", after {seconds(result.waited_s)} of waiting for another benchmark" if result.waited_s >= 1 else ""
    return f"{when}, in {seconds(result.seconds)}{waited}"


def _host(host: str, own: str) -> str:
    if not host:
        return ""
    return f"{show(host, 40)} (this machine)" if host == own else show(host, 40)


def _session(session: RunSession, now: float) -> str:
    words = [count_of(session.executions, "execution"), moment_words(session.started_utc, now)]
    words += [f"changed before it: {'; '.join(show(change, 200) for change in session.mixed)}"] if session.mixed else []
    return ", ".join(filter(None, words))
