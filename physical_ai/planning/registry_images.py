"""Admission policies that let Pods pull only from the stack's own registry."""

from __future__ import annotations

import copy
import json
from typing import Any

from physical_ai.catalog.system_namespaces import SYSTEM_NAMESPACES
from physical_ai.planning import manifests
from physical_ai.settings.facts.data_services import DataNames, login_server, pulls_from_registry_only
from physical_ai.settings.models.tree import Settings

IMPORTED = "physical-ai/imported-images"
"""Annotation of the policies with the images of the setting `registry.imported`. Users import these images into the
stack's registry themselves, because every source of the images requires a login.
"""


def registry_policies(settings: Settings, subscription_id: str) -> list[dict[str, Any]]:
    """Policies with their bindings; empty where Pods may pull from any registry."""
    if not pulls_from_registry_only(settings):
        return []
    registry = f"{login_server(DataNames(settings.stack, subscription_id))}/"
    # AKS's Pods use images of Microsoft's registry, which every cluster reaches; they must not depend on another
    # registry.
    others = {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": list(SYSTEM_NAMESPACES)}
    objects = copy.deepcopy(manifests.load("registry-images.yaml"))
    imported = settings.data_services.registry.imported if settings.data_services is not None else ()
    for manifest in objects:
        if imported:
            manifest["metadata"]["annotations"] = {IMPORTED: json.dumps(list(imported))}
        spec = manifest["spec"]
        if "matchConstraints" not in spec:
            continue
        spec["matchConstraints"]["namespaceSelector"] = {"matchExpressions": [others]}
        # The JSON text serves as CEL text: JSON strings have the same syntax in CEL.
        own = {"name": "registry", "expression": json.dumps(registry)}
        spec["variables"] = [own if each["name"] == "registry" else each for each in spec["variables"]]
    return objects
