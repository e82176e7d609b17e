"""Types that the Azure part and the in-cluster part of a platform share: `azure_resources` and `cluster`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pulumi
import pulumi_kubernetes as kubernetes

from components.azure.identities import Identities
from components.azure.resource_group import ResourceGroup
from components.azure.subscriptions import Subscriptions
from components.kubernetes.cluster_target import ClusterTarget
from components.network.network import Network
from physical_ai.planning.osmo_backend import OsmoBackend
from physical_ai.planning.plan import Plan
from physical_ai.settings import Settings
from physical_ai.settings.facts.naming import Names
from physical_ai.settings.secrets import Secrets


@dataclass(frozen=True)
class Common:
    """Settings, plan, secrets and options with which every part of one platform is declared.

    `protected` and `unprotected` are the options of its components. `retry` repeats an operation that needs a role
    which is not in effect yet.
    """

    name: str
    settings: Settings
    plan: Plan
    secrets: Secrets
    backend: OsmoBackend | None
    names: Names
    subscription: str
    subscriptions: Subscriptions
    retry: pulumi.ErrorHook
    protected: pulumi.ResourceOptions
    unprotected: pulumi.ResourceOptions


@dataclass(frozen=True)
class Foundation:
    """The Azure resources that the cluster needs before it can be created."""

    group: ResourceGroup
    network: Network
    identities: Identities


@dataclass(frozen=True)
class InstallTarget:
    """The target for Kubernetes resources: access to the cluster, and the namespaces to install into."""

    kubeconfig: pulumi.Output[str]
    target: ClusterTarget
    namespaces: Mapping[str, kubernetes.core.v1.Namespace]
