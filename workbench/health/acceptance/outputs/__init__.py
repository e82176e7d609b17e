"""Readers of the output of the tools that acceptance runs. Pure functions from text to facts; they refuse unknown
output.
"""
