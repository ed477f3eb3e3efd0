"""Imported results: parse foreign files into results or reasons for rejection; runs only in a child process."""
