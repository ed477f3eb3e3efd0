"""What the machine is and what it does meanwhile: read from /proc and /sys under a root that can be handed in."""
