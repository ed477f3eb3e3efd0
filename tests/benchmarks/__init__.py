"""Scripts that measure time; `make bench` runs each, and none of them gates anything."""
