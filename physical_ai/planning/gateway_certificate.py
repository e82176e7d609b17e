"""TLS certificate that OSMO's gateway takes from a key vault: the objects from which AKS's secrets provider creates the
Kubernetes Secret.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import yaml

from physical_ai.catalog.osmo import CONTROL_NAMESPACE
from physical_ai.catalog.vault_secrets import API_VERSION, DRIVER, KIND
from physical_ai.settings.models.osmo_access import GatewayTls
from physical_ai.settings.models.tree import Settings

ACCOUNT = "osmo-gateway"
"""Service account of the gateway's Envoy.

Its identity may read only the certificate's secret, whereas the chart's own account may read the storage.
"""
CLASS = "osmo-gateway-certificate"
_VOLUME, _MOUNT = "vault-certificate", "/mnt/vault-certificate"


@dataclass(frozen=True)
class GatewayCertificatePlan:
    vault_id: str
    certificate: str
    secret_name: str

    @property
    def scope(self) -> str:
        """Scope of the gateway's role assignment: only the vault's secret that contains the certificate with its
        private key. A role on the whole vault would cover all secrets.
        """
        return f"{self.vault_id}/secrets/{self.certificate}"

    def provider_class(self, client_id: Any, tenant_id: str) -> dict[str, Any]:
        """SecretProviderClass, which tells the secrets provider what to read, as which identity, and which Secret to
        make from it.

        The object type is `secret`, because the secret of a certificate is its chain with the key, whereas type `cert`
        has no key (azure.github.io/secrets-store-csi-driver-provider-azure, getting certificates and keys).
        """
        item = yaml.safe_dump({"objectName": self.certificate, "objectType": "secret"})
        return {
            "apiVersion": API_VERSION,
            "kind": KIND,
            "metadata": {"name": CLASS, "namespace": CONTROL_NAMESPACE},
            "spec": {
                "provider": "azure",
                "parameters": {
                    "clientID": client_id,
                    "keyvaultName": self.vault_id.rpartition("/")[2],
                    "tenantId": tenant_id,
                    "usePodIdentity": "false",
                    "objects": yaml.safe_dump({"array": [item]}),
                },
                "secretObjects": [
                    {
                        "secretName": self.secret_name,
                        "type": "kubernetes.io/tls",
                        "data": [{"objectName": self.certificate, "key": key} for key in ("tls.crt", "tls.key")],
                    }
                ],
            },
        }


def gateway_certificate(settings: Settings) -> GatewayCertificatePlan | None:
    """Plan of the gateway's certificate; None if the certificate does not come from a key vault."""
    tls = settings.osmo.access.tls
    if not settings.osmo.installs_service or tls is None or tls.key_vault is None:
        return None
    return GatewayCertificatePlan(tls.key_vault.vault_id, tls.key_vault.certificate, tls.secret_name)


def mounted(tls: GatewayTls | None) -> dict[str, Any]:
    """Helm values with which Envoy's Pods mount the SecretProviderClass; empty where the certificate does not come from
    a key vault.

    The mount is needed because the Secret exists only while some Pod mounts the SecretProviderClass.
    """
    if tls is None or tls.key_vault is None:
        return {}
    attributes = {"secretProviderClass": CLASS}
    return {
        "serviceAccountName": ACCOUNT,
        "extraVolumes": [
            {"name": _VOLUME, "csi": {"driver": DRIVER, "readOnly": True, "volumeAttributes": attributes}}
        ],
        "extraVolumeMounts": [{"name": _VOLUME, "mountPath": _MOUNT, "readOnly": True}],
    }
