"""Admission policies by which the API server limits NVSentinel's rights, completed for a stack."""

from __future__ import annotations

import copy
import json
from typing import Any

from physical_ai.catalog.aks import SHORT_POOL_LABEL
from physical_ai.catalog.own_names import REPAIR_LABEL
from physical_ai.planning import manifests
from physical_ai.settings.facts import gpu, health
from physical_ai.settings.models.tree import Settings

ONE_NODE, ONE_REPAIR = "nvsentinel-one-node", "nvsentinel-one-repair"


def health_limits(settings: Settings) -> list[dict[str, Any]]:
    """Admission policies that limit NVSentinel's rights, with their bindings; empty if the stack does not install
    NVSentinel.

    A limit on the number of nodes in a pool has one binding per pool. An admission policy sees only one object and
    cannot count others, so the binding passes it the pool's nodes or repair records as parameters.
    """
    if not health.reaches(settings, "detect"):
        return []
    pools = list(health.passthrough_pools(settings)) if health.reaches(settings, "taint") else []
    found: list[dict[str, Any]] = []
    for manifest in copy.deepcopy(manifests.load_of("nvsentinel", "limits.yaml")):
        spec, name = manifest["spec"], manifest["metadata"]["name"]
        for variable in spec.get("variables", ()):
            if variable["name"] == "pools":
                variable["expression"] = json.dumps(pools)
        if "policyName" in spec and name in (ONE_NODE, ONE_REPAIR):
            found += [_of_pool(manifest, name, pool) for pool in pools]
        else:
            found.append(manifest)
    return found


def _of_pool(binding: dict[str, Any], name: str, pool: str) -> dict[str, Any]:
    of_pool = {"matchLabels": {SHORT_POOL_LABEL: pool}}
    # A pool always has at least the node itself, but not always a record of a repair.
    parameters = {
        ONE_NODE: {"selector": of_pool, "parameterNotFoundAction": "Deny"},
        ONE_REPAIR: {
            "namespace": gpu.OPERATOR_NAMESPACE,
            "selector": {"matchLabels": {REPAIR_LABEL: pool}},
            "parameterNotFoundAction": "Allow",
        },
    }
    spec = {**binding["spec"], "paramRef": parameters[name], "matchResources": {"objectSelector": of_pool}}
    return {**binding, "metadata": {"name": f"{name}-{pool}"}, "spec": spec}
