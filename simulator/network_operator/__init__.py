"""A model of NVIDIA's Network Operator: its objects for a NicClusterPolicy, and the resources of device plugins on
nodes.

What a node has to have for it, and in which order things happen, follow Mellanox/network-operator
(controllers/nicclusterpolicy_controller.go, manifests/state-*): the OFED driver first, then the label that lets the
device plugins onto the node, then their resources.
"""

from __future__ import annotations
