"""Description of a model, in lines for the screens of new projects, settings and home."""

from __future__ import annotations

from collections.abc import Sequence

from tuibench.core.model import ModelSummary, Port
from tuibench.core.profile import CostProfile
from tuibench.core.units import count_of, percent, scaled, size
from tuibench.insight.column import UNKNOWN
from tuibench.insight.cost_total import flops_words, macs_words, unknown_words
from tuibench.tui.glyph import Glyphs
from tuibench.tui.widgets.row import LineLike

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
        lines.append((model.reason, "warn"))
    return lines


def cost_lines(costs: CostProfile, glyphs: Glyphs) -> list[LineLike]:
    """Return lines on FLOPs and MACs: the sizes they apply to, their definition, and the uncounted operators."""
    sums = f"{_sum('FLOPs', flops_words(costs))} {glyphs.dot} {_sum('MACs', macs_words(costs))}"
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
