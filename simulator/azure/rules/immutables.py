"""Rules on properties that a PUT may not change, with the exceptions that AKS allows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from simulator.azure import clusters, ids
from simulator.azure.bodies import get
from simulator.azure.data import Rule, rules
from simulator.azure.errors import Refusal
from simulator.azure.offers import location
from simulator.azure.registry import models
from simulator.azure.rules.base import Pool, Put, on_pool, on_put, refuse


def _fixed(kind: str) -> Mapping[str, Rule]:
    return {rule.id: rule for rule in rules().values() if rule.kind == "immutable" and rule.types == (kind,)}


_POOL, _CLUSTER = _fixed("AgentPool"), _fixed("ManagedCluster")
_OUTBOUND = {kind: _fixed(kind) for kind in ("PublicIPAddress", "NatGateway")}
NO_DEFAULTS: Mapping[str, str] = {}
DEFAULTS: Mapping[str, Mapping[str, str]] = {
    "PublicIPAddress": {
        "sku.name": "Basic",
        "properties.publicIPAddressVersion": "IPv4",
        "properties.publicIPAllocationMethod": "Dynamic",
    }
}

ALLOWED: Mapping[str, Callable[[Any, Any], bool]] = {
    "imm-managedcluster-oidcIssuerProfile-enabled": lambda old, new: not old,
    "imm-managedcluster-aadProfile-managed": lambda old, new: not old,
    "imm-managedcluster-identity-type": lambda old, new: new not in (None, "None"),
    "imm-managedcluster-networkProfile-networkPlugin": lambda old, new: old in ("kubenet", "none") and new == "azure",
    "imm-managedcluster-networkProfile-networkPluginMode": lambda old, new: old is None and new == "overlay",
    "imm-managedcluster-networkProfile-networkDataplane": lambda old, new: old == "azure" and new == "cilium",
    # A policy engine can be added, but not replaced by another one.
    "imm-managedcluster-networkProfile-networkPolicy": lambda old, new: old == "none",
    "imm-managedcluster-apiServerAccessProfile-enablePrivateCluster": lambda old, new: not old and not new,
    # The migration to overlay adds the range.
    "imm-managedcluster-networkProfile-podCidr": lambda old, new: old is None,
}
"""Exceptions for otherwise immutable properties: rule id → function of old and new value that returns True if AKS
allows the change (AKS docs, update-azure-cni and others).
"""


@on_pool(*_POOL)
def pool_properties(pool: Pool) -> Iterator[Refusal]:
    """Refusals of changes to node pool properties that are fixed at creation.

    Missing values count as their defaults.
    """
    if pool.old is None:
        return
    inside = pool.path if pool.path != "properties" else ""
    for rule in _POOL.values():
        path = rule.path.removeprefix("properties.")
        if _changed(rule, get(pool.old, path), get(pool.spec, path)):
            target = f"{inside}.{path}" if inside else rule.path
            yield refuse(pool, rule.id, f"Changing property '{rule.path}' is not allowed.", target)


@on_put("ManagedCluster", *_CLUSTER)
def cluster_properties(put: Put) -> Iterator[Refusal]:
    """Refusals of changes to cluster properties that are fixed at creation."""
    if put.old is None:
        return
    old, new = clusters.effective(put.old.body, put.id), clusters.effective(put.body, put.id)
    for rule in _CLUSTER.values():
        if _changed(rule, get(old, rule.path), get(new, rule.path)):
            yield refuse(put, rule.id, f"Changing property '{rule.path}' is not allowed.", rule.path)


@on_put(tuple(_OUTBOUND), *(rule for kind in _OUTBOUND.values() for rule in kind))
def outbound_properties(put: Put) -> Iterator[Refusal]:
    """Refusals of changes to properties of a public address or a NAT gateway that are fixed at creation.

    Missing values count as their defaults.
    """
    if put.old is None:
        return
    defaults = DEFAULTS.get(put.kind, NO_DEFAULTS)
    for rule in _OUTBOUND[put.kind].values():
        default = defaults.get(rule.path)
        if _changed(rule, get(put.old.body, rule.path, default), get(put.body, rule.path, default)):
            yield refuse(put, rule.id, f"Changing property '{rule.path}' is not allowed.", rule.path)


@models(*(rule.id for rule in rules().values() if rule.kind == "mutable"))
def _changed(rule: Rule, old: Any, new: Any) -> bool:
    """True if an immutable property changes in a way that AKS does not allow."""
    if _canonical(rule.path, old) == _canonical(rule.path, new):
        return False
    allowed = ALLOWED.get(rule.id)
    return allowed is None or not allowed(old, new)


def _canonical(path: str, value: Any) -> Any:
    """A property's value in a form for comparison: zones as a set, ids and locations without case."""
    last = path.rsplit(".", 1)[-1]
    if last in ("availabilityZones", "zones"):
        return frozenset(value or ())
    if isinstance(value, str):
        if last == "location":
            return location(value)
        return ids.key(value) if last.endswith("ID") else value
    return value or None
