"""`python -m tuibench` is the same as `tuibench`."""

from __future__ import annotations

import sys

from tuibench.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
