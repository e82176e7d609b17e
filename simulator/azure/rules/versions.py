"""Rules on Kubernetes versions: which versions Azure offers, and which upgrades it allows."""

from __future__ import annotations

from collections.abc import Iterator

from simulator.azure import ids
from simulator.azure.bodies import get, items
from simulator.azure.clusters import default_version, has_long_term, version_after
from simulator.azure.errors import Refusal
from simulator.azure.offers import number, resolve
from simulator.azure.rules.base import Pool, Put, on_pool, on_put, refuse


def _offered(put: Put) -> str:
    return ", ".join(put.azure.offers.versions(long_term=has_long_term(put.body)))


@on_put(
    "ManagedCluster", "version-supported", "cluster-downgrade", "cluster-skip-minor", "lts-premium", "spot-upgrade-all"
)
def control_plane(put: Put) -> Iterator[Refusal]:
    asked = str(get(put.body, "properties.kubernetesVersion") or default_version())
    current = str(put.old.outputs.get("currentKubernetesVersion")) if put.old else None
    wanted, target = version_after(put.body, current, put.azure.offers), "properties.kubernetesVersion"
    if wanted is None:
        message = f"Managed cluster {ids.name(put.id)} is on version {asked}, which is not supported in this region."
        yield refuse(put, "version-supported", f"{message} Supported: {_offered(put)}.", target)
    elif current and number(wanted) < number(current):
        message = f"Downgrading Kubernetes version {current} to {wanted} is not allowed."
        yield refuse(put, "cluster-downgrade", message, target)
    elif current and number(wanted)[1] > number(current)[1] + 1 and not has_long_term(put.body):
        message = (
            f"Upgrading Kubernetes version {current} to {wanted} is not allowed: minor versions cannot be skipped."
        )
        yield refuse(put, "cluster-skip-minor", message, target)
    elif current and wanted != current:
        yield from _spot_pools_stay(put, wanted)
    if get(put.body, "properties.supportPlan") == "AKSLongTermSupport" and get(put.body, "sku.tier") != "Premium":
        message = "supportPlan AKSLongTermSupport needs sku.tier Premium."
        yield refuse(put, "lts-premium", message, "properties.supportPlan")


def _spot_pools_stay(put: Put, wanted: str) -> Iterator[Refusal]:
    for profile in items(put.body, "properties.agentPoolProfiles"):
        if profile.get("scaleSetPriority") == "Spot" and profile.get("orchestratorVersion") in (wanted, wanted[:4]):
            message = f"Spot pool {profile.get('name')} cannot be upgraded together with the control plane."
            yield refuse(put, "spot-upgrade-all", message, "properties.agentPoolProfiles")


@on_pool("pool-version-skew", "pool-downgrade")
def node_pool(pool: Pool) -> Iterator[Refusal]:
    asked, target = pool.sent.get("orchestratorVersion"), "agentPoolProfile.orchestratorVersion"
    if asked is None:
        return
    offers = pool.azure.offers
    existing = pool.azure.get(f"{pool.cluster_id}/agentPools/{pool.name}", "AgentPool")
    current = str(existing.outputs.get("currentOrchestratorVersion", "")) if existing else ""
    same = bool(current) and (current == asked or (str(asked).count(".") == 1 and current.startswith(f"{asked}.")))
    wanted = current if same else resolve(str(asked), offers.versions(long_term=has_long_term(pool.cluster)))
    if wanted is None:
        message = f"Agent pool version {asked} is not supported in this region. Supported: {_offered(pool.put)}."
        yield refuse(pool, "version-supported", message, target, "AgentPoolK8sVersionNotSupported")
        return
    cluster = pool.azure.get(pool.cluster_id, "ManagedCluster")
    running = str(cluster.outputs.get("currentKubernetesVersion", "")) if cluster else None
    plane = version_after(pool.cluster, running, offers)
    if plane and (number(wanted) > number(plane) or number(wanted)[1] < number(plane)[1] - 3):
        message = f"Node pool version {wanted} and control plane version {plane} are incompatible. A pool is at most as"
        message += " new as its control plane and at most three minors older."
        yield refuse(pool, "pool-version-skew", message, target)
    if current and number(wanted) < number(current):
        yield refuse(
            pool, "pool-downgrade", f"Downgrading a node pool from {current} to {wanted} is not allowed.", target
        )
