"""The admission policies that let Pods pull from the stack's own registry only."""

from __future__ import annotations

import copy
import json
from typing import Any

from physical_ai.planning import manifests
from physical_ai.planning.pod_security import OF_AKS
from physical_ai.settings.facts.data_services import DataNames, login_server, pulls_from_registry_only
from physical_ai.settings.models.tree import Settings

IMPORTED = "physical-ai/imported-images"
"""Annotation of the policies: images that the registry has without an upstream."""


def registry_policies(settings: Settings, subscription_id: str) -> list[dict[str, Any]]:
    """The policies with their bindings; none where Pods may pull from anywhere."""
    if not pulls_from_registry_only(settings):
        return []
    registry = f"{login_server(DataNames(settings.stack, subscription_id))}/"
    # Pods of AKS come from Microsoft's registry, which every cluster reaches, and must not wait for another one.
    others = {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": list(OF_AKS)}
    found = copy.deepcopy(manifests.load("registry-images.yaml"))
    imported = settings.data_services.registry.imported if settings.data_services is not None else ()
    for manifest in found:
        if imported:
            manifest["metadata"]["annotations"] = {IMPORTED: json.dumps(list(imported))}
        spec = manifest["spec"]
        if "matchConstraints" not in spec:
            continue
        spec["matchConstraints"]["namespaceSelector"] = {"matchExpressions": [others]}
        # As CEL text: what is in a JSON string is the same in CEL.
        own = {"name": "registry", "expression": json.dumps(registry)}
        spec["variables"] = [own if each["name"] == "registry" else each for each in spec["variables"]]
    return found
