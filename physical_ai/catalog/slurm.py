"""The supported release of SchedMD's Slinky, and the names that depend on it."""

from __future__ import annotations

OPERATOR_CHART = "slurm-operator"
CLUSTER_CHART = "slurm"
CHART_VERSION = "1.2.3"
"""Of both, which are released together, with the CRDs that the first brings."""
OPERATOR_NAMESPACE = "slinky"
NAMESPACE = "slurm"
"""Of the Slurm cluster's Pods; the namespaces are those of the project's documentation."""
OPERATOR_RELEASE, CLUSTER_RELEASE = "slurm-operator", "slurm"
API_GROUP = "slinky.slurm.net"
TAINT_KEY = "physical-ai/slurm"
TAINT = f"{TAINT_KEY}=present:NoSchedule"
"""On pools of Slurm's. With a value, for the reason that GPU nodes' taint has one."""
RESOURCE_TYPE = "gpu"
"""Of generic resources (GRES). Without it in GresTypes slurmctld drops what nodes report (NVIDIA/k8s-test-infra,
docs/guides/slinky)."""
CORDON_REASON = "nodeset.slinky.slurm.net/node-cordon-reason"
"""Annotation on a node: why it is drained in Slurm (SlinkyProject/slurm-operator, docs/usage/nodeset-operations)."""
POD_LABELS = {"app.kubernetes.io/name": "slurmd"}
"""On Pods that are nodes of Slurm's."""
