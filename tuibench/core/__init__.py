"""Shared types: plain frozen data and pure functions that import only the standard library."""
