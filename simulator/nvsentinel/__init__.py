"""Simulation of NVSentinel: its monitors turn faults into events, and its modules quarantine and drain the nodes with
such events.

Source: NVIDIA/NVSentinel, the modules named in each file. What is simulated: docs/reference/nvsentinel-model.md.
"""
