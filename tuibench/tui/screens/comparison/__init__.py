"""Comparison of two benchmarks, or of the series within one."""
