"""Objects that AKS's Secrets Store add-on installs in a cluster, with the fields that a program can see.

Fields: kubernetes-sigs/secrets-store-csi-driver, config/crd/bases. `simulator.operators.vault_secrets` simulates the
add-on's driver.
"""

from __future__ import annotations

from typing import Any

from simulator.azure.own_facts import SECRETS_API_VERSION, SECRETS_DRIVER, SECRETS_KIND, SECRETS_PLURAL, TOKEN_AUDIENCE
from simulator.cluster.definitions import definition as custom_resource
from simulator.kubernetes.client import APPLY_PATCH, Client
from simulator.metrics_addon import serve
from simulator.pool_nodes import FIELD_MANAGER

_TEXT = {"type": "string"}
_TEXTS = {"type": "object", "additionalProperties": _TEXT}


def definition() -> dict[str, Any]:
    """The CustomResourceDefinition of SecretProviderClass."""
    group, _, version = SECRETS_API_VERSION.partition("/")
    entry = {"type": "object", "properties": {"key": _TEXT, "objectName": _TEXT}}
    made = {
        **dict.fromkeys(("secretName", "type"), _TEXT),
        **dict.fromkeys(("labels", "annotations"), _TEXTS),
        "data": {"type": "array", "items": entry},
    }
    objects = {"type": "array", "items": {"type": "object", "properties": made}}
    spec = {"type": "object", "properties": {"provider": _TEXT, "parameters": _TEXTS, "secretObjects": objects}}
    schema = {"type": "object", "properties": {"spec": spec}}
    return custom_resource(group, version, SECRETS_KIND, SECRETS_PLURAL, schema)


def driver() -> dict[str, Any]:
    """The CSIDriver object. Its token requests make the kubelet pass a token of the Pod's own account to the driver."""
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "CSIDriver",
        "metadata": {"name": SECRETS_DRIVER},
        "spec": {
            "attachRequired": False,
            "podInfoOnMount": True,
            "volumeLifecycleModes": ["Ephemeral"],
            "tokenRequests": [{"audience": TOKEN_AUDIENCE}],
        },
    }


def install(client: Client) -> None:
    """Applies the definition and the CSIDriver, and waits until the API server serves the kind."""
    serve(client, [definition()])
    path = f"/apis/storage.k8s.io/v1/csidrivers/{SECRETS_DRIVER}"
    client.patch(path, driver(), APPLY_PATCH, {"fieldManager": FIELD_MANAGER, "force": "true"})
