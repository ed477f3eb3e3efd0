"""Lines about a run as a whole: progress, state, cell being measured, parts of a profile, end, next steps."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

from tuibench.core import activity
from tuibench.core.activity import DONE, LOST, NOW, Live, RunRow, RunView
from tuibench.core.cell import CellResult, Noise, main_number, ran_elsewhere
from tuibench.core.ids import short_id
from tuibench.core.label import model_names
from tuibench.core.profile import name_part, split_part
from tuibench.core.result import RunResult, SideBySide
from tuibench.core.result_headline import headline_of
from tuibench.core.units import count_of, ms, percent, seconds, short
from tuibench.present.amount import plus_minus, with_interval
from tuibench.present.cells import check_text, differences, failure_text, support_text
from tuibench.present.headline import headline_sentence
from tuibench.present.plots.depth import progress_bar, sparkline
from tuibench.present.plots.drawing import Row, Span, wrapped
from tuibench.present.progress import drift_words
from tuibench.present.reason import reason_hint, reason_words
from tuibench.present.verdict import verdict_sentence
from tuibench.tui.screens.comparison.pair import pairs_of_sides, ratio_words
from tuibench.tui.widgets.painted import Glyphs, LineLike, shown

_BAR = 30
LABEL = 12
"""Columns of a line's label."""
Labelled = tuple[str, str, str]
"""A line's label, its text, its style."""


def model_words(view: RunView) -> str:
    """Return the names of the models."""
    return ", ".join(model_names(view.spec.models)) if view.spec is not None else ""


def head_words(view: RunView, glyphs: Glyphs) -> str:
    """Return the state and the settings, for the right end of the title."""
    spec = view.spec
    sign = {activity.RUNNING: glyphs.running, activity.WAITING: glyphs.waiting}.get(view.info.state, "")
    words = [view.status if view.ended else f"{sign} {view.info.state}".strip()]
    if spec is not None:
        if spec.profile is not None:
            words.append(f"{', '.join(spec.engines)} {spec.precision} {spec.profile.kind} profile")
            return f" {glyphs.dot} ".join(words)
        words.append(" ".join([", ".join(spec.engines), spec.precision, ",".join(spec.scenarios)]))
        words.append(f"to {target_words(spec.effort.target)}" if spec.effort.target is not None else "fixed time")
    return f" {glyphs.dot} ".join(words)


def target_words(target: float) -> str:
    """Return the target half-width as a percentage."""
    return f"±{100 * target:g} %"


def bar_words(view: RunView, width: int, ascii_only: bool) -> str:
    """Return the progress bar with cells done, time used and time left."""
    total = len(view.cells)
    if not total:
        return ""
    done = sum(map(is_done, view.cells))
    words = [f"{done}/{total}", f"{seconds(view.elapsed_s)} elapsed"]
    if view.eta_s is not None:
        words.append(f"~{seconds(view.eta_s)} left")
    if view.limit_s is not None:
        words.append(f"(at most {seconds(view.limit_s)})")
    text = "  ".join(words)
    room = min(max(width - len(text) - 2, 0), _BAR)
    bar = progress_bar(done, total, room, ascii_only) if room > 4 else ""
    return f"{bar}  {text}".strip()


def is_done(cell: CellResult) -> bool:
    """Return whether no more of a cell will be measured."""
    return cell.status in ("ok", "failed") or cell.failure is not None


def state_lines(view: RunView, shown_key: Callable[[str], str]) -> tuple[LineLike, ...]:
    """Return the state and the possible actions, the most important line first, with the user's key bindings."""
    info = view.info
    if view.ended:
        return _end_lines(view, shown_key)
    if info.state == activity.WAITING:
        return _waiting_lines(view, shown_key)
    if info.detail:
        return ((reason_words(info.detail), "warn"),)
    if view.spec is None:
        return ("starting ...",)
    if view.info.kind:
        stage = _activity_words(view)
        return (stage or "preparing: reading the model, making inputs",)
    if not view.cells:
        so_far = (f"{seconds(view.elapsed_s)} so far",) if view.elapsed_s >= 1 else ()
        return ("preparing: reading the model, making inputs, trying one inference", *so_far)
    return ("between executions",)


def _waiting_lines(view: RunView, shown_key: Callable[[str], str]) -> tuple[LineLike, ...]:
    info, holder = view.info, view.info.holder
    lines: list[LineLike] = [f"queued, position {info.place}" if info.place else "queued for this machine"]
    if holder is not None:
        run = f", run {short_id(holder.run)}" if holder.run else ""
        eta = f", ~{seconds(holder.eta_s)} left" if holder.eta_s is not None else ""
        lines.append(f"measuring now: pid {holder.pid} of {holder.user}{run}{eta}")
        if holder.stopped:
            lines.append(("that process is suspended and may never end", "warn"))
    lines += [
        "",
        f"It starts automatically, also after you leave ({shown_key('back')}); {shown_key('cancel')} cancels it.",
    ]
    return tuple(lines)


def _end_lines(view: RunView, shown_key: Callable[[str], str]) -> tuple[LineLike, ...]:
    result = view.result
    lines: list[LineLike] = [(part, "title") for part in _headline(result)] if result is not None else []
    style = "" if view.status == "finished" and not _lost(view) else "warn"
    lines.append((_end_words(view), "bad" if view.status == "failed" else style))
    if view.info.state == activity.UNSAVED:
        lines.append((f"not saved: {reason_words(view.info.detail)}", "bad"))
    elif view.reason is not None:
        words = filter(None, (reason_words(view.reason), reason_hint(view.reason)))
        lines.append(("; ".join(words), style))
    lines.append((_next_words(view, shown_key), "accent"))
    return tuple(lines)


def _headline(result: RunResult) -> Iterator[str]:
    """Yield the headline and the verdict on separate lines, so that a long line does not cut the verdict."""
    found = headline_of(result)
    yield headline_sentence(found, verdict=False)
    if found.verdict is not None:
        yield verdict_sentence(found.verdict)


def _end_words(view: RunView) -> str:
    words, total, lost = f"{view.status} after {seconds(view.elapsed_s)}", len(view.cells), _lost(view)
    if not total:
        return words
    measured, done = sum(bool(cell.executions) for cell in view.cells), view.info.cells_done
    cut = max(0, measured + lost - done)
    failed = f", {lost} failed" if lost else ""
    if view.status == "interrupted" and cut:
        # Cells that have only begun are not done; a resumed run completes them.
        done_words = f"{done} of {count_of(total, 'cell')} done" + (f" ({lost} failed)" if lost else "")
        return f"{words}: {done_words}, {cut} incomplete"
    short = f", {cut} of them incomplete" if cut and view.status != "finished" else ""
    return f"{words}: {measured} of {count_of(total, 'cell')} measured{short}{failed}"


def past_words(side: SideBySide, shown_key: Callable[[str], str]) -> str:
    """Return the comparison of a run with the benchmark that it was to be compared with."""
    ratios = [pair.ratio for pair in pairs_of_sides(side) if pair.ratio.value is not None]
    values = [ratio.value for ratio in ratios if ratio.value is not None]
    if not values:
        said = "no cell has a result in both"
    elif len(values) == 1:
        said = f"time ratio {ratio_words(ratios[0])}, no verdict"
    else:
        said = f"time ratios {min(values):.3g} to {max(values):.3g} over {len(values)} cells, no verdict"
    return f"compared with {short_id(side.old_id)}: {said}; {shown_key('compare')} opens the comparison"


def _lost(view: RunView) -> int:
    return sum(cell.failure is not None for cell in view.cells)


def _next_words(view: RunView, shown_key: Callable[[str], str]) -> str:
    """Return the possible actions after the end."""
    key = shown_key
    if view.saved:
        return f"{key('open')} opens the result, {key('rerun')} measures again, {key('rerun-changed')} with changes"
    remove = key("remove")
    if view.info.state == activity.UNSAVED:
        return f"{key('resume')} retries saving, {remove} removes it"
    if view.info.resumable:
        kept = count_of(view.info.executions, "execution")
        return f"{key('resume')} resumes it ({kept} saved), {key('finish')} saves it as it is, {remove} removes it"
    what = "nothing is saved" if view.info.executions else "nothing was measured"
    return f"{what}; {remove} removes the run"


def news_line(view: RunView, beside: str, name: Callable[[CellResult], str]) -> Labelled:
    """Return the most important news of the run, or of cells other than the one with key `beside`."""
    lost = [cell for cell in view.cells if cell.failure is not None]
    other = next((cell for cell in reversed(lost) if cell.key != beside), None)
    if other is not None:
        return f"{len(lost)} failed", f"{name(other)}: {failure_text(other)}", "bad"
    if view.warnings:
        return "warning", reason_words(view.warnings[-1]), "warn"
    if view.ended or view.spec is None or view.spec.effort.target is None or len(view.cells) < 2:
        return "", "", ""
    target = target_words(view.spec.effort.target)
    return "", f"round 1 measures every cell once; later rounds narrow it to {target}", "dim"


def laid_out(line: Labelled, width: int) -> list[Row]:
    """Return the rows of a labelled line; errors are wrapped."""
    label, text, style = line
    row = shown((text, style))
    parts = wrapped(row, width) if style == "bad" else [row]
    heads = [label, *[""] * (len(parts) - 1)]
    return [labelled(head, part) for head, part in zip(heads, parts, strict=True)]


def labelled(label: str, row: Row) -> Row:
    """Return a row with its label in front."""
    return ((f" {label:<{LABEL}}", "dim"), *row)


def stage_of(view: RunView) -> tuple[object, ...]:
    """Return the facts that determine which keys are available."""
    return view.status, view.info.state, view.saved, bool(view.cells), view.info.kind


def set_in(line: LineLike) -> LineLike:
    """Return a line indented by a blank, like all lines of a screen."""
    return ((" ", ""), *shown(line))


_WORDS = {
    "costs": "costs by shapes", "roofline": "roofline of this machine", "zeros": "speed-up by zeros",
    "layers": "layers, process", "what_if": "single layers, what if", "weights": "weights", "loss": "changed layers",
}  # fmt: skip


def _activity_words(view: RunView) -> str:
    return reason_words(view.making.activity) if view.making is not None else ""


def progress_lines(view: RunView, state_lines: Sequence[LineLike], width: int, ascii_only: bool) -> list[LineLike]:
    """Return progress bar and current step; `state_lines` describe the run."""
    if view.ended:
        return list(state_lines)
    bar, stage = _bar_words(view, width, ascii_only), _activity_words(view)
    if view.info.detail or view.info.state == activity.WAITING or not stage:
        return [bar, state_lines[0]]
    return [bar, (stage, "title")]


def part_lines(view: RunView, state_lines: Sequence[LineLike], glyphs: Glyphs) -> list[LineLike]:
    """Return the parts, each with its state; before there are any, `state_lines`."""
    making = view.making
    if making is None or not view.spec:
        return list(state_lines[1:])
    lines: list[LineLike] = []
    for part, state in making.parts:
        name = part_words(part)
        if state == DONE:
            lines.append(((f" {glyphs.ticked} ", ""), (name, "")))
        elif state == NOW:
            # Each process is a part of its own.
            count = f"  {making.done} of {making.of}" if making.of and making.stage != "layers" else ""
            lines.append(((f" {glyphs.running}   ", "accent"), (f"{name}{count}", "title")))
        elif state == LOST:
            lines.append(((f" {glyphs.failed}   ", "bad"), (name, ""), ("  failed (L: log)", "bad")))
        else:
            lines.append(((f" {glyphs.open_tick} ", "dim"), (name, "dim")))
    if view.warnings:
        lines += ["", (f" {reason_words(view.warnings[-1])}", "warn")]
    return lines


def part_words(part: str) -> str:
    """Return the display name of a part."""
    kind, number = split_part(part)
    return name_part(_WORDS.get(kind, kind), number)


def _bar_words(view: RunView, width: int, ascii_only: bool) -> str:
    """Return finished parts with a bar over time, or over parts if the remaining time is unknown."""
    making = view.making
    parts = making.parts if making is not None else ()
    total = len(parts) or view.info.cells
    if not total:
        return ""
    settled = sum(state in (DONE, LOST) for _, state in parts) if parts else view.info.cells_done
    share = making.done / making.of if making is not None and making.of and making.stage != "layers" else 0.0
    words = [f"{settled}/{total}", f"{seconds(view.elapsed_s)} elapsed"]
    words += [f"~{seconds(view.eta_s)} left"] if view.eta_s is not None else []
    text = "  ".join(words)
    room = min(max(width - len(text) - 2, 0), _BAR)
    done, of = min(settled + min(share, 1.0), total), float(total)
    if view.eta_s is not None and view.elapsed_s > 0:
        # Parts take from seconds to minutes, so time is the better scale.
        done, of = view.elapsed_s, view.elapsed_s + view.eta_s
    bar = progress_bar(done, of, room, ascii_only) if room > 4 else ""
    return f"{bar}  {text}".strip()


_SPARK = 20
_MOST_MORE = 99


def value_words(cell: CellResult, value: float) -> str:
    """Return the number; latencies without their unit, which the heading shows."""
    return ms(value).removesuffix(" ms") if main_number(cell).is_time else short(value, 4)


def cell_span(cell: CellResult, live: Live | None, glyphs: Glyphs) -> Span:
    """Return value, interval and grade, or a sign if there is none. Colour is never the only sign."""
    found = main_number(cell).estimate(cell)
    here = live is not None and live.cell == cell.key
    if cell.status == "failed":
        return f"{glyphs.failed} {failure_text(cell)}", "bad"
    if found.value is None:
        if here and live is not None:
            now = f" {ms(live.p50_ms)}" if live.p50_ms is not None else ""
            return f"{glyphs.running}{now}", "accent"
        return "-", "dim"
    half = plus_minus(found).replace("±", glyphs.plus_minus).replace(" ", "")
    trust = half or count_of(len(cell.executions), "exec")
    sign = glyphs.running if here else _sign(cell, glyphs)
    text = " ".join(filter(None, (value_words(cell, found.value), trust, sign)))
    return text, _style(cell, here)


def _sign(cell: CellResult, glyphs: Glyphs) -> str:
    if cell.failure is not None:
        return glyphs.failed
    if cell.check is not None and cell.check.state == "differs":
        return glyphs.differs
    return cell.grade.letter if cell.grade is not None else ""


def _style(cell: CellResult, here: bool) -> str:
    if cell.failure is not None or (cell.check is not None and cell.check.state == "differs"):
        return "bad"
    if here:
        return "accent"
    return "warn" if cell.grade is not None and cell.grade.letter == "D" else ""


def now_words(view: RunView, cell: CellResult, name: str) -> str:
    """Return the line about the present execution; `name` is the cell's."""
    live = view.live
    if live is None:
        return ""
    least = f" of ≥{view.executions_min}" if live.n <= view.executions_min else ""
    words = [f"now  {name}", f"execution {live.n}{least}" if live.n else "anchor"]
    if live.p50_ms is None or live.phase != "measuring":
        words.append(live.phase)
    if live.p50_ms is not None:
        words.append(with_interval(ms(live.p50_ms), live.half_width))
    words.append(more_words(view, cell))
    return "  ".join(filter(None, words))


def more_words(view: RunView, cell: CellResult) -> str:
    """Return the approximate number of executions still needed: an interval narrows with the root of their number."""
    target = view.spec.effort.target if view.spec is not None else None
    halves, count = view.half_widths.get(cell.key, ()), len(cell.executions)
    if target is None or not halves or halves[-1] <= 0 or not math.isfinite(halves[-1]):
        return ""
    missing = max(math.ceil(count * (halves[-1] / target) ** 2), view.executions_min) - count
    if missing <= 0:
        return ""
    return f"~{missing if missing <= _MOST_MORE else f'>{_MOST_MORE}'} more to {target_words(target)}"


def cell_details(cell: CellResult, view: RunView, glyphs: Glyphs, ascii_only: bool) -> list[Labelled]:
    """Return lines on the selected cell: failure, state of the machine, check of the outputs."""
    if cell.status == "failed":
        tail = (cell.failure.log_tail or "").strip().splitlines() if cell.failure is not None else []
        return [("failed", failure_text(cell), "bad"), ("last line", tail[-1] if tail else "", "dim")]
    lines = [("failed", failure_text(cell), "bad")] if cell.failure is not None else []
    bad_grade = cell.grade is not None and cell.grade.letter in "CD"
    lines.append(("noise", noise_words(cell, view, glyphs, ascii_only), "warn" if bad_grade else ""))
    lines.append(("machine", _machine_words(cell, glyphs), ""))
    wrong = cell.check is not None and cell.check.state == "differs"
    words = [check_text(cell.check), *differences(cell)] if cell.executions else []
    lines.append(("outputs", f" {glyphs.dot} ".join(words), "bad" if wrong else ""))
    if supported := support_text(cell):
        lines.append(("supported", supported, "warn" if ran_elsewhere(cell) else ""))
    return lines


def interval_words(cell: CellResult, view: RunView, ascii_only: bool) -> str:
    """Return the history of a cell's interval, and the reason why it is finished."""
    if cell.status == "failed":
        return ""
    halves = [half for half in view.half_widths.get(cell.key, ()) if math.isfinite(half)]
    words = [count_of(len(cell.executions), "execution") if cell.executions else "nothing measured yet"]
    if halves:
        line = sparkline(halves, ascii_only, width=_SPARK) if len(halves) > 1 else ""
        first = f"±{percent(halves[0])} {line} " if line else ""
        # The grid shows items/s of streams, which vary less.
        what = "" if main_number(cell).is_time else "p50 "
        words.append(f"{what}{first}±{percent(halves[-1])}")
    is_over = view.ended or cell.status == "ok" or cell.failure is not None
    if cell.stopped_by and is_over:
        words.append(reason_words(cell.stopped_by))
    return "  ".join(words)


def noise_words(cell: CellResult, view: RunView, glyphs: Glyphs, ascii_only: bool) -> str:
    """Return the grade with its cause, and the share of waiting for a CPU in the latest executions of all cells."""
    words = [f"{cell.grade.letter}: {reason_words(cell.grade.cause)}"] if cell.grade is not None else []
    shares = [min(share, 1.0) for share in view.waiting_shares if share is not None]
    if shares:
        line = sparkline(shares, ascii_only, width=_SPARK, low=0.0, high=max(*shares, 0.05))
        words.append(f"{line} CPU wait {percent(shares[-1])}")
    drift = drift_words(view.drift)
    words += [f"drift {drift}"] if drift else []
    return f" {glyphs.dot} ".join(words)


def _machine_words(cell: CellResult, glyphs: Glyphs) -> str:
    words = []
    if cell.used is not None and cell.used.cpu_seconds_per_second is not None:
        words.append(f"used {short(cell.used.cpu_seconds_per_second)} of {count_of(cell.asked.cores, 'core')}")
    if cell.executions:
        words += _reading_words(cell.executions[-1].noise)
    return f" {glyphs.dot} ".join(words)


def _reading_words(noise: Noise) -> list[str]:
    """Return the kernel's readings of the latest execution."""
    words = [f"{short(noise.frequency_mhz[-1] / 1000)} GHz"] if noise.frequency_mhz else []
    if noise.throttled_us is not None:
        words.append("throttled" if noise.throttled_us else "no throttling")
    if noise.steal_share is not None:
        words.append(f"steal {percent(noise.steal_share)}" if noise.steal_share else "steal 0")
    if noise.disturbed_blocks:
        words.append(f"{noise.disturbed_blocks} of {noise.blocks} blocks disturbed")
    return words


SIGNS = {
    activity.RUNNING: "running", activity.WAITING: "waiting", activity.FAILED: "failed",
    activity.INTERRUPTED: "interrupted", activity.REBOOTED: "interrupted", activity.CANCELLED: "interrupted",
    activity.UNSAVED: "interrupted", activity.ELSEWHERE: "running",
}  # fmt: skip
"""Names of fields of `Glyphs`."""


def run_cell(run: RunRow, glyphs: Glyphs) -> str:
    """Return text such as `▶ 9/15 ~3m10`, or the state in a word."""
    info = run.info
    sign = getattr(glyphs, SIGNS.get(info.state, "failed"))
    if info.state != activity.RUNNING:
        return f"{sign} {info.state}"
    done = f" {info.cells_done}/{info.cells}" if info.cells else ""
    left = f" ~{seconds(max(info.eta_s, 0.0))}" if info.eta_s is not None else ""
    return f"{sign}{done}{left}"
