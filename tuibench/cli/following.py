"""Follows a run that this command started until it ends, is cancelled or is detached."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from tuibench.cli.output import emit, progress_painter, width
from tuibench.cli.publication import compared_page, publish
from tuibench.cli.terminal import Ended, Interruption, Terminal, held_back
from tuibench.cli.view import View
from tuibench.core.errors import ExitCode, StoreError, TuibenchError
from tuibench.core.ids import short_id
from tuibench.core.machine import Places
from tuibench.core.model import FetchedModel, FetchProgress, public_name
from tuibench.core.result import RunResult, SideBySide
from tuibench.core.settings.request import BenchmarkRequest
from tuibench.core.spec import ModelSource
from tuibench.core.text import show, to_ascii
from tuibench.core.units import count_of, percent, size
from tuibench.present.error.words import message_words
from tuibench.present.preamble import DryRun, dry_run_json, dry_run_text
from tuibench.present.profile.shown import Shown
from tuibench.present.progress import ProgressPainter, Snapshot
from tuibench.present.reason import read_words, reason_words
from tuibench.present.run_list import resume_words
from tuibench.services.active_run import ActiveRun, ending_code
from tuibench.services.api import Services
from tuibench.services.models import ModelFetch


class Following:
    """One run with its view and its output options, and optionally a result to compare with."""

    def __init__(
        self,
        services: Services,
        view: View[ActiveRun],
        request: BenchmarkRequest,
        partner: RunResult | None = None,
        shown: Shown | None = None,
    ) -> None:
        self._shown = shown
        self._partner = partner
        self._services = services
        self._view = view
        self._run = view.active
        self._request = request
        self._terminal = Terminal()

    def follow(self, interruption: Interruption, let_in: Callable[[], object] = lambda: None) -> int:
        """Watch to the end, publish the result, and return the exit code; `let_in` unblocks held back signals."""
        run = self._run
        try:
            let_in()
            asks = not self._request.dry_run and self._terminal.can_be_asked()
            with interruption.asking() if asks else nullcontext():
                self._view.watch(interruption, self._answer)
        except BaseException as error:
            self._end(error)
            raise
        if run.detached:
            return self._say_farewell()
        result = run.result()
        if self._request.dry_run:
            return self._show_plan(self._view.plan(), result)
        if result.status == "interrupted":
            self._say(f"tuibench: the run was interrupted: {reason_words(run.replay.end.get('reason'))}")
        try:
            publish(self._request, result, self._samples(), self._beside(result), self._shown, self._compared(result))
        except TuibenchError:
            # The export failed, but the result may be saved.
            self._report_saving(result)
            raise
        return self._report_saving(result)

    def _answer(self) -> None:
        """Ask after Ctrl-C: cancel, detach or continue."""
        run = self._run
        kept = f"{self._measured()} {'kept' if run.kept else 'printed'}" if self._measured() else "nothing measured yet"
        painter = self._view.painter
        detach = " · d: detach" if run.kept else ""
        question = f"again: cancel ({kept}){detach} · any other key: continue "
        question = to_ascii(question) if self._request.ascii else question
        try:
            key = self._terminal.read_key(run.done_fd, lambda: painter.write(question))
        finally:
            painter.write("\n")
        if key in ("d", "D") and run.kept:
            with held_back():
                run.detach()

    def _measured(self) -> str:
        """Return how much is measured, in words; '' for nothing."""
        replay = self._run.replay
        if not replay.has_something:
            return ""
        if replay.parts.measured:
            return "finished cells"
        return count_of(sum(bool(track.count) for track in replay.tracks.values()), "cell")

    def _end(self, error: BaseException) -> None:
        """End the command: detach if the terminal went away, else cancel the run and publish its result."""
        run = self._run
        if isinstance(error, Ended) and error.code == ExitCode.HANGUP and run.kept and self._terminal.went_away:
            run.detach()
            return
        run.cancel()
        if isinstance(error, TuibenchError):
            return  # this command has no run; the error says why
        if not self._request.dry_run and run.replay.has_something:
            self._publish_at_last(run.result())
        elif not self._request.quiet:
            self._say("tuibench: ended before anything was measured")

    def _publish_at_last(self, result: RunResult) -> None:
        """Publish as far as possible while the command ends; the cause of the end decides the exit code."""
        self._view.painter.clear()
        # Terminal and pipes may be gone: write the export all the same.
        try:
            publish(self._request, result, self._samples(), self._beside(result), self._shown, self._compared(result))
            self._report_saving(result)
        except (OSError, TuibenchError) as error:
            said = message_words(error) if isinstance(error, TuibenchError) else show(error)
            self._say(f"tuibench: {said}")

    def _beside(self, result: RunResult) -> SideBySide | None:
        if self._partner is None or result.spec.profile is not None:
            return None
        return self._services.exchange.compare(self._partner, result)

    def _compared(self, result: RunResult) -> str:
        """Return the comparison with the profile that it repeats."""
        if self._partner is None or self._partner.profile is None:
            return ""
        return compared_page(self._services, self._partner, result, self._request.ascii, self._shown)

    def _samples(self) -> Path | None:
        """Return the directory of the run's samples."""
        if not self._run.replay.end.get("saved"):
            return self._run.run_dir / "samples"
        try:
            return self._services.store.benchmarks.samples(self._run.id)
        except StoreError:
            return None

    def _report_saving(self, result: RunResult) -> int:
        """Print where the result is saved, or how to save it; return the exit code."""
        run, end = self._run, self._run.replay.end
        short = short_id(run.id)
        if end.get("saved") is False:
            self._say(
                f"tuibench: measured, not saved: {read_words(end.get('why'))}; "
                f"tuibench resume {short} tries again, tuibench export {short} -x FILE saves it elsewhere"
            )
        elif end.get("saved") and not self._request.quiet:
            self._say(f"saved as {short}" + self._where_saved(end))
        elif run.kept and result.status == "interrupted":
            self._say(resume_words(short, end))
        return int(ending_code(run.replay, result))

    def _where_saved(self, end: Mapping[str, Any]) -> str:
        """Return the project in words; the note names it if the project was created or changed."""
        if end.get("note"):
            return f"; {end['note']}"
        name = self._services.library.project_name(end.get("project"))
        return f" in project {show(name, 80)}" if name else ""

    def _say_farewell(self) -> int:
        short = short_id(self._run.id)
        self._say(f"detached: tuibench attach {short} follows it, tuibench cancel {short} ends it")
        target = self._request.export_path
        if target is not None:
            self._say(f"{target} is not written: tuibench export {short} -x {target} does it when the run is done")
        if self._request.compare_to is not None:
            self._say(f"no comparison: tuibench attach {short} shows the result")
        return int(ExitCode.OK)

    def _show_plan(self, plan: DryRun, result: RunResult) -> int:
        """Print the plan; if cells must fail, return the exit code that measuring them would have."""
        emit(dry_run_json(plan) if self._request.json else dry_run_text(plan, self._request.ascii, width()))
        if not plan.failed:
            return int(ExitCode.OK)
        return int(ExitCode.SOME_FAILED if plan.cells else ending_code(self._run.replay, result))

    def _say(self, text: str) -> None:
        self._view.painter.say(text)


_MEASURE_AFTER_S = 1.0


class ArrivalView:
    """Prints the size of a model once, then the downloaded part."""

    def __init__(self, label: str, painter: ProgressPainter, clock: Callable[[], float]) -> None:
        self._label = label
        self._painter = painter
        self._clock = clock
        self._first: tuple[float, int] | None = None

    def update(self, progress: FetchProgress) -> None:
        """Repaint if it is time."""
        if self._first is None:
            self._first = (self._clock(), progress.fetched)
            total = "of unknown size" if progress.total is None else size(progress.total)
            self._painter.say(f"fetching {self._label}: {total}")
        self._painter.update(Snapshot(0, 0, self._label, eta_s=self._left_s(progress), activity=_share(progress)))

    def done(self, model: FetchedModel) -> None:
        """Print the last line; nothing if the model was cached."""
        self._painter.clear()
        if model.fetched:
            self._painter.say(f"fetched {show(model.name)}: {size(model.bytes)}, sha256 {show(model.sha256, 12)}")

    def _left_s(self, progress: FetchProgress) -> float | None:
        if self._first is None or progress.total is None:
            return None
        began, before = self._first
        spent, arrived = self._clock() - began, progress.fetched - before
        if spent < _MEASURE_AFTER_S or arrived <= 0:
            return None
        return (progress.total - progress.fetched) * spent / arrived


def fetcher(places: Places, quiet: bool, ascii_only: bool) -> Callable[[str], ModelSource]:
    """Return a function that fetches a name such as hf:ORG/REPO or https://… and shows the progress on stderr."""

    def fetch(token: str) -> ModelSource:
        painter = progress_painter(ascii_only)
        view = ArrivalView(show(public_name(token), 50), painter, time.monotonic)
        try:
            model = ModelFetch(token, places).carry_out(_ignore if quiet else view.update)
        finally:
            painter.clear()
        if not quiet:
            view.done(model)
        return model.source

    return fetch


def _share(progress: FetchProgress) -> str:
    if not progress.total:
        return size(progress.fetched)
    return f"{size(progress.fetched)} of {size(progress.total)}, {percent(progress.fetched / progress.total)}"


def _ignore(_: FetchProgress) -> None:
    """Ignore the progress, for -q."""
