"""What was measured, on disk: TinyDB files that survive crashes, full disks and several sessions."""
