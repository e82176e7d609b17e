"""Readers of the output of acceptance's tools. Pure functions from text to facts; unknown output is refused."""
