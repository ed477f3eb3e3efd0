"""Profiles: rows, sentences, and one view per kind for pages, exports and screens."""
