"""Kubeconfigs: a kubeconfig with a client certificate for the simulator itself, and a kubeconfig as AKS returns it for
clusters with Entra ID.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

from simulator.azure.own_facts import SERVER_ID
from simulator.entra import AKS_CLIENT_ID, TENANT_ID

LOGIN_COMMAND = "kubelogin"


def with_certificate(server: str, pki: Path, name: str) -> str:
    """Kubeconfig that logs in with `<name>.crt` of `pki`.

    It contains a private key and never leaves the simulator's folder.
    """
    user = {
        "client-certificate-data": _base64(pki / f"{name}.crt"),
        "client-key-data": _base64(pki / f"{name}.key"),
    }
    return _config(server, pki, "simulator", name, user)


def for_cluster_user(server: str, pki: Path, resource_group: str, cluster: str) -> str:
    """Kubeconfig that `listClusterUserCredential` returns for a cluster with Entra ID: it logs in by device code.

    Device code login needs a person at a browser, so programs have to change the mode (AKS kubelogin documentation).
    """
    arguments = ("get-token", "--environment", "AzurePublicCloud", "--server-id", SERVER_ID)
    user = {
        "exec": {
            "apiVersion": "client.authentication.k8s.io/v1beta1",
            "command": LOGIN_COMMAND,
            "args": [*arguments, "--client-id", AKS_CLIENT_ID, "--tenant-id", TENANT_ID, "--login", "devicecode"],
            "env": None,
            "installHint": "kubelogin is not installed: https://azure.github.io/kubelogin",
            "provideClusterInfo": False,
        }
    }
    return _config(server, pki, cluster, f"clusterUser_{resource_group}_{cluster}", user)


def _config(server: str, pki: Path, cluster: str, user: str, credentials: dict[str, Any]) -> str:
    """A kubeconfig as JSON, which every reader of kubeconfigs takes as YAML."""
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [
                {
                    "name": cluster,
                    "cluster": {"server": server, "certificate-authority-data": _base64(pki / "ca.crt")},
                }
            ],
            "users": [{"name": user, "user": credentials}],
            "contexts": [{"name": cluster, "context": {"cluster": cluster, "user": user}}],
            "current-context": cluster,
        }
    )


def _base64(file: Path) -> str:
    return base64.b64encode(file.read_bytes()).decode()
