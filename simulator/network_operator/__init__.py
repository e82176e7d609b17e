"""Simulation of NVIDIA's Network Operator: its objects for a NicClusterPolicy, and the resources of device plugins on
nodes.

The requirements on a node and the order of events follow Mellanox/network-operator
(controllers/nicclusterpolicy_controller.go, manifests/state-*): the OFED driver first, then the label that lets the
device plugins onto the node, then their resources.
"""

from __future__ import annotations
