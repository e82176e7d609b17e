"""CustomResourceDefinitions in a running cluster: building and replacing them."""

from __future__ import annotations

from simulator.cluster.objects import Json, at
from simulator.kubernetes.client import Client
from simulator.kubernetes.definitions import DEFINITIONS


def definition(group: str, version: str, kind: str, plural: str, schema: Json, *, scope: str = "Namespaced") -> Json:
    """A CustomResourceDefinition with one version.

    `schema`: OpenAPI schema of its objects; `scope`: Namespaced or Cluster.
    """
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": scope,
            "names": {"kind": kind, "listKind": f"{kind}List", "plural": plural, "singular": kind.lower()},
            "versions": [{"name": version, "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}],
        },
    }


def replace_definition(client: Client, definition: Json) -> None:
    """Replaces or creates a CustomResourceDefinition.

    A server-side apply would leave fields that Helm has set before.
    """
    path = f"{DEFINITIONS}/{definition['metadata']['name']}"
    live = client.find(path)
    if live is None:
        client.request("POST", DEFINITIONS, definition)
        return
    metadata = {**definition["metadata"], "resourceVersion": at(live, "metadata.resourceVersion")}
    client.request("PUT", path, {**definition, "metadata": metadata})
