"""AKS's check before an upgrade: a PodDisruptionBudget that can never allow an eviction makes AKS refuse the upgrade.

All budgets of the cluster count, whichever pool their Pods are in (Azure/AKS#4839). The texts are AKS's own, from
Azure/AKS#4805 and #4860 (2025). The check is also in AKS docs, upgrade-options, "Validations used in the upgrade
process" (fb060ab, 2026-08-21). Assumed, not verified: AKS converts a percentage to a number as Kubernetes does, and
also counts a budget without Pods, since "minAvailable(1) >= expectedPods(0)" holds.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from simulator.azure import ids
from simulator.azure.bodies import get, items, table
from simulator.azure.clusters import version_after
from simulator.azure.data import rules
from simulator.azure.errors import Refusal
from simulator.azure.offers import Offers, number, resolve
from simulator.azure.rules.base import Put, on_put, refuse
from simulator.azure.state import AzureState, Resource

RULE = "upgrade-pdb"
_BLOCKED = (
    "Upgrade is blocked due to invalid Pod Disruption Budgets (PDBs). Please review the PDB spec to allow disruptions"
    " during upgrades. To bypass this error, set forceUpgrade in upgradeSettings.overrideSettings. Bypassing this error"
    " without updating the PDB may result in drain failures during upgrade process. Invalid PDBs details: "
)


@on_put(("ManagedCluster", "AgentPool"), RULE)
def no_upgrade_against_budgets(put: Put) -> Iterator[Refusal]:
    if put.old is None or not _is_upgrade(put):
        return
    cluster_id = put.id if put.kind == "ManagedCluster" else ids.parent(put.id)
    if message := refused(cluster_id, _cluster_body(put, cluster_id), put.azure):
        yield refuse(put, RULE, message)


def image_refusals(cluster: Resource, azure: AzureState) -> Iterator[Refusal]:
    """Refusals of a node image upgrade because of a disruption budget. Such an upgrade is a request of its own, not a
    PUT.
    """
    if message := refused(cluster.id, cluster.body, azure):
        rule = rules()[RULE]
        yield Refusal(RULE, rule.status, rule.codes[0], message, flat=True)


def drain_minutes(spec: Mapping[str, Any]) -> float:
    """Minutes that AKS waits for the eviction of a node's Pods (SDK notes: 30 minutes if the pool does not set it)."""
    return float(get(spec, "upgradeSettings.drainTimeoutInMinutes") or 30)


def refused(cluster_id: str, cluster: Mapping[str, Any], azure: AzureState) -> str:
    """AKS's message for refusing an upgrade of a cluster or of one of its pools; empty if no budget blocks
    the upgrade.
    """
    if is_forced(cluster, azure.now):
        return ""
    found = [text for budget in azure.budgets(cluster_id) if (text := unsatisfiable(budget))]
    if not found:
        return ""
    counted = f"{len(found)} error{'s' if len(found) > 1 else ''} occurred:"
    return _BLOCKED + "\n\t* ".join([counted, *found])


def unsatisfiable(budget: Mapping[str, Any]) -> str:
    """AKS's message about a budget that can never allow an eviction; empty for any other budget."""
    name = f"PDB {get(budget, 'metadata.namespace')}/{get(budget, 'metadata.name')}"
    spec: Mapping[str, Any] = budget.get("spec") or {}
    pods = int(get(budget, "status.expectedPods") or 0)
    most, least = spec.get("maxUnavailable"), spec.get("minAvailable")
    if most is not None and str(most) in ("0", "0%"):
        return f"{name} has maxUnavailable == 0 can't proceed with put operation"
    if least is None:
        return ""
    needed = _of(least, pods)
    if needed >= pods and str(least) not in ("0", "0%"):
        return f"{name} has minAvailable({needed}) >= expectedPods({pods})  can't proceed with put operation"
    return ""


def is_forced(cluster: Mapping[str, Any], now: float) -> bool:
    """True if an upgrade that starts now ignores disruption budgets. An override without an end time has no effect."""
    settings = table(cluster, "properties.upgradeSettings.overrideSettings")
    until = settings.get("until")
    if settings.get("forceUpgrade") is not True or not until:
        return False
    try:
        end = datetime.datetime.fromisoformat(str(until))
    except ValueError:
        return False
    return end.replace(tzinfo=end.tzinfo or datetime.UTC).timestamp() > now


def _of(amount: Any, pods: int) -> int:
    """Number of Pods for a budget's `minAvailable` or `maxUnavailable`; a percentage of `pods` is rounded up, as in
    Kubernetes.
    """
    text = str(amount)
    return -(-pods * int(text[:-1]) // 100) if text.endswith("%") else int(text)


def _cluster_body(put: Put, cluster_id: str) -> Mapping[str, Any]:
    if put.kind == "ManagedCluster":
        return put.body
    found = put.azure.get(cluster_id, "ManagedCluster")
    return found.body if found is not None else {}


def _is_upgrade(put: Put) -> bool:
    """True if the PUT upgrades the control plane or a pool."""
    assert put.old is not None
    offers = put.azure.offers
    if put.kind == "AgentPool":
        return _rises(put.properties.get("orchestratorVersion"), put.old.outputs, offers)
    current = str(put.old.outputs.get("currentKubernetesVersion"))
    wanted = version_after(put.body, current, offers)
    return (wanted is not None and number(wanted) > number(current)) or any(_profiles(put, offers))


def _profiles(put: Put, offers: Offers) -> Iterable[bool]:
    for profile in items(put.properties, "agentPoolProfiles"):
        pool = put.azure.get(f"{put.id}/agentPools/{profile.get('name')}", "AgentPool")
        yield pool is not None and _rises(profile.get("orchestratorVersion"), pool.outputs, offers)


def _rises(asked: Any, outputs: Mapping[str, Any], offers: Offers) -> bool:
    """True if the requested version is newer than the pool's present one. A minor that the pool already runs is not
    newer.
    """
    current = str(outputs.get("currentOrchestratorVersion") or "")
    if not asked or not current or current == asked or current.startswith(f"{asked}."):
        return False
    wanted = resolve(str(asked), offers.versions())
    return wanted is not None and number(wanted) > number(current)
