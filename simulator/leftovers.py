"""Objects that a destroyed stack leaves in an existing cluster, each with the reason.

They were created by charts, operators, agents or the kubelet, not by the stack itself.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

KINDS = "kinds that charts bring, which Helm never deletes, without target.leave: nothing"
SHARD = "KAI's shard, which its chart marks with helm.sh/resource-policy: keep"
RESERVATIONS = "KAI's namespace of reservations, which its chart marks with helm.sh/resource-policy: keep"
QUEUES = "queues that OSMO's backend creates for its pools, and never deletes"
LABELS = "labels that NVIDIA's operators leave on nodes, without target.leave: nothing"
TAINT = (
    "the stack's taint, of nodes whose taints a controller or kubectl has written since, without target.leave: nothing;"
    " kubectl taint node NODE KEY- removes it"
)
AGENTS = "programs of agents and their evidence about machines, in a namespace that is not the stack's"
RESOURCE = "a resource without devices, which the kubelet reports once a device plugin has been on the node"
SHOWN = 5
"""Maximum number of unexplained differences that are printed. The file of leftovers contains all differences."""
CHANGES: Mapping[str, str] = {
    r"added apiextensions\.k8s\.io/customresourcedefinitions/\S+": KINDS,
    r"added apiregistration\.k8s\.io/apiservices/v\w+\.(kai\.scheduler|((resource|nv-ipam)\.)?nvidia\.com"
    r"|scheduling\.run\.ai|monitoring\.coreos\.com|nfd\.k8s-sigs\.io|mellanox\.com|k8s\.cni\.cncf\.io)": KINDS,
    r"added kai\.scheduler/schedulingshards/default": SHARD,
    r"added (namespaces/kai-resource-reservation|(configmaps|serviceaccounts)/kai-resource-reservation/"
    r"(kube-root-ca\.crt|default))": RESERVATIONS,
    r"added scheduling\.run\.ai/queues/osmo-\S+": QUEUES,
    r"added configmaps/gpu-operator/(evidence-\S+|gpu-evidence-agent-[0-9a-f]+)": AGENTS,
    r"changed nodes/\S+: metadata\.labels\.(nvidia\.com/gpu(\.present|\.deploy\.\S+|-driver-upgrade-state)"
    r"|network\.nvidia\.com/operator\.mofed\.wait) was None, .*": LABELS,
    r"changed nodes/\S+: spec\.taints was None, is \[\{'key': '(nvidia|amd)\.com/gpu', 'value': 'present', 'effect': "
    r"'NoSchedule'\}\]": TAINT,
    r"changed nodes/\S+: status\.(allocatable|capacity)\.nvidia\.com/gpu was None, is '0'": RESOURCE,
}
"""Reasons for the expected differences between the cluster before and after a stack. Keys are patterns of the lines
that `inventory.differences` returns.

Helm installs what is in `crds/` and never deletes it (helm.sh/docs, chart best practices, custom resource definitions).
For a device plugin that is gone, the kubelet reports a resource with 0 devices instead of removing it
(kubernetes/kubernetes pkg/kubelet/nodestatus/setters.go).
"""


def by_reason(differences: Iterable[str]) -> tuple[dict[str, int], list[str]]:
    """Number of differences for each reason, and the differences without a reason."""
    reasons, others = Counter[str](), list[str]()
    for line in differences:
        reason = next((reason for pattern, reason in CHANGES.items() if re.fullmatch(pattern, line)), None)
        if reason is None:
            others.append(line)
        else:
            reasons[reason] += 1
    return dict(reasons), others


def report(changed: Sequence[str], file: Path, note: Callable[[str], object]) -> None:
    """Reports how many objects have remained and why, and writes every difference to a file."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(f"{line}\n" for line in changed))
    kept, left = by_reason(changed)
    for reason, count in kept.items():
        note(f"{count} remain: {reason}")
    if left:
        more = f"; and {len(left) - SHOWN} more" if len(left) > SHOWN else ""
        note(f"{len(left)} left without a reason: {'; '.join(left[:SHOWN])}{more}")
    elif changed:
        note("the cluster is otherwise as it was found")
    else:
        note("the cluster is as it was found")
    if changed:
        note(f"every difference is in {file}")
