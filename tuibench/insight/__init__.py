"""Conclusions drawn from the figures of a profile."""
