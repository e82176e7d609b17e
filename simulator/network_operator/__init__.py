"""Simulation of NVIDIA's Network Operator: its objects for a NicClusterPolicy, and the resources of device plugins on
nodes.

Source for the requirements on a node and for the order of events: Mellanox/network-operator
(controllers/nicclusterpolicy_controller.go, manifests/state-*). First comes the OFED driver, then the label that lets
device plugins run on the node, then the device plugins' resources.
"""

from __future__ import annotations
