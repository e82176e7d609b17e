"""The Azure stand-in's interface to the Kubernetes control planes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol


class ClusterHost(Protocol):
    """Runs one control plane for each managed cluster. Every call is idempotent and thread-safe."""

    def create(self, cluster_id: str, kubernetes_version: str) -> None:
        """Starts the control plane of this version (`1.36.3`); returns when its API server is ready."""
        ...

    def enable_metrics(self, cluster_id: str) -> None:
        """Installs the kinds that Azure Monitor's add-on brings: monitors of its own API group."""
        ...

    def enable_vault_secrets(self, cluster_id: str) -> None:
        """Installs the kinds that the provider of secrets from key vaults brings."""
        ...

    def delete(self, cluster_id: str) -> None:
        """Ends the control plane; its processes and data are deleted on return."""
        ...

    def user_kubeconfig(self, cluster_id: str) -> str:
        """The kubeconfig AKS hands to a user of an Entra cluster: an exec stanza for kubelogin, no credential."""
        ...

    def apply_nodes(self, cluster_id: str, pool: str, nodes: Sequence[Mapping[str, Any]]) -> None:
        """Reconciles the pool's nodes with these Node objects: creates, changes and deletes.

        The pool's nodes are those labelled `kubernetes.azure.com/agentpool=<pool>`.
        """
        ...

    def budgets(self, cluster_id: str) -> Sequence[Mapping[str, Any]]:
        """The cluster's PodDisruptionBudgets, in all namespaces."""
        ...

    def drain(self, cluster_id: str, pool: str, seconds: float) -> str:
        """Waits until no budget keeps a Pod of the pool's nodes; after so many seconds, what AKS says of the first."""
        ...

    def restart_node(self, cluster_id: str, node: str) -> None:
        """Restarts the machine of a node: another boot id, and every container starts again."""
        ...

    def grant(
        self, cluster_id: str, assignment_id: str, principal_id: str, principal_type: str, role_guid: str
    ) -> None:
        """Gives a principal one of the Kubernetes roles of Azure RBAC inside the cluster."""
        ...

    def revoke(self, cluster_id: str, assignment_id: str) -> None:
        """Reverts `grant` for this role assignment."""
        ...
