"""Figures of results, drawn as rows of styled text."""
