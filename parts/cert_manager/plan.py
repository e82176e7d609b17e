"""cert-manager for the gateway's certificate: values of its chart, the issuer, and the certificate."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any

from parts.cert_manager import names
from parts.part import PartPlan, Planned, ReleasePlan
from physical_ai.catalog.aks import POOL_LABEL
from physical_ai.catalog.azure_identity import IDENTITY_CLIENT_ANNOTATION, IDENTITY_USE_LABEL
from physical_ai.catalog.charts import newest_chart
from physical_ai.catalog.osmo import CONTROL_NAMESPACE
from physical_ai.planning.chart_values import chart_values as values_of_chart
from physical_ai.planning.values_files import merge_values
from physical_ai.settings.facts.osmo_access import installs_cert_manager
from physical_ai.settings.facts.pools import CPU_POOL
from physical_ai.settings.models.osmo_access import Acme
from physical_ai.settings.models.tree import Settings

FILE = f"cert_manager/{names.CHART}-values.yaml"
OWNED = {
    "crds": "nothing: without its kinds there is no certificate, and with them goes every one",
    "nodeSelector": "cpuPool",
    "*.nodeSelector": "cpuPool",
    "podLabels": "osmo.access.tls.certManager",
    "serviceAccount": "osmo.access.tls.certManager",
}
"""Chart keys that the user's values file may not set. Each value names the setting to change instead, or says
why there is none.
"""
WAIT_FOR = "pulumi.com/waitFor"


RELEASE = "release"
"""Key of the plan's only release. Its chart values do not contain the Azure identity, whose id is known only during a
deployment; `with_identity` adds it.
"""


@dataclass(frozen=True, kw_only=True)
class CertManagerPlan(PartPlan):
    """Plan for `osmo.access.tls.source: certManager`: the release, the issuer and the host name."""

    acme: Acme | None
    """Certificate authority of the issuer; None where the stack does not create the issuer."""
    issuer: str
    host: str
    secret_name: str

    def with_identity(self, client_id: Any) -> dict[str, Any]:
        """Chart values of the release, completed with the Azure identity that cert-manager's Pods use."""
        own = {
            "podLabels": {IDENTITY_USE_LABEL: "true"},
            "serviceAccount": {"annotations": {IDENTITY_CLIENT_ANNOTATION: client_id}},
        }
        return merge_values(self.release(RELEASE).values, own)

    def cluster_issuer(self, acme: Acme, client_id: Any) -> dict[str, Any]:
        """Manifest of the ClusterIssuer. For the authority's challenge, cert-manager writes a record into the Azure DNS
        zone, with the identity of `client_id`.
        """
        parts = acme.zone_id.split("/")
        zone = {
            "subscriptionID": parts[2],
            "resourceGroupName": parts[4],
            "hostedZoneName": parts[-1],
            "environment": "AzurePublicCloud",
            "managedIdentity": {"clientID": client_id},
        }
        return {
            "apiVersion": names.API_VERSION,
            "kind": names.ISSUER_KIND,
            "metadata": {"name": self.issuer},
            "spec": {
                "acme": {
                    "server": acme.server,
                    "email": acme.email,
                    "privateKeySecretRef": {"name": names.ACCOUNT_KEY},
                    "solvers": [{"dns01": {"azureDNS": zone}}],
                }
            },
        }

    def certificate(self) -> dict[str, Any]:
        """Manifest of the Certificate. A deployment waits until the certificate is issued, and fails with the reason if
        cert-manager cannot issue it.
        """
        return {
            "apiVersion": names.API_VERSION,
            "kind": "Certificate",
            "metadata": {
                "name": names.CERTIFICATE,
                "namespace": CONTROL_NAMESPACE,
                "annotations": {WAIT_FOR: "condition=Ready"},
            },
            "spec": {
                "secretName": self.secret_name,
                "dnsNames": [self.host],
                "issuerRef": {"group": names.GROUP, "kind": names.ISSUER_KIND, "name": self.issuer},
                "privateKey": {"algorithm": "ECDSA", "size": 256, "rotationPolicy": "Always"},
            },
        }


def cert_manager_plan(settings: Settings, root: FilePath) -> Planned:
    """Plan of the part for a stack, and the faults of the user's values file; the plan is None where the certificate
    comes from elsewhere."""
    access = settings.osmo.access
    tls = access.tls
    if not installs_cert_manager(settings) or tls is None or tls.cert_manager is None or access.host is None:
        return None, []
    pinned = newest_chart(names.CHART)
    values, faults = values_of_chart(root, FILE, pinned, OWNED, _values())
    plan = CertManagerPlan(
        releases=(ReleasePlan(RELEASE, names.RELEASE, (names.NAMESPACE,), pinned, values),),
        acme=tls.cert_manager.acme,
        issuer=tls.cert_manager.cluster_issuer or names.ISSUER,
        host=access.host,
        secret_name=tls.secret_name,
    )
    return plan, faults


def _values() -> dict[str, Any]:
    placement = {"nodeSelector": {POOL_LABEL: CPU_POOL}}
    return {
        "crds": {"enabled": True, "keep": True},
        **placement,
        "webhook": placement,
        "cainjector": placement,
        "startupapicheck": placement,
    }
