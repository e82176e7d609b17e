"""OSMO's Kubernetes objects and its agents' values, completed with values that only a deployment knows."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from physical_ai.catalog import osmo
from physical_ai.catalog.azure_identity import IDENTITY_CLIENT_ANNOTATION, IDENTITY_USE_LABEL
from physical_ai.planning import manifests
from physical_ai.planning.isolation import limit_osmo
from physical_ai.settings.facts.isolation import is_isolated
from physical_ai.settings.facts.osmo import gpu_quota
from physical_ai.settings.models.tree import Settings

NO_METADATA = "no-metadata"
"""Name of the NetworkPolicy for a namespace of the control plane that the stack does not isolate."""


def namespace_objects(settings: Settings, clients: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Objects of manifests/osmo.yaml, completed for a stack: quotas, accounts bound to identities, and network
    policies.

    Args:
        clients: Client ids of identities by service account; they may be Outputs.
    """
    objects = copy.deepcopy(manifests.load("osmo.yaml"))
    for item in objects:
        metadata, kind = item["metadata"], item["kind"]
        if kind == "ServiceAccount" and metadata["name"] in clients:
            metadata["annotations"] = {IDENTITY_CLIENT_ANNOTATION: clients[metadata["name"]]}
        if kind == "ResourceQuota":
            of_workflows = metadata["namespace"] == osmo.WORKFLOWS_NAMESPACE
            most = {resource: count if of_workflows else 0 for resource, count in gpu_quota(settings).items()}
            # For extended resources, a quota accepts only requests, which equal the limits.
            item["spec"]["hard"] = {f"requests.{resource}": str(count) for resource, count in most.items()}
        if kind == "NetworkPolicy":
            limit_osmo(item, settings)
    if is_isolated(settings, osmo.CONTROL_NAMESPACE):
        for item in objects:
            if item["metadata"]["name"] == NO_METADATA:
                # NetworkPolicies add up, and this one would allow more than those of the isolated namespace. An empty
                # list allows nothing. Without the policy, a protected stack that becomes isolated would have to delete
                # a protected object.
                item["spec"]["egress"] = []
    return objects


def with_identity(values: Mapping[str, Any], client_id: Any) -> dict[str, Any]:
    """Values of the agents' chart with which the agents' Pods use an Azure identity: the label that makes AKS provide a
    token, and the identity's client id as an environment variable.

    The variable replaces the annotation of the service account: the chart creates the accounts and has no value for
    their annotations. `client_id` may be an Output.
    """
    result = copy.deepcopy(dict(values))
    for agent in ("backendListener", "backendWorker"):
        own = result.setdefault("services", {}).setdefault(agent, {})
        own["extraPodLabels"] = {**own.get("extraPodLabels", {}), IDENTITY_USE_LABEL: "true"}
        own["extraEnvs"] = [*own.get("extraEnvs", []), {"name": "AZURE_CLIENT_ID", "value": client_id}]
    return result
