"""Percentiles, intervals, stop rule, warm-up end, grades and the comparison, on plain sequences."""
