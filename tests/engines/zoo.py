"""Proves zoo.txt on a directory of fetched models: `python -m tests.engines.zoo DIRECTORY [--update] [MODEL ...]`.

The engines with interpreters of their own are those below TUIBENCH_TEST_ENGINES.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.engines import matrix

ROWS = Path(__file__).with_name("zoo.txt")
SUFFIXES = (".onnx", ".ort")


def main(arguments: list[str]) -> int:
    """Run each model once in every engine; return 1 if an outcome differs from its row."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path)
    parser.add_argument("models", nargs="*", help="names without suffix; default: all")
    parser.add_argument("--update", action="store_true", help="write the outcomes into zoo.txt")
    asked = parser.parse_args(arguments)
    root = os.environ.get("TUIBENCH_TEST_ENGINES", "")
    rows, engines = matrix.read_rows(ROWS), matrix.installed(root)
    paths = find_models(asked.directory)
    named = {name: path for name, path in paths.items() if not asked.models or name in asked.models}
    if not named:
        print(f"no models below {asked.directory}", file=sys.stderr)
        return 2
    for missing in sorted({model for model, _ in rows} - set(paths)):
        print(f"{missing}: not there, its rows are not proved")
    for engine in matrix.ENGINES:
        if engine not in engines:
            print(f"{engine}: not installed in TUIBENCH_TEST_ENGINES, its rows are not proved")
    failures, counts = 0, Counter[tuple[str, str]]()
    for name, path in named.items():
        begin = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="zoo-") as home:
            trial = matrix.try_model(path, engines, root, Path(home), seconds=1200)
        print(f"{name} ({time.monotonic() - begin:.0f} s)")
        wrong = matrix.differences({one: rows.get((name, one), "no row") for one in engines}, trial.outcomes)
        for engine, outcome in trial.outcomes.items():
            print(f"  {engine:20} {outcome.text:32} {outcome.words[:300]}")
            counts[engine, outcome.text.partition(" ")[0]] += 1
        for line in (*trial.faults, *([] if asked.update else wrong)):
            print(f"  WRONG: {line}")
            failures += 1
        if asked.update:
            found = {(name, engine): outcome.text for engine, outcome in trial.outcomes.items()}
            matrix.update_rows(ROWS, found, sorted({model for model, _ in rows} | set(paths)))
        sys.stdout.flush()
    for engine in engines:
        print(f"{engine}: " + ", ".join(f"{count} {kind}" for (one, kind), count in counts.items() if one == engine))
    return 1 if failures else 0


def find_models(directory: Path) -> dict[str, Path]:
    """Return the files of models below a directory by their stems; those that share one by their paths."""
    found = sorted(path for path in directory.rglob("*") if path.suffix in SUFFIXES and path.is_file())
    names = Counter(path.stem for path in found)
    return {path.stem if names[path.stem] == 1 else str(path.relative_to(directory)): path for path in found}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
