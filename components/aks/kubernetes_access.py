"""The Kubernetes provider, and the kubeconfig that it uses."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes
from pulumi_azure_native import containerservice

from physical_ai.readiness.kubeconfig import exec_kubeconfig


@dataclass(frozen=True)
class KubernetesAccessArgs:
    """Inputs of `KubernetesAccess`.

    `after` are resources that must exist before anything is installed: the deployer's roles in the cluster, and nodes
    to run on.
    """

    resource_group_name: pulumi.Input[str]
    cluster: containerservice.ManagedCluster
    cluster_name: str
    after: Sequence[pulumi.Resource]


class KubernetesAccess(pulumi.ComponentResource):
    """An Entra login to the cluster and the provider that uses it.

    Attributes:
        kubeconfig: text without any credential, fit to be an output of the stack.
    """

    kubeconfig: pulumi.Output[str]
    provider: kubernetes.Provider

    def __init__(self, name: str, args: KubernetesAccessArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("physical-ai:kubernetes:KubernetesAccess", name, {}, opts)
        credentials = containerservice.list_managed_cluster_user_credentials_output(
            resource_group_name=args.resource_group_name,
            # The name is used because it remains known in a preview that updates the cluster; the cluster's other
            # outputs do not.
            resource_name=args.cluster.name,
            format="exec",
            opts=pulumi.InvokeOutputOptions(parent=self),
        )
        self.kubeconfig = credentials.kubeconfigs.apply(_user_kubeconfig)
        self.provider = kubernetes.Provider(
            f"{name}-provider",
            kubeconfig=self.kubeconfig,
            # Without an identifier, the preview takes a kubeconfig that is not known yet for that of another cluster,
            # and would replace every object in it. The identifier is plain text: the cluster's output would be unknown
            # while the cluster is replaced, the provider would then count as replaced too, and the engine would close
            # it before it has deleted the objects in the cluster (pulumi 3.259, registry.go, Diff).
            cluster_identifier=args.cluster_name,
            enable_server_side_apply=True,
            # Without this, a changed ConfigMap or Secret with a fixed name is deleted and created again while pods
            # mount it.
            enable_config_map_mutable=True,
            enable_secret_mutable=True,
            # Objects in the cluster are deleted with the provider (see ClusterTarget).
            opts=pulumi.ResourceOptions(parent=self, depends_on=args.after, replace_with=[args.cluster]),
        )
        self.register_outputs({"kubeconfig": self.kubeconfig})


def _user_kubeconfig(kubeconfigs: Sequence[Any]) -> str:
    """Text of the first kubeconfig that AKS returned, changed so that its user logs in with a command that needs no
    terminal.
    """
    try:
        return exec_kubeconfig(base64.b64decode(kubeconfigs[0].value).decode())
    except (IndexError, ValueError) as error:
        raise pulumi.RunError(f"The cluster's kubeconfig cannot be used: {error}") from error
