"""Runs benchmarks and profiles: order of executions, supervision of workers, and immediate writing of every result."""
