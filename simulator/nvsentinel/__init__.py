"""A model of NVSentinel: monitors that turn faults into events, the quarantine of nodes, and their drain.

Source: NVIDIA/NVSentinel, the modules named in each file. What is modelled: docs/reference/nvsentinel-model.md.
"""
