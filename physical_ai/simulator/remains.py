"""What a destroyed stack leaves in a cluster that existed before it, and why: nothing that it created itself."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping

KINDS = "kinds that charts bring, which Helm never deletes"
SHARD = "KAI's shard, which its chart marks with helm.sh/resource-policy: keep"
QUEUES = "queues that OSMO's backend creates for its pools, and never deletes"
LABELS = "labels and resources of GPU nodes, which the GPU Operator and the kubelet keep"
AGENTS = "programs of agents and their evidence about machines, in a namespace that is not the stack's"
CHANGES: Mapping[str, str] = {
    r"added apiextensions\.k8s\.io/customresourcedefinitions/\S+": KINDS,
    r"added apiregistration\.k8s\.io/apiservices/v\w+\.(kai\.scheduler|(resource\.)?nvidia\.com|scheduling\.run\.ai"
    r"|monitoring\.coreos\.com|nfd\.k8s-sigs\.io)": KINDS,
    r"added kai\.scheduler/schedulingshards/default": SHARD,
    r"added scheduling\.run\.ai/queues/osmo-\S+": QUEUES,
    r"added configmaps/gpu-operator/(evidence-\S+|gpu-evidence-agent-[0-9a-f]+)": AGENTS,
    r"changed nodes/\S+: metadata\.labels\.nvidia\.com/\S+ was None, .*": LABELS,
    r"changed nodes/\S+: status\.(allocatable|capacity)\.nvidia\.com/gpu was None, is '0'": LABELS,
}
"""Differences (`inventory.differences`) that are expected, by pattern.

Helm installs what is in `crds/` and never deletes it (helm.sh/docs, chart best practices, custom resource definitions).
"""


def divided(differences: Iterable[str]) -> tuple[dict[str, int], list[str]]:
    """How many differences have each reason, and those that have none."""
    reasons, others = Counter[str](), list[str]()
    for line in differences:
        reason = next((reason for pattern, reason in CHANGES.items() if re.fullmatch(pattern, line)), None)
        if reason is None:
            others.append(line)
        else:
            reasons[reason] += 1
    return dict(reasons), others
