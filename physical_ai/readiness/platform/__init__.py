"""Comparison of the software that a stack installs into its cluster with the cluster's objects: missing, switched off
or unavailable.

`parts` derives the expected objects from the plans and from Helm's own records; `absence` compares, without I/O;
`read` reads the cluster.
"""
