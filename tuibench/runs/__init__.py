"""Carries a benchmark out: what runs in which order, who watches it, and where every result is written at once."""
