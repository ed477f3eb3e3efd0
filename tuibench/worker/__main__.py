"""Worker for an interpreter that `multiprocessing` cannot start: reads the job from stdin, sends frames to stdout."""

from __future__ import annotations

import os
from multiprocessing.connection import Connection

from tuibench.worker.main import main

if __name__ == "__main__":
    inbox, outbox = os.dup(0), os.dup(1)
    main(Connection(inbox), Connection(outbox), os.getppid())
