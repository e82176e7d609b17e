"""The commands of `physai`, one module for each group."""
