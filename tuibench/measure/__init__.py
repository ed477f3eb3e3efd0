"""What runs inside a worker: one execution of one cell, and nothing else in the process."""
