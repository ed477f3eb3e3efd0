"""Imported results: foreign files as results, or reasons for rejection."""
