"""Mirrors the package: tests/<room>/test_<module>.py; what holds for all of it lies here at the top."""
