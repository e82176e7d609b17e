"""Names that the Network Operator uses. This module repeats them from the operator's source and imports nothing from
the deployed code.

Source: Mellanox/network-operator v26.7.0-rc.2, pkg/consts/consts.go; PCI IDs, vendor 15b3; read 2026-11-28. The
operator makes its DaemonSets in the namespace of its release.
"""

from __future__ import annotations

NAMESPACE = "network-operator"
POLICY = "nic-cluster-policy"
"""The only NicClusterPolicy name that the operator follows."""
VENDOR = "15b3"
"""PCI vendor of NVIDIA's network cards."""
