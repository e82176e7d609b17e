"""The workbench: the command `physai`, and the rules behind its answers."""
