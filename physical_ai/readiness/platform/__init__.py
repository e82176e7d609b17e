"""Comparison of the software that a stack installs into its cluster with what is there: missing, switched off or
unavailable.

`parts` derives what should be there from the plans and from Helm's own records; `absence` compares, pure; `read` reads.
"""
