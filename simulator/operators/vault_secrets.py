"""Simulation of the CSI driver that mounts secrets of Azure key vaults into Pods and copies them into Kubernetes
Secrets.

The driver reads each secret only once. The created Secrets are owned by the owners of the Pod, and are deleted with
them.
"""

from __future__ import annotations

import base64
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from simulator.azure.own_facts import SECRETS_API_VERSION, SECRETS_DRIVER, SECRETS_PLURAL
from simulator.azure.state import AzureState
from simulator.azure.store import Store
from simulator.azure.vault_access import refusal
from simulator.cluster.objects import Json, at, name
from simulator.kubernetes.client import APPLY_PATCH, Client
from simulator.operators.mounts import StartProblem

MANAGER = "secrets-store-csi-driver"
LIFETIME = timedelta(days=90)
_OWNER = ("apiVersion", "kind", "name", "uid")


class VaultSecrets:
    """Mounts secrets of the simulated Azure's key vaults. `file`: the simulated Azure's state file."""

    def __init__(self, client: Client, file: Path, clock: Callable[[], float] = time.time) -> None:
        self._client, self._store, self._clock = client, Store(file), clock

    def mount_problem(self, pod: Json) -> StartProblem | None:
        """Reason why a key vault's volume of the Pod cannot be mounted; None if all such volumes are mounted and their
        Secrets exist.
        """
        for volume in at(pod, "spec.volumes", []):
            if at(volume, "csi.driver") != SECRETS_DRIVER:
                continue
            if problem := self._mount(pod, str(at(volume, "csi.volumeAttributes.secretProviderClass", ""))):
                text = f'MountVolume.SetUp failed for volume "{volume["name"]}" : {problem}'
                return StartProblem("ContainerCreating", "FailedMount", text)
        return None

    def _mount(self, pod: Json, wanted: str) -> str:
        if self._client.find(f"/apis/storage.k8s.io/v1/csidrivers/{SECRETS_DRIVER}") is None:
            return f"driver name {SECRETS_DRIVER} not found in the list of registered CSI drivers"
        namespace = str(at(pod, "metadata.namespace"))
        found = self._client.find(f"/apis/{SECRETS_API_VERSION}/namespaces/{namespace}/{SECRETS_PLURAL}/{wanted}")
        if found is None:
            return f"failed to get secretproviderclass {namespace}/{wanted}, error: not found"
        parameters: dict[str, str] = at(found, "spec.parameters", {})
        objects = _objects(parameters.get("objects", ""))
        account = str(at(pod, "spec.serviceAccountName", "default"))
        self._store.refresh()
        azure = AzureState(dict(self._store.resources), now=self._clock())
        for each in objects:
            why = refusal(
                azure,
                client_id=parameters.get("clientID", ""),
                subject=f"system:serviceaccount:{namespace}:{account}",
                vault=parameters.get("keyvaultName", ""),
                secret=each,
            )
            if why:
                return f"failed to mount secrets store objects for pod {namespace}/{name(pod)}, err: {why}"
        for made in at(found, "spec.secretObjects", []):
            self._make(pod, made)
        return ""

    def _make(self, pod: Json, wanted: Json) -> None:
        """Creates the Kubernetes Secret that `wanted` describes, with a self-signed certificate, unless it exists."""
        namespace, key = str(at(pod, "metadata.namespace")), str(wanted["secretName"])
        path = f"/api/v1/namespaces/{namespace}/secrets/{key}"
        if self._client.find(path) is not None:
            return
        values = _certificate(str(wanted["data"][0]["objectName"]))
        owners = at(pod, "metadata.ownerReferences", [])
        secret = {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {
                "name": key,
                "namespace": namespace,
                "labels": {"secrets-store.csi.k8s.io/managed": "true"},
                "ownerReferences": [{part: owner[part] for part in _OWNER} for owner in owners],
            },
            "type": wanted.get("type", "Opaque"),
            "data": {each["key"]: values[each["key"]] for each in wanted["data"]},
        }
        self._client.patch(path, secret, APPLY_PATCH, {"fieldManager": MANAGER, "force": "true"})


def _objects(text: str) -> list[str]:
    """Names of the key vault's secrets to read. `text`: YAML with the list `array`, in which each element is again a
    text in YAML.
    """
    document: Any = yaml.safe_load(text)
    items: list[str] = at(document, "array", [])
    return [str(yaml.safe_load(each)["objectName"]) for each in items]


def _certificate(common: str) -> dict[str, str]:
    """A self-signed certificate: `tls.crt` and `tls.key` in base64."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common[:64])])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now)
        .not_valid_after(now + LIFETIME)
        .sign(key, hashes.SHA256())
    )
    pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    found = {"tls.crt": made.public_bytes(serialization.Encoding.PEM), "tls.key": pem}
    return {part: base64.b64encode(value).decode() for part, value in found.items()}
