"""Model of a project: the path field, the description, and the sizes of its dims."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, cast

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical

from tuibench.core.model import ModelSummary, Port, is_remote
from tuibench.core.profile import CostProfile
from tuibench.core.text import too_long
from tuibench.core.units import count_of, percent, scaled, size
from tuibench.present.profile.costs import total_words, unknown_words
from tuibench.present.reason import reason_words
from tuibench.present.table import UNKNOWN
from tuibench.tui import key
from tuibench.tui.widgets.field import LABEL, Field, TextField
from tuibench.tui.widgets.painted import Glyphs, LineLike
from tuibench.tui.widgets.text_block import TextBlock

if TYPE_CHECKING:
    from tuibench.tui.screens.base import Page


_SHOWN = 5
_WHAT = "path, sample, hf:ORG/REPO, https://..."


class ModelPath(Vertical):
    """A text field of its screen's column; its messages also reach the screen."""

    DEFAULT_CSS = "ModelPath { height: auto; }"
    BINDINGS: ClassVar[list[BindingType]] = key.bindings(only=("complete",))

    def __init__(self, name: str, label: str, path: str = "") -> None:
        super().__init__()
        self._field = TextField(name, label, path, width=0, placeholder=_WHAT)

    def compose(self) -> ComposeResult:
        """Yield the field and its completions."""
        yield self._field
        yield TextBlock()

    def on_field_changed(self, message: Field.Changed) -> None:
        """Update the completions; the message also goes on to the screen."""
        text = self._field.answer
        if not text or is_remote(text):
            self.hide_candidates()
        else:
            page = cast("Page", self.screen)
            page.request(
                lambda: page.services.models.complete(text), lambda found: self._show(text, found), group="complete"
            )

    def hide_candidates(self) -> None:
        """Hide the completions."""
        self.query_one(TextBlock).show_lines(())

    def _show(self, text: str, found: tuple[str, ...]) -> None:
        if text != self._field.answer or not self._field.has_focus_within:
            return
        names = [name for name in found if name != text]
        # List only the differing last parts; the shared part is in the field.
        lines: list[LineLike] = [(f"{' ' * LABEL}{_last_part(name)}", "dim") for name in names[:_SHOWN]]
        more = len(names) - _SHOWN
        lines += [(f"{' ' * LABEL}and {more} more", "dim")] if more > 0 else []
        self.query_one(TextBlock).show_lines(lines)

    def action_complete(self) -> None:
        """Complete up to the first difference and list the candidates; with at most one, move to the next field."""
        text, page = self._field.answer, cast("Page", self.screen)
        page.request(
            lambda: page.services.models.complete(text), lambda found: self._complete(text, found), group="complete"
        )

    def _complete(self, text: str, found: tuple[str, ...]) -> None:
        common = common_beginning(found)
        if self._field.answer == text and len(common) > len(text):
            self._field.put(common)
        elif len(found) <= 1:
            self.screen.focus_next()
        self._show(self._field.answer, found)


def _last_part(path: str) -> str:
    folder = path.endswith("/")
    return path.rstrip("/").rpartition("/")[2] + ("/" if folder else "")


def common_beginning(names: tuple[str, ...]) -> str:
    """Return the longest common prefix."""
    if not names:
        return ""
    low, high = min(names), max(names)
    same = next((n for n, (one, other) in enumerate(zip(low, high, strict=False)) if one != other), len(low))
    return low[:same]


_MOST_PORTS = 4
_MOST_OPERATORS = 6


def model_lines(model: ModelSummary, glyphs: Glyphs) -> list[LineLike]:
    """Return lines on ports, size, opset, parameters, precision, zeros, quantization and operators, as far as known."""
    dot = f" {glyphs.dot} "
    lines: list[LineLike] = [*_ports("in", model.inputs, glyphs), *_ports("out", model.outputs, glyphs)]
    facts = [size(model.file_bytes + model.external_bytes)]
    facts += [f"{count_of(len(model.external_files), 'file')} of weights"] if model.external_files else []
    facts += [f"opset {_opsets(model.opsets)}"] if model.opsets else []
    facts += [f"IR {model.ir_version}"] if model.ir_version else []
    facts += [f"by {model.producer}"] if model.producer else []
    lines.append(_named("model", dot.join(facts)))
    if model.parameters is not None:
        lines.append(_named("weights", dot.join(_weights(model))))
    if model.quantization:
        lines.append(_named("", model.quantization))
    if model.operators:
        most = sorted(model.operators.items(), key=lambda item: (-item[1], item[0]))
        names = [f"{count} {name}" for name, count in most[:_MOST_OPERATORS]]
        names += [f"{len(most) - _MOST_OPERATORS} other kinds"] if len(most) > _MOST_OPERATORS else []
        lines.append(_named(count_of(model.nodes or 0, "node"), ", ".join(names)))
    if model.reason:
        lines.append((reason_words(model.reason), "warn"))
    return lines


def cost_lines(costs: CostProfile, glyphs: Glyphs) -> list[LineLike]:
    """Return lines on FLOPs and MACs: the sizes they apply to, their definition, and the uncounted operators."""
    sums = f"{_sum('FLOPs', total_words(costs, 'flops'))} {glyphs.dot} {_sum('MACs', total_words(costs, 'macs'))}"
    sizes = [f"batch {costs.batch}"] if costs.batch is not None else []
    sizes += [f"{name} {value}" for name, value in costs.dims.items()]
    lines: list[LineLike] = [_named("cost", f"{sums}{' at ' if sizes else ''}{', '.join(sizes)}")]
    lines.append((" " * 12 + f"FLOPs = 2 {glyphs.times} MACs + operations on single elements", "dim"))
    if unknown := unknown_words(costs):
        lines.append((" " * 12 + f"not in it: {unknown}", "warn"))
    return lines


def cost_missing(words: str) -> list[LineLike]:
    """Return a line that says why there are no costs, or none yet."""
    return [((f" {'cost':<10} ", "dim"), (words, "dim"))]


def _sum(what: str, words: str) -> str:
    return f"{what} unknown" if words == UNKNOWN else f"{words} {what}"


def _weights(model: ModelSummary) -> list[str]:
    total = model.parameters or 0
    facts = [f"{scaled(total)} parameters"]
    for name, count in sorted((model.weight_types or {}).items(), key=lambda item: -item[1]):
        facts.append(f"{name} {percent(count / total)}" if total else name)
    if model.zeros is not None and total:
        facts.append(f"zeros {percent(model.zeros / total)}")
        sparse = [one for one in model.zero_tensors if one[1] and one[2] / one[1] >= 0.3]
        facts += [f"{count_of(len(sparse), 'tensor')} at least 30 % zeros"] if sparse else []
    return facts


def _ports(word: str, ports: Sequence[Port], glyphs: Glyphs) -> list[LineLike]:
    lines = [_named(word, _port(port, glyphs)) for port in ports[:_MOST_PORTS]]
    return lines + ([_named("", f"and {len(ports) - _MOST_PORTS} more")] if len(ports) > _MOST_PORTS else [])


def _port(port: Port, glyphs: Glyphs) -> str:
    shape = "?" if port.shape is None else glyphs.times.join("?" if axis is None else str(axis) for axis in port.shape)
    kind = "" if port.kind == "tensor" else f"{port.kind} of "
    return f"{port.name}  {kind}{port.dtype}  {shape or 'scalar'}"


def _opsets(opsets: dict[str, int]) -> str:
    return ", ".join(f"{domain} {version}" if domain else str(version) for domain, version in opsets.items())


def _named(name: str, text: str) -> LineLike:
    return ((f" {name:<10} ", "dim"), (text, ""))


_MOST = 1 << 40
PREFIX = "dim:"


def dims_of(fields: Mapping[str, str]) -> tuple[dict[str, int], dict[str, str]]:
    """Return the dims from fields named `dim:NAME`, without empty ones, and the errors by field, `name` first."""
    dims: dict[str, int] = {}
    wrong = reason_words(too_long(fields["name"])) if fields["name"] else "a project needs a name"
    errors = {"name": wrong} if wrong else {}
    for name, text in fields.items():
        if not name.startswith(PREFIX) or not text:
            continue
        # int() accepts blanks, underscores and digits of other scripts.
        if text.isascii() and text.isdigit() and len(text) <= 13 and int(text) <= _MOST:
            dims[name.removeprefix(PREFIX)] = int(text)
        else:
            errors[name] = f"a whole number from 0 to {_MOST}; several sizes are measured from the benchmark's form"
    return dims, errors
