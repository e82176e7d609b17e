"""Names that SchedMD's operator gives and reads, copied from its source separately from the deployed code.

Source: SlinkyProject/slurm-operator v1.2.1, api/v1beta1/well_known.go, internal/utils/podutils and
internal/builder/labels, docs/usage/nodeset-operations; read 2026-11-27.
"""

from __future__ import annotations

OPERATOR_CHART = "slurm-operator"
CONTROLLER, REST, NODE, LOGIN = "slurmctld", "slurmrestd", "slurmd", "login"
"""Daemons, by the names of their containers."""
API_VERSION = "slinky.slurm.net/v1beta1"
RESOURCE_TYPE = "gpu"
"""Type of generic resources (GRES) that AutoDetect=nvidia finds."""
NODE_PREFIX = "nodeset.slinky.slurm.net/"
CORDON_REASON = f"{NODE_PREFIX}node-cordon-reason"
"""Annotation on a node: the reason of its drain in Slurm."""
POD_CORDON = f"{NODE_PREFIX}pod-cordon"
"""Annotation on the Pod of a node that the operator drains in Slurm."""
POD_PROTECT = f"{NODE_PREFIX}pod-protect"
"""Label on the Pod of a node with jobs."""
STATE_PREFIX = "SlurmNodeState"
"""Prefix of the types of conditions that repeat a node's states in Slurm."""
REASON_PREFIX = "slurm-operator: "
"""Prefix of reasons for a drain that the operator gives."""
