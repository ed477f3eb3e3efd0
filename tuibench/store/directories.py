"""Directories of this user: below TUIBENCH_HOME if set, else the platform's own directories."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Mapping
from pathlib import Path

from tuibench.core.errors import StoreError
from tuibench.core.machine import Places
from tuibench.core.reason import because, error_text


def find_places(environ: Mapping[str, str]) -> Places:
    """Return the directories, which need not exist yet; without a home they are below the temporary directory.

    Raise StoreError if others control the directory there.
    """
    if own := environ.get("TUIBENCH_HOME"):
        return _below(Path(os.path.abspath(own)))
    # Costs 9 ms, which a command without a store should not pay.
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
        # Neither HOME nor a passwd entry, as for a numeric user in a container.
        return _below(_claim(Path(tempfile.gettempdir(), f"tuibench-{os.getuid()}")))


def is_private(path: Path) -> bool:
    """Return whether a path is a directory, not a link, that only this user can write to; OSError if it is missing."""
    found = os.lstat(path)
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o022


def _claim(path: Path) -> Path:
    """Create a directory of this user, or return the existing one; StoreError if others control it.

    Create it at once: any user can take a free name in the temporary directory.
    """
    try:
        path.mkdir(mode=0o700, exist_ok=True)
        private = is_private(path)
    except OSError as error:
        raise StoreError("home_unusable", path=str(path), why=error_text(error.strerror or "")) from error
    if not private:
        raise StoreError("home_unusable", path=str(path), why=because("open_to_others"))
    return path


def _below(home: Path) -> Places:
    return Places(data=home / "data", state=home / "state", cache=home / "cache", config=home / "config")
