"""Simulation of the GPU stack: what NFD, the GPU Operator and its operands do on simulated nodes.

`operator` turns the cluster's objects into the operator's writes, `node` runs the gates of one node from the first NFD
label to an allocatable GPU, `nfd` makes NFD's labels. All of it is pure: no API server, no clock.
"""
