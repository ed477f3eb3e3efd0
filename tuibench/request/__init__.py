"""Requests of benchmarks and profiles: from flags and fields to the spec for a runner, and back to a command."""
