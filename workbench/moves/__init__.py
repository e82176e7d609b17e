"""Moves of running work from one node pool to another, stage by stage: requests, settings of each stage, decisions
about nodes and Pods, and the progress so far. Does no I/O.
"""
