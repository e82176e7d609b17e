"""Simulation of NVSentinel: monitors that turn faults into events, the quarantine of nodes, and the drain of these
nodes.

Source: NVIDIA/NVSentinel, the modules named in each file. What is simulated: docs/reference/nvsentinel-model.md.
"""
