"""Checks of a stack against its Azure subscription before a deployment.

`rest` sends the requests, and `answers` has the types of the answers; the other modules compare answers with settings
without I/O.
"""
