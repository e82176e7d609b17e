"""The supported releases of Longhorn and MetalLB, and the names that depend on them."""

from __future__ import annotations

LONGHORN_CHART = "longhorn"
LONGHORN_RELEASE = "longhorn"
LONGHORN_NAMESPACE = "longhorn-system"
"""Namespace of Longhorn, the only one that it supports (longhorn/longhorn chart/README.md)."""
LONGHORN_CLASS = "longhorn"
"""Name of the StorageClass that Longhorn's manager creates from the chart's ConfigMap `longhorn-storageclass`."""
LONGHORN_DRIVER = "driver.longhorn.io"
SNAPSHOT_CLASS = "longhorn-snapshots"
DISK_LABEL = "node.longhorn.io/create-default-disk"
"""Label of nodes that hold replicas, with `createDefaultDiskLabeledNodes` (Longhorn docs,
default-disk-and-node-config)."""

METALLB_CHART = "metallb"
METALLB_RELEASE = "metallb"
METALLB_NAMESPACE = "metallb-system"
METALLB_API = "metallb.io/v1beta1"
ADDRESS_POOL = "default"
"""Name of the IPAddressPool, and of the L2Advertisement that announces it."""

CONTROL_PLANE_TAINT = "node-role.kubernetes.io/control-plane"
CONTROL_PLANE_LABEL = "node-role.kubernetes.io/control-plane"
DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"
"""Annotation that makes a StorageClass the default for PersistentVolumeClaims which name no class."""
