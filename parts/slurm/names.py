"""The supported release of SchedMD's Slinky, and the names that depend on it."""

from __future__ import annotations

OPERATOR_CHART = "slurm-operator"
CLUSTER_CHART = "slurm"
OPERATOR_NAMESPACE = "slinky"
NAMESPACE = "slurm"
"""Namespace of the Slurm cluster's Pods, named as in Slinky's documentation."""
OPERATOR_RELEASE, CLUSTER_RELEASE = "slurm-operator", "slurm"
OPERATOR_IMAGES = ("slurm-operator", "slurm-operator-webhook")
REGISTRY = "ghcr.io/slinkyproject"
IMAGE_TAG = "26.05-ubuntu26.04"
"""Tag of the images of Slurm's daemons, which are released with the chart (SlinkyProject/slurm-operator,
CHANGELOG/CHANGELOG-1.2.md).
"""
CONTROLLER, REST, NODE, LOGIN = "slurmctld", "slurmrestd", "slurmd", "login"
"""Names of Slurm's daemons, which are also the names of their images and containers."""
API_GROUP = "slinky.slurm.net"
API_VERSION = f"{API_GROUP}/v1beta1"
TAINT_KEY = "physical-ai/slurm"
TAINT = f"{TAINT_KEY}=present:NoSchedule"
"""Taint of Slurm's pools. It has a value because the cluster autoscaler ignores a taint without a value on a pool
without nodes.
"""
RESOURCE_TYPE = "gpu"
"""Name of GPUs as a type of Slurm's generic resources (GRES). It must be in GresTypes: slurmctld ignores resources of
other types (NVIDIA/k8s-test-infra, docs/guides/slinky).
"""
OUT_LABEL = "physical-ai/slurm-out"
"""Label that keeps slurmd's Pod off a node that Slurm has drained. Any value of the label has this effect."""
NODE_PREFIX = "nodeset.slinky.slurm.net/"
CORDON_REASON = f"{NODE_PREFIX}node-cordon-reason"
"""Annotation of a node with the reason for its drain in Slurm (SlinkyProject/slurm-operator,
docs/usage/nodeset-operations).
"""
POD_CORDON = f"{NODE_PREFIX}pod-cordon"
"""Annotation that the operator sets on the Pod of a node that it drains in Slurm."""
POD_PROTECT = f"{NODE_PREFIX}pod-protect"
"""Label of slurmd's Pod on a node with jobs: a PodDisruptionBudget protects Pods with this label from eviction."""
WORKER_BUDGET = f"{NAMESPACE}/slurm-workers-pdb-{CLUSTER_RELEASE}"
"""PodDisruptionBudget of slurmd's Pods on nodes with jobs, with maxUnavailable 0.

The operator creates it for every cluster, with or without jobs (SlinkyProject/slurm-operator v1.2.1,
internal/builder/workerbuilder/worker_pdb.go, read 2026-11-27).
"""
STATE_PREFIX = "SlurmNodeState"
"""Prefix of condition types on slurmd's Pods. In these conditions the operator reports Slurm's state of the node; the
message contains the reason of a drain.
"""
BUSY_STATES = ("Allocated", "Mixed", "Completing")
REASON_PREFIX = "slurm-operator: "
"""Prefix of the reason of a drain in Slurm that the operator has started. The operator does not end drains that
somebody else has started.
"""


def image(daemon: str) -> dict[str, str]:
    """Image of a daemon, as the section `image` of the chart's values."""
    return {"repository": f"{REGISTRY}/{daemon}", "tag": IMAGE_TAG}


def operator_images(version: str) -> list[str]:
    """Images of the operator with their registry; their tag is the version of the operator's chart."""
    return [f"{REGISTRY}/{each}:{version}" for each in OPERATOR_IMAGES]


def daemon_images() -> list[str]:
    """Images of the Slurm cluster's daemons with their registry."""
    return [f"{REGISTRY}/{each}:{IMAGE_TAG}" for each in (CONTROLLER, REST, NODE, LOGIN)]
