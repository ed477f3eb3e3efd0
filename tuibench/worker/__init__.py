"""Code that runs inside a worker: one execution of one cell per process."""
