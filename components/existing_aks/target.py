"""An AKS cluster that the program has created itself or has found, as the components for it need it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes

from components.azure.role_propagation import wait_for_roles
from components.kubernetes.cluster_target import ClusterTarget
from components.kubernetes.namespaces import Namespaces, NamespacesArgs
from physical_ai.nested import is_mapping
from physical_ai.planning import manifests
from physical_ai.settings import Pool, Settings, SettingsError
from physical_ai.settings.facts.pools import POOL_LABEL, services_selector
from physical_ai.settings.own_program import own_settings


@dataclass(frozen=True)
class AksTarget:
    """Access to the cluster, and what the components have to know of it."""

    region: str
    """Azure region of the cluster, such as `westus2`."""
    provider: kubernetes.Provider
    """Kubernetes provider with a login that may create namespaces, roles and admission policies."""
    kubeconfig: pulumi.Input[str]
    """Text of a kubeconfig with a login, for the components that wait until something works, and for the files of
    agents that an earlier deployment has left.
    """
    kubernetes_version: str = "1.36"
    """Kubernetes minor of the cluster."""
    services: Mapping[str, str] = field(default_factory=lambda: {POOL_LABEL: "cpu"})
    """Labels of the nodes on which operators, schedulers and OSMO's agents run: a pool without GPUs and taints."""
    after: Sequence[pulumi.Resource] = ()
    """Resources that must exist before anything is installed, such as the pool of `services`."""

    def settings(self, pools: Mapping[str, Pool], sections: Mapping[str, Mapping[str, Any]]) -> Settings:
        """Settings of the software for these pools, held to the rules for stacks.

        Raises:
            pulumi.RunError: a pool or another argument breaks a rule.
        """
        try:
            return own_settings(self.region, self.kubernetes_version, pools, sections)
        except SettingsError as problem:
            raise pulumi.RunError(str(problem)) from None

    def cluster(self, name: str) -> ClusterTarget:
        """Cluster into which the component `name` deploys. It remains when the component is deleted."""
        retry = wait_for_roles(f"{name}-role-propagation")
        return ClusterTarget(self.provider, self.kubeconfig, None, retry, self.after)

    def namespaces(
        self, name: str, target: ClusterTarget, wanted: Sequence[str], parent: pulumi.Resource
    ) -> Mapping[str, kubernetes.core.v1.Namespace]:
        """Declares the platform's namespaces with these names, and returns them by name."""
        others = {str(each["metadata"]["name"]) for each in manifests.namespaces()} - set(wanted)
        args = NamespacesArgs(target, without=others)
        return Namespaces(f"{name}-namespaces", args, pulumi.ResourceOptions(parent=parent)).namespaces

    def placed(self, values: Mapping[str, Any], settings: Settings) -> dict[str, Any]:
        """Helm values whose Pods for services select the nodes of `services`, where a stack's would select its cpu
        pool.
        """
        return {key: self._placed(value, services_selector(settings)) for key, value in values.items()}

    def _placed(self, value: Any, selector: Mapping[str, str]) -> Any:
        if isinstance(value, list):
            return [self._placed(each, selector) for each in value]  # pyright: ignore[reportUnknownVariableType]  # Helm values
        if not is_mapping(value):
            return value
        return (
            dict(self.services) if value == selector else {k: self._placed(each, selector) for k, each in value.items()}
        )
