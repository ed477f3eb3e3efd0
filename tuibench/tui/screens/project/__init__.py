"""The room `project`."""
