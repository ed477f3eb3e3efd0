"""A run as a whole, in lines: what it measures, how far it is, what disturbs it, how it ended and what to do then."""

from __future__ import annotations

from tuibench.core import activity
from tuibench.core.label import model_names
from tuibench.core.short_id import short_id
from tuibench.core.units import count_of, percent, seconds
from tuibench.core.watch import RunView
from tuibench.plots.bar import progress_bar
from tuibench.plots.sparkline import sparkline
from tuibench.report.run_log import drift_words

_BAR = 30


def head_words(view: RunView) -> str:
    """Models, engines, precision, scenarios, target."""
    spec = view.spec
    if spec is None:
        return ""
    target = f"to ±{percent(spec.effort.target)}" if spec.effort.target is not None else "fixed time"
    words = [", ".join(model_names(spec.models)), ", ".join(spec.engines), spec.precision, ",".join(spec.scenarios)]
    return " ".join([*words, target])


def bar_words(view: RunView, width: int, ascii_only: bool) -> str:
    """How many cells are done, how long it took and how long it may take."""
    total = len(view.cells)
    done = sum(is_done(view, n) for n in range(total))
    words = [f"{done}/{total}", f"{seconds(view.elapsed_s)} gone"] if total else []
    if view.eta_s is not None and not view.ended:
        words.append(f"~{seconds(view.eta_s)} left")
    if view.limit_s is not None and not view.ended:
        words.append(f"(at most {seconds(view.limit_s)})")
    text = "  ".join(words)
    room = min(max(width - len(text) - 2, 0), _BAR)
    bar = progress_bar(done, total, room, ascii_only) if total and room > 4 else ""
    return f"{bar}  {text}".strip()


def is_done(view: RunView, number: int) -> bool:
    """Whether nothing more will be measured of a cell."""
    cell = view.cells[number]
    return cell.status in ("ok", "failed") or (view.ended and cell.status != "skipped") or cell.failure is not None


def noise_words(view: RunView, ascii_only: bool) -> str:
    """How much of the latest executions waited for a CPU, and how the machine has drifted."""
    shares = [share for share in view.waiting_shares if share is not None]
    if not shares:
        return ""
    line = sparkline([min(share, 1.0) for share in view.waiting_shares if share is not None], ascii_only, width=20)
    words = f"noise {line} latest waited {percent(shares[-1])} for a CPU"
    drift = drift_words(view.drift)
    return f"{words}, anchor drift {drift}" if drift else words


def state_lines(view: RunView) -> tuple[str, ...]:
    """What state it is in, and what to do; the first line says the most."""
    info = view.info
    if view.ended:
        return _end_lines(view)
    if info.state == activity.WAITING:
        return _waiting_lines(view)
    if view.spec is None:
        return ("it begins ...",)
    if not view.cells:
        return ("preparing: the model is read, inputs are made, a first inference is tried",)
    return (info.detail,) if info.detail else ("between two executions",)


def _waiting_lines(view: RunView) -> tuple[str, ...]:
    info, holder = view.info, view.info.holder
    place = f"waits for the machine, place {info.place}" if info.place else "waits for the machine"
    if holder is None:
        return (place,)
    run = f" (run {short_id(holder.run)})" if holder.run else ""
    eta = f", ~{seconds(holder.eta_s)} left" if holder.eta_s is not None else ""
    lines = [place, f"held by pid {holder.pid} of {holder.user}{run}{eta}"]
    if holder.stopped:
        lines.append("its process is stopped, so this may take for ever: X cancels this run")
    return tuple(lines)


def _end_lines(view: RunView) -> tuple[str, ...]:
    result = view.result
    lines = [result.headline] if result is not None and result.headline else []
    lines += [f"{view.status}: {view.reason}" if view.reason else view.status]
    if view.saved:
        lines.append("enter opens the result, r measures it again")
    elif view.info.resumable:
        done = count_of(view.info.executions, "execution")
        lines.append(f"o takes it up where it broke off ({done} kept); d removes it")
    elif view.saved is False:
        lines.append("nothing of it is stored; d removes its traces")
    return tuple(lines)
