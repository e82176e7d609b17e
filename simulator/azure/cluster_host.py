"""Interface through which the simulated Azure uses the Kubernetes control planes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol


class NodeHost(Protocol):
    """Interface to the nodes of clusters, for changes of node pools. Every call is idempotent and thread-safe."""

    def apply_nodes(self, cluster_id: str, pool: str, nodes: Sequence[Mapping[str, Any]]) -> None:
        """Makes the pool's nodes equal to these Node objects: creates, changes and deletes.

        The pool's nodes are those with the label `kubernetes.azure.com/agentpool=<pool>`.
        """
        ...

    def budgets(self, cluster_id: str) -> Sequence[Mapping[str, Any]]:
        """The cluster's PodDisruptionBudgets, in all namespaces."""
        ...

    def drain(self, cluster_id: str, pool: str, seconds: float) -> str:
        """Waits, at most `seconds`, until no PodDisruptionBudget protects a Pod on the pool's nodes. Returns an empty
        text if the pool is then drained; otherwise AKS's message about the first budget that protects a Pod.
        """
        ...


class ClusterHost(NodeHost, Protocol):
    """Interface to the Kubernetes control planes, one for each managed cluster.

    Every call is idempotent and thread-safe.
    """

    def create(self, cluster_id: str, kubernetes_version: str) -> None:
        """Starts the control plane of this version (`1.36.3`); returns when its API server is ready."""
        ...

    def enable_metrics(self, cluster_id: str) -> None:
        """Installs the resource definitions of Azure Monitor's metrics add-on: PodMonitors and ServiceMonitors of its
        own API group.
        """
        ...

    def enable_vault_secrets(self, cluster_id: str) -> None:
        """Installs the resource definitions of the Secrets Store add-on, which mounts secrets from key vaults."""
        ...

    def delete(self, cluster_id: str) -> None:
        """Ends the control plane; on return its processes and data are gone."""
        ...

    def user_kubeconfig(self, cluster_id: str) -> str:
        """The kubeconfig that AKS gives to a user of an Entra cluster: with an exec section for kubelogin, without a
        credential.
        """
        ...

    def restart_node(self, cluster_id: str, node: str) -> None:
        """Restarts the machine of a node: the node gets another boot id, and all its containers start again."""
        ...

    def grant(
        self, cluster_id: str, assignment_id: str, principal_id: str, principal_type: str, role_guid: str
    ) -> None:
        """Gives a principal, inside the cluster, one of the Kubernetes roles of Azure RBAC."""
        ...

    def revoke(self, cluster_id: str, assignment_id: str) -> None:
        """Takes back the rights that `grant` gave for this role assignment."""
        ...
