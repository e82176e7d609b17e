"""NVIDIA's Network Operator: drivers and resources of network cards, and networks for Pods."""
