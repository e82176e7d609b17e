"""The files of a stack, and how they are merged."""
