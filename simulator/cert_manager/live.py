"""Simulation of cert-manager on a live cluster. A new certificate is issued if its Secret is missing or has other
names.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from pathlib import Path

from simulator.azure.state import AzureState
from simulator.azure.store import Store
from simulator.azure.zone_access import zone_refusal
from simulator.cert_manager import names
from simulator.cert_manager.authority import issue
from simulator.cluster.loop import Loop
from simulator.cluster.objects import Json, annotations_of, at, is_terminating, name, timestamp
from simulator.cluster.watch import Watch
from simulator.kubernetes.client import APPLY_PATCH, MERGE_PATCH, ApiError, Client

log = logging.getLogger("cert-manager")
CERTIFICATES = f"/apis/{names.API_VERSION}/certificates"
ISSUERS = f"/apis/{names.API_VERSION}/clusterissuers"
SELECTOR = f"app.kubernetes.io/name={names.CHART},app.kubernetes.io/component=controller"
ALT_NAMES = "cert-manager.io/alt-names"
SUBJECT = f"system:serviceaccount:{names.NAMESPACE}:{names.ACCOUNT}"
RETRY_SECONDS = 0.3
"""Seconds until the simulator tries again to issue a certificate that it could not issue."""


class CertManager:
    """Simulates cert-manager while its controller's Deployment is available. `file`: path of the simulated Azure's
    state file.
    """

    def __init__(self, client: Client, file: Path, clock: Callable[[], float] = time.time) -> None:
        self._client, self._store, self._clock = client, Store(file), clock
        self.loop = Loop("cert-manager", self.round)
        self._controllers = Watch(client, "/apis/apps/v1/deployments", self.loop.wake, SELECTOR)
        self._certificates: Watch | None = None

    def round(self) -> float | None:
        """Runs one round. Returns the seconds until the next round if a certificate could not be issued; otherwise
        None.
        """
        if not any(int(at(each, "status.availableReplicas", 0)) > 0 for each in self._controllers.all()):
            return None
        if self._certificates is None:
            self._certificates = Watch(self._client, CERTIFICATES, self.loop.wake)
        wanted = [each for each in self._certificates.all() if not is_terminating(each)]
        issued = [self._serve(each) for each in wanted]
        return None if all(issued) else RETRY_SECONDS

    def _serve(self, certificate: Json) -> bool:
        if self._is_issued(certificate):
            return True
        why = self.refusal(certificate)
        if why:
            self._report(certificate, {"conditions": [_condition("False", "DoesNotExist", why)]})
            return False
        hosts = [str(each) for each in at(certificate, "spec.dnsNames", [])]
        data, end = issue(hosts)
        namespace, key = str(at(certificate, "metadata.namespace")), str(at(certificate, "spec.secretName"))
        secret = {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": key, "namespace": namespace, "annotations": {ALT_NAMES: ",".join(hosts)}},
            "type": "kubernetes.io/tls",
            "data": data,
        }
        path = f"/api/v1/namespaces/{namespace}/secrets/{key}"
        self._client.patch(path, secret, APPLY_PATCH, {"fieldManager": "cert-manager", "force": "true"})
        ready = _condition("True", "Ready", "Certificate is up to date and has not expired")
        revision = int(at(certificate, "status.revision", 0)) + 1
        ends = end.strftime("%Y-%m-%dT%H:%M:%SZ")
        self._report(certificate, {"conditions": [ready], "notAfter": ends, "revision": revision})
        log.info("%s: issued for %s", name(certificate), ", ".join(hosts))
        return True

    def _is_issued(self, certificate: Json) -> bool:
        conditions: list[Json] = at(certificate, "status.conditions", [])
        if not any(each["type"] == "Ready" and each["status"] == "True" for each in conditions):
            return False
        namespace, key = at(certificate, "metadata.namespace"), at(certificate, "spec.secretName")
        secret = self._client.find(f"/api/v1/namespaces/{namespace}/secrets/{key}")
        return secret is not None and annotations_of(secret).get(ALT_NAMES) == ",".join(
            at(certificate, "spec.dnsNames", [])
        )

    def refusal(self, certificate: Json) -> str:
        """Reason why a certificate cannot be issued; empty if it can."""
        wanted = str(at(certificate, "spec.issuerRef.name", ""))
        issuer = self._client.find(f"{ISSUERS}/{wanted}")
        if issuer is None:
            return f'Issuing certificate as Secret does not exist: Referenced "ClusterIssuer" not found: {wanted}'
        solvers: list[Json] = at(issuer, "spec.acme.solvers", [])
        zone: Json | None = at(solvers[0], "dns01.azureDNS") if solvers else None
        if zone is None:
            return ""  # an issuer outside the stack needs nothing from the simulator
        self._store.refresh()
        azure = AzureState(dict(self._store.resources), now=self._clock())
        zone_id = (
            f"/subscriptions/{zone['subscriptionID']}/resourceGroups/{zone['resourceGroupName']}"
            f"/providers/Microsoft.Network/dnsZones/{zone['hostedZoneName']}"
        )
        client_id = str(at(zone, "managedIdentity.clientID", ""))
        why = zone_refusal(azure, client_id=client_id, subject=SUBJECT, zone_id=zone_id)
        return f"Challenge is pending: error presenting DNS-01 challenge: {why}" if why else ""

    def _report(self, certificate: Json, status: Json) -> None:
        held = at(certificate, "status.conditions", [])
        if held and held[0].get("message") == status["conditions"][0]["message"]:
            return
        path = f"/apis/{names.API_VERSION}/namespaces/{at(certificate, 'metadata.namespace')}/certificates"
        try:
            self._client.patch(f"{path}/{name(certificate)}/status", {"status": status}, MERGE_PATCH)
        except ApiError as refusal:
            if refusal.code not in (404, 409):
                raise


def _condition(status: str, reason: str, message: str) -> Json:
    return {
        "type": "Ready",
        "status": status,
        "reason": reason,
        "message": message,
        "lastTransitionTime": timestamp(),
    }
