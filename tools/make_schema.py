"""Make the parts of the JSON schema that describe a specification, and the names of scenarios, from the declarations.

python tools/make_schema.py           writes tuibench/data/benchmark.schema.json
python tools/make_schema.py --print   prints it
"""

from __future__ import annotations

import dataclasses
import json
import re
import sys
import types
import typing
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tuibench.core import scenario  # noqa: E402
from tuibench.core.settings import benchmark, profile  # noqa: E402 - the package of this checkout
from tuibench.core.settings.kinds import Switch  # noqa: E402
from tuibench.core.settings.setting import SECTIONS  # noqa: E402
from tuibench.core.spec import BenchmarkSpec, Effort, ModelSource  # noqa: E402

PATH = ROOT / "tuibench" / "data" / "benchmark.schema.json"
_NAMES = {str: "string", int: "integer", bool: "boolean", type(None): "null"}


def make_schema() -> str:
    """Return the whole file; a field added to a class is optional, because older files lack it."""
    text = PATH.read_text("utf-8")
    olds = json.loads(text)["$defs"]
    for kind in (BenchmarkSpec, Effort, ModelSource, *SECTIONS.values()):
        hints = typing.get_type_hints(kind)
        fields = [field.name for field in dataclasses.fields(kind)]
        required = [name for name in olds[kind.__name__]["required"] if name in fields]
        parts = [json.dumps(name) + ": " + json.dumps(_choices(kind, name) or _schema(hints[name])) for name in fields]
        made = [
            '"type": "object"',
            f'"description": {json.dumps(" ".join((kind.__doc__ or "").split()))}',
            f'"required": {json.dumps(required)}',
            '"properties": {\n        ' + ",\n        ".join(parts) + "\n      }",
        ]
        block = f'    "{kind.__name__}": {{\n      ' + ",\n      ".join(made) + "\n    }"
        text, count = re.subn(rf'    "{kind.__name__}": \{{\n.*?\n    \}}', lambda _: block, text, flags=re.DOTALL)  # noqa: B023
        assert count == 1, kind
    labels = [one.label for one in scenario.REGISTRY.values() if one.label]
    for end, names in (("null", [*labels, None]), ('"', list(scenario.REGISTRY))):
        found = rf'("scenario": \{{"enum": )\[[^]]*{end}\]'
        text = re.sub(found, lambda match: match[1] + json.dumps(names), text)  # noqa: B023
    return text


def _choices(kind: type, name: str) -> dict[str, Any] | None:
    """Return the two texts of a switch, if that is what the field holds."""
    section = next((section for section, one in SECTIONS.items() if one is kind), "")
    for setting in (*benchmark.settings(), *profile.settings()):
        if isinstance(setting.kind, Switch) and setting.at == f"{section}.{name}" and setting.kind.given is not True:
            return {"enum": [setting.kind.absent, setting.kind.given]}
    return None


def _schema(hint: Any) -> dict[str, Any]:
    if hint is float:  # NaN is written as null
        return {"type": ["number", "null"]}
    if hint in _NAMES:
        return {"type": _NAMES[hint]}
    if dataclasses.is_dataclass(hint):
        return {"$ref": f"#/$defs/{hint.__name__}"}  # type: ignore[union-attr]
    parts = typing.get_args(hint)
    if isinstance(hint, types.UnionType):
        return _union([_schema(part) for part in parts])
    if typing.get_origin(hint) is dict:
        return {"type": "object", "additionalProperties": _schema(parts[1])}
    if parts[-1] is ...:
        return {"type": "array", "items": _schema(parts[0])}
    return {
        "type": "array",
        "prefixItems": [_schema(part) for part in parts],
        "minItems": len(parts),
        "maxItems": len(parts),
    }


def _union(parts: list[dict[str, Any]]) -> dict[str, Any]:
    if any("type" not in part for part in parts):
        return {"anyOf": parts}
    names = [name for part in parts for name in ([part["type"]] if isinstance(part["type"], str) else part["type"])]
    return {"type": list(dict.fromkeys(names))}


if __name__ == "__main__":
    if "--print" in sys.argv:
        print(make_schema(), end="")
    else:
        PATH.write_text(make_schema(), encoding="utf-8")
