"""A cluster with the GRID agent's rights and limits, and Pods of the agent with their tokens."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from grid_agent.api import Api
from simulator.kubernetes import Client
from simulator.kubernetes.client import APPLY_PATCH

NAMESPACE = "gpu-operator"

ACCOUNT = "gpu-grid-driver-installer"

GATE = "nvidia.com/gpu.deploy.operator-validator"


class Cluster:
    """Two nodes, each with an agent, a Pod of the operator and a Pod of another user with a GPU."""

    def __init__(self, kubeconfig: str) -> None:
        self.client = Client(kubeconfig)
        self._kubeconfig: dict[str, Any] = json.loads(kubeconfig)

    def apply(self, item: Mapping[str, Any], *, subresource: str = "") -> dict[str, Any]:
        metadata = item["metadata"]
        path = self.client.path(item["apiVersion"], item["kind"], metadata.get("namespace"), metadata["name"])
        return self.client.patch(path + subresource, dict(item), APPLY_PATCH, {"fieldManager": "test", "force": "true"})

    def node(self, name: str) -> None:
        labels = {"kubernetes.azure.com/agentpool": "rtxprogpu", "nvidia.com/gpu.deploy.driver": "false", GATE: "true"}
        metadata = {"name": name, "labels": labels, "annotations": {"kwok.x-k8s.io/node": "fake"}}
        capacity = {"cpu": "8", "memory": "32Gi", "pods": "110", "nvidia.com/gpu": "4"}
        self.apply({"apiVersion": "v1", "kind": "Node", "metadata": metadata})
        self.apply(
            {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": {"capacity": capacity}},
            subresource="/status",
        )

    def pod(
        self,
        name: str,
        node: str,
        namespace: str = NAMESPACE,
        account: str = "",
        *,
        gpus: int = 0,
        claims: tuple[str, ...] = (),
    ) -> str:
        limits = {"nvidia.com/gpu": str(gpus)} if gpus else {}
        container = {"name": "main", "image": "registry.k8s.io/pause:3.10", "resources": {"limits": limits}}
        spec: dict[str, Any] = {"nodeName": node, "containers": [container]}
        if account:
            spec["serviceAccountName"] = account
        if claims:
            spec["resourceClaims"] = [{"name": each, "resourceClaimName": each} for each in claims]
        metadata = {"name": name, "namespace": namespace}
        made = self.apply({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})
        return made["metadata"]["uid"]

    def operand(self, name: str, node: str) -> None:
        """A Pod of the operator that looks at the driver."""
        spec = {"nodeName": node, "containers": [{"name": "main", "image": "registry.k8s.io/pause:3.10"}]}
        metadata = {"name": name, "namespace": NAMESPACE, "labels": {"app": "nvidia-operator-validator"}}
        self.apply({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})

    def agent(self, node: str, account: str = ACCOUNT) -> Client:
        """The API server, as an agent on a node sees it."""
        name = f"{account}-{node}"
        uid = self.pod(name, node, account=account)
        bound = {"kind": "Pod", "apiVersion": "v1", "name": name, "uid": uid}
        return self.with_token({"boundObjectRef": bound}, account)

    def agents_own(self, node: str, folder: Path) -> Api:
        """The API client that the agent has, with what kubelet would mount for it."""
        return Api(self.mounted(node, folder), folder, node, NAMESPACE)

    def mounted(self, node: str, folder: Path, account: str = ACCOUNT) -> str:
        """Writes what kubelet mounts for an agent on a node into a folder; the API server's address."""
        (cluster,) = (entry["cluster"] for entry in self._kubeconfig["clusters"])
        folder.mkdir()
        (folder / "ca.crt").write_bytes(base64.b64decode(cluster["certificate-authority-data"]))
        (folder / "token").write_text(self.agent(node, account).config.token)
        return str(cluster["server"])

    def with_token(self, spec: Mapping[str, Any], account: str = ACCOUNT) -> Client:
        path = f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/{account}/token"
        body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"audiences": [], **spec}}
        token = self.client.request("POST", path, body)["status"]["token"]
        users = [{**user, "user": {"token": token}} for user in self._kubeconfig["users"]]
        return Client(json.dumps({**self._kubeconfig, "users": users}))
