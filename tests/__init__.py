"""Mirrors the package as tests/<room>/test_<module>.py; tests of the whole package are at the top."""
