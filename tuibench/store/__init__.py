"""Measurements on disk: TinyDB files that survive crashes, full disks and concurrent sessions."""
