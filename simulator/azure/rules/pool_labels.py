"""Node pool rules on labels and taints of nodes, including those that AKS reserves."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

from simulator.azure.bodies import items
from simulator.azure.errors import Refusal
from simulator.azure.own_facts import SET_BY_AKS, SPOT_LABEL, SPOT_TAINT
from simulator.azure.rules.base import Pool, on_pool, refuse

NAME_PART = re.compile(r"^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$")
DNS_PREFIX = re.compile(r"^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$")
RESERVED = re.compile(r"^([a-z0-9-]+\.)*(kubernetes\.azure\.com|kubernetes\.io|k8s\.io)$")
TAINT = re.compile(r"^(?P<key>[^=:]+)(=(?P<value>[^:]*))?:(?P<effect>NoSchedule|PreferNoSchedule|NoExecute)$")
SYSTEM_TAINT = re.compile(r"^CriticalAddonsOnly=true:")
ALLOWED_ON_SPOT = {SPOT_LABEL, ("kubernetes.azure.com/priority", "spot")}


def valid_key(key: str) -> bool:
    """True for a label or taint key in Kubernetes' format: `[dns-prefix/]name`."""
    prefix, slash, name = key.rpartition("/")
    if slash and not (DNS_PREFIX.match(prefix) and len(prefix) <= 253):
        return False
    return NAME_PART.match(name) is not None


def valid_value(value: str) -> bool:
    return value == "" or NAME_PART.match(value) is not None


@on_pool("label-reserved", "label-syntax", "label-system")
def labels(pool: Pool) -> Iterator[Refusal]:
    given = pool.sent.get("nodeLabels")
    if not isinstance(given, Mapping):
        return
    for key, value in cast("Mapping[str, Any]", given).items():
        target = "agentPoolProfile.nodeLabels"
        if not valid_key(key) or not valid_value(str(value)):
            yield refuse(pool, "label-syntax", f"Invalid node label '{key}={value}'.", target)
        elif RESERVED.match(key.rpartition("/")[0]) and not (pool.is_spot and (key, value) in ALLOWED_ON_SPOT):
            message = f"Node label key '{key}' is not allowed: its prefix is reserved for AKS and Kubernetes."
            yield refuse(pool, "label-reserved", message, target)
        elif key in SET_BY_AKS:
            message = f"Node label key '{key}' is not allowed: AKS sets this label itself."
            yield refuse(pool, "label-system", message, target)


@on_pool("taint-syntax", "taint-duplicate", "taint-valueless", "taint-reserved")
def taints(pool: Pool) -> Iterator[Refusal]:
    """Refusals of node taints. A taint without a value is accepted: only the Azure CLI refuses `key:effect`."""
    target, seen = "agentPoolProfile.nodeTaints", set[tuple[str, str]]()
    for taint in items(pool.sent, "nodeTaints"):
        match = TAINT.match(str(taint))
        if not match or not valid_key(match["key"]) or not valid_value(match["value"] or ""):
            yield refuse(pool, "taint-syntax", f"Invalid taint spec '{taint}': expected key=value:effect.", target)
        elif (match["key"], match["effect"]) in seen:
            yield refuse(pool, "taint-duplicate", f"Duplicate taint '{taint}': key and effect repeat.", target)
        else:
            seen.add((match["key"], match["effect"]))
        if match and match["key"].startswith("kubernetes.azure.com/") and not (pool.is_spot and taint == SPOT_TAINT):
            message = f"Taint '{taint}' is not allowed: its prefix is reserved for AKS."
            yield refuse(pool, "taint-reserved", message, target)


@on_pool("system-taint")
def system_taints(pool: Pool) -> Iterator[Refusal]:
    def blocks(taint: Any) -> bool:
        return not str(taint).endswith(":PreferNoSchedule") and not SYSTEM_TAINT.match(str(taint))

    def open_system(spec: Mapping[str, Any]) -> bool:
        return spec.get("mode") == "System" and not any(blocks(t) for t in items(spec, "nodeTaints"))

    if pool.is_system and not open_system(pool.spec) and not any(open_system(s) for s in pool.siblings.values()):
        message = f"System pool {pool.name} has a taint other than CriticalAddonsOnly=true and no other System pool"
        message += " is free of one: system pods could run nowhere."
        yield refuse(pool, "system-taint", message, "agentPoolProfile.nodeTaints")
