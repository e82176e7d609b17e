"""Plan of the DRA driver: values of its chart, the objects for resource claims, and the policy that keeps the NVIDIA
device plugin off nodes whose GPUs are claimed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Any

from parts.dra import names
from parts.dra.claims import ClaimObjects, claim_objects
from parts.dra.facts import claim_pools, driver_roots, slices_time
from parts.part import PartPlan, ReleasePlan
from physical_ai.catalog.charts import newest_chart
from physical_ai.planning import manifests
from physical_ai.planning.chart_values import chart_values as values_of_chart
from physical_ai.planning.gpu_admission import MUTATION_MINOR
from physical_ai.settings.facts.gpu import ALLOCATION_LABEL, OPERATOR_NAMESPACE, tolerations_of
from physical_ai.settings.facts.pools import CONTAINER_ROOT
from physical_ai.settings.faults import Fault
from physical_ai.settings.models.tree import Settings

FILE = f"dra/{names.CHART}-values.yaml"
RELEASE = "release"
"""Key of the plan's only release."""
OWNED = {
    "gpuResourcesEnabledOverride": "pools.<pool>.allocation",
    "resources": "pools.<pool>.allocation",
    "resourceApiVersion": "nothing: the program's claims are of one version",
    "nvidiaDriverRoot": "pools.<pool>.driver.source",
    "featureGates.TimeSlicingSettings": "dra.claims.<claim>.timeSlice",
    "controller.affinity": "nothing: AKS has no nodes of the control plane",
    "kubeletPlugin.nodeSelector": "pools.<pool>.allocation",
    "kubeletPlugin.tolerations": "pools.<pool>.taints",
}
"""Chart keys that the user's values file may not set. Each value names the setting to change instead, or says
why there is none.
"""


@dataclass(frozen=True)
class DraPlan(PartPlan):
    """Plan for pools with `allocation: dra`: the Helm release of the DRA driver, and the objects for resource claims,
    which are created without waiting for the release.
    """

    objects: ClaimObjects = field(kw_only=True)


def dra_plan(settings: Settings, root: FilePath) -> tuple[DraPlan | None, list[Fault]]:
    """Plan of the part for a stack, and the faults of the user's values file; the plan is None without a pool with
    `allocation: dra`."""
    if not claim_pools(settings):
        return None, []
    pinned = newest_chart(names.CHART)
    values, faults = values_of_chart(root, FILE, pinned, OWNED, chart_values(settings))
    release = ReleasePlan(
        key=RELEASE,
        name=names.RELEASE,
        namespaces=(OPERATOR_NAMESPACE,),
        chart=pinned,
        values=values,
        # The driver's Pods wait for the nodes' NVIDIA driver: the GPU gate waits for both, and says why.
        skip_await=True,
    )
    return DraPlan((release,), objects=claim_objects(settings)), faults


def chart_values(settings: Settings) -> dict[str, Any]:
    """Values that the program sets in the DRA driver's chart, before the user's values file is added."""
    pools = claim_pools(settings)
    values: dict[str, Any] = {
        # Without this override the chart refuses to offer GPUs: it cannot know that these nodes have no device plugin.
        "gpuResourcesEnabledOverride": True,
        # ComputeDomains are for NVLink between nodes, which no size here has; their conversion needs a webhook.
        "resources": {"gpus": {"enabled": True}, "computeDomains": {"enabled": False}},
        "resourceApiVersion": names.API_VERSION,
        "nvidiaDriverRoot": next(iter(driver_roots(settings).values()), CONTAINER_ROOT),
        # By default the controller prefers a control-plane node, and AKS has no such nodes in the cluster.
        "controller": {"affinity": None},
        "kubeletPlugin": {
            "nodeSelector": {ALLOCATION_LABEL: "dra"},
            "tolerations": tolerations_of(settings, pools.values()),
        },
    }
    if slices_time(settings):
        values["featureGates"] = {"TimeSlicingSettings": True}
    return values


def claimed_node_policies(settings: Settings) -> list[dict[str, Any]]:
    """Admission policy that keeps the NVIDIA device plugin off nodes whose GPUs are claimed, and the policy's binding.

    The list is empty in a stack without such nodes, and on a Kubernetes version without MutatingAdmissionPolicy.
    """
    minor = int(settings.cluster.kubernetes_version.split(".")[1])
    return manifests.load_of("dra", "claimed-nodes.yaml") if claim_pools(settings) and minor >= MUTATION_MINOR else []
