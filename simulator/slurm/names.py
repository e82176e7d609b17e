"""Names that SchedMD's operator gives to objects and reads from them, copied from the operator's source. The deployed
code does not share them, so a wrong name there fails in the simulator.

Source: SlinkyProject/slurm-operator v1.2.1, api/v1beta1/well_known.go, internal/utils/podutils and
internal/builder/labels, docs/usage/nodeset-operations; read 2026-11-27.
"""

from __future__ import annotations

OPERATOR_CHART = "slurm-operator"
CONTROLLER, REST, NODE, LOGIN = "slurmctld", "slurmrestd", "slurmd", "login"
"""Names of the Slurm daemons' containers, and of the login container."""
API_VERSION = "slinky.slurm.net/v1beta1"
RESOURCE_TYPE = "gpu"
"""Type of the generic resources (GRES) that Slurm's AutoDetect=nvidia finds."""
NODE_PREFIX = "nodeset.slinky.slurm.net/"
CORDON_REASON = f"{NODE_PREFIX}node-cordon-reason"
"""Annotation of a node with the reason why it is drained in Slurm."""
POD_CORDON = f"{NODE_PREFIX}pod-cordon"
"""Annotation of a Pod whose node the operator drains in Slurm."""
POD_PROTECT = f"{NODE_PREFIX}pod-protect"
"""Label of a Pod whose node has running jobs."""
STATE_PREFIX = "SlurmNodeState"
"""Prefix of the types of conditions that repeat a node's states in Slurm."""
REASON_PREFIX = "slurm-operator: "
"""Prefix of the reasons of those drains that the operator itself has started."""
