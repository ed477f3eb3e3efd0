"""List of benchmarks, its preview, and the actions on records."""
