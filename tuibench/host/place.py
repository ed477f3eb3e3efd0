"""Where this user's things lie: TUIBENCH_HOME over all, else the platform's own directories."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from tuibench.core.place import Places


def find_places(environ: Mapping[str, str]) -> Places:
    """The directories, none of which need exist yet; below the temporary one for a user without a home."""
    if own := environ.get("TUIBENCH_HOME"):
        return _below(Path(os.path.abspath(own)))
    # 9 ms that a command without a store has no use for.
    from platformdirs import PlatformDirs

    found = PlatformDirs("tuibench", appauthor=False)
    try:
        return Places(
            data=Path(found.user_data_dir),
            state=Path(found.user_state_dir),
            cache=Path(found.user_cache_dir),
            config=Path(found.user_config_dir),
        )
    except RuntimeError:
        # Neither HOME nor an entry in passwd, as for a numeric user in a container.
        return _below(Path(tempfile.gettempdir(), f"tuibench-{os.getuid()}"))


def _below(home: Path) -> Places:
    return Places(data=home / "data", state=home / "state", cache=home / "cache", config=home / "config")
