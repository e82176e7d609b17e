"""The stack's outputs, and a description of each for docs/reference/outputs.md."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pulumi

from components.data.services import DataServices
from components.kubernetes.charts import InstalledRelease
from parts.in_cluster_data.facts import host, in_cluster, storage_url
from parts.in_cluster_data.names import CACHE, POSTGRES
from physical_ai.planning.gpu_operator import CHART
from physical_ai.releases.outputs import output_renames, with_former_names
from physical_ai.releases.takeover import OUTPUT, state_output
from physical_ai.settings import Settings
from physical_ai.settings.facts.gpu import OPERATOR_NAMESPACE
from physical_ai.settings.facts.summary import osmo_summary, pool_summary

ANY = "‹name›"
"""Placeholder, in the path of an output, for a name from the settings: the name of a pool, a release or a platform."""

OUTPUTS: Mapping[str, str] = {
    "resourceGroup": "Name of the stack's resource group.",
    "cluster": "Name of the AKS cluster.",
    "oidcIssuerUrl": "Issuer of the cluster's service account tokens, which federated credentials trust.",
    "natAddresses": "Public addresses from which the nodes reach the internet, for allow lists.",
    "kubeconfig": "Kubeconfig for `kubectl`, with `kubelogin` as the login. It contains no credential.",
    f"releases.{ANY}.version": "Version of the installed Helm chart.",
    f"releases.{ANY}.namespace": "Namespace of the release.",
    f"pools.{ANY}.size": "VM size.",
    f"pools.{ANY}.driverSource": "Installer of the driver: `operator`, `grid` or `aks`.",
    f"pools.{ANY}.driverVersion": "Build of the driver; absent where the node image decides.",
    f"pools.{ANY}.gpuDriver": "`gpuProfile.driver` of the node pool: `Install` or `None`.",
    f"pools.{ANY}.priority": "`Regular` or `Spot`.",
    f"pools.{ANY}.gpusPerNode": "GPUs of a node, before any sharing.",
    f"pools.{ANY}.sharing": "Sharing of a GPU by Pods; `none` where a GPU belongs to one Pod.",
    f"pools.{ANY}.resources": "Resources of one node, by name.",
    f"pools.{ANY}.scheduler": "`slurm` on a pool of `slurm.pools`; absent elsewhere.",
    f"pools.{ANY}.nodes": "`count`, or `min`, `max` and `initial`: the requested nodes, not the existing ones.",
    f"pools.{ANY}.labels": "Labels of the nodes.",
    f"pools.{ANY}.taints": "Taints of the nodes.",
    f"gpus.{ANY}.state": "Result of the gate at the end of the deployment: `ready`, `waiting`, or `empty`: no nodes.",
    f"gpus.{ANY}.nodes": "Number of nodes.",
    f"gpus.{ANY}.driverSource": "Installer of the driver, as under `pools`.",
    f"gpus.{ANY}.gpus": "`allocatable` and `expected` by resource.",
    f"gpus.{ANY}.closed": "The first closed gate of each node, with its reason and its fix.",
    f"gpus.{ANY}.unread": "Evidence about the pool that the gate could not read, with the refusal.",
    "network.hubPeeringCommand": "Command for the hub's owner with `peerBack: false`, for its side of the peering.",
    "network.zoneRoleCommand": "Command for the zone's owner with `zoneRole: given`, for the cluster's identity.",
    "dataServices.postgres": "Host name of the database; absent, as all below, in a stack without data services.",
    "dataServices.redis": "Host name of the cache.",
    "dataServices.s3Endpoint": "Address of storage in the cluster; absent with managed services.",
    "dataServices.blobEndpoint": "Address of the storage account; absent, as all below, with services in the cluster.",
    "dataServices.vault": "Address of the vault.",
    "dataServices.registry": "Login server of the registry; an image of another registry is below its host name.",
    "osmo.mode": "Installed part of OSMO: `namespaces`, `backend` or `platform`.",
    "osmo.queues": "`shared` or `perPool`.",
    f"osmo.platforms.{ANY}": "The node pool behind each platform that workflows can name.",
    "osmo.workflowsPrincipalId": "Entra object id of the identity that workflows run as; give it roles on your data.",
    "osmo.url": "Address of the stack's own control plane; absent in a stack without one.",
    f"osmo.served.{ANY}.vault": "Vault with the agents' token of a served stack, for its `osmo.tokenFrom`.",
    f"osmo.served.{ANY}.identity": "The identity that may read this token.",
    f"osmo.served.{ANY}.clientId": "Client id of that identity.",
    f"{OUTPUT}.version": "Version of the platform that deployed the stack last.",
    f"{OUTPUT}.oldest": "Oldest version that can deploy the stack again. An older one refuses it.",
    **{
        each.old.replace("*", ANY): f"Former name of `{each.new.replace('*', ANY)}`, until version {each.until}."
        for _, each in output_renames()
    },
}
"""Description of each output, by its path. Fields below these paths may change without notice."""


@dataclass(frozen=True)
class Deployed:
    """The values of outputs that are known only after a deployment."""

    cluster: Mapping[str, Any]
    """Outputs about the cluster and its Azure resources, by the name of the output."""
    gpus: pulumi.Input[Mapping[str, Any]]
    releases: Mapping[str, InstalledRelease]
    workflows_principal_id: pulumi.Input[str] | None = None
    """Entra object id (principal id) of the identity of workflows' Pods; None where they have no Azure identity."""
    network_commands: Mapping[str, pulumi.Input[str]] = field(default_factory=dict[str, pulumi.Input[str]])
    """Commands that the owners of an existing hub or DNS zone have to run, by the name of the output."""
    data: DataServices | None = None
    tokens: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Key vault and identity from which another stack's OSMO agents fetch their token, by the name of the other stack.
    """


def stack_outputs(settings: Settings, found: Deployed) -> dict[str, Any]:
    """Outputs of the stack, by name."""
    operator = {"version": settings.gpu_operator.version, "namespace": OPERATOR_NAMESPACE}
    outputs = {
        **found.cluster,
        "releases": {CHART: operator, **{name: _release(each) for name, each in found.releases.items()}},
        "pools": {name: pool_summary(settings, name) for name in settings.pools},
        "gpus": found.gpus,
        **({"network": dict(found.network_commands)} if found.network_commands else {}),
        **_data_services(settings, found.data),
        "osmo": {
            **osmo_summary(settings),
            **_workflows(found.workflows_principal_id),
            **({"served": dict(found.tokens)} if found.tokens else {}),
        },
        OUTPUT: state_output(),
    }
    return with_former_names(outputs)


def _release(installed: InstalledRelease) -> dict[str, str]:
    return {"version": installed.version, "namespace": installed.namespace}


def _workflows(principal_id: pulumi.Input[str] | None) -> dict[str, Any]:
    return {"workflowsPrincipalId": principal_id} if principal_id is not None else {}


def _data_services(settings: Settings, found: DataServices | None) -> dict[str, Any]:
    if in_cluster(settings) is not None:
        return {"dataServices": {"postgres": host(POSTGRES), "redis": host(CACHE), "s3Endpoint": storage_url()}}
    if found is None:
        return {}
    addresses = {
        "postgres": found.postgres.host,
        "redis": found.redis.host,
        "blobEndpoint": found.storage.blob_endpoint,
        "vault": found.vault.uri,
        "registry": found.registry.login_server,
    }
    return {"dataServices": addresses}
