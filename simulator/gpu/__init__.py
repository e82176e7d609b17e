"""Simulation of the GPU stack: what NFD, the GPU Operator and its operands do on simulated nodes.

`operator` computes the GPU Operator's writes from the cluster's objects. `node` runs one node through its gates, from
NFD's first label to an allocatable GPU. `nfd` computes NFD's labels. All three are pure: they use no API server and no
clock.
"""
