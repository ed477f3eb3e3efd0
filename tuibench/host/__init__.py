"""Hardware and load of this machine, read from /proc and /sys below a root that tests can replace."""
