"""A run from its plan to its summary: order, supervision, journal and what the numbers say."""
