"""Namespaces of a stack in its cluster, and the resources that must exist before anything is installed into them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pulumi
import pulumi_kubernetes as kubernetes

from components.kubernetes.cluster_target import ClusterTarget
from components.kubernetes.drift_reader import DriftReader, DriftReaderArgs
from components.kubernetes.isolation import Isolation, IsolationArgs
from components.kubernetes.namespaces import Namespaces, NamespacesArgs
from components.kubernetes.registry_images import RegistryImages, RegistryImagesArgs
from components.platform.parent import Parent
from components.platform.target_cluster import TargetCluster
from physical_ai.planning.drift_reader import drift_reader_objects
from physical_ai.planning.isolation import isolation_objects
from physical_ai.planning.namespaces import not_needed, used
from physical_ai.planning.registry_images import registry_policies
from physical_ai.settings import Loaded
from physical_ai.settings.facts.capacity import warm_pools


class InstallTarget:
    """The platform's namespaces with their isolation, and the rights of the drift reader.

    Attributes:
        target: access to the cluster. With `registry.only`, every object that is declared with `target` waits for the
            policies that allow images of the stack's registry only.
        namespaces: the platform's namespaces by name.
    """

    kubeconfig: pulumi.Output[str]
    target: ClusterTarget
    namespaces: Mapping[str, kubernetes.core.v1.Namespace]

    def __init__(self, parent: Parent, loaded: Loaded, subscription: str, cluster: TargetCluster) -> None:
        settings, plan = loaded.settings, loaded.plan
        self.kubeconfig, self.target = cluster.kubeconfig, cluster.target
        if policies := registry_policies(settings, subscription):
            images = RegistryImages(
                f"{parent.name}-registry-images", RegistryImagesArgs(self.target, policies), parent.protected
            )
            self.target = replace(self.target, after=[*self.target.after, *images.declared])
        namespaces = NamespacesArgs(self.target, not_needed(plan), used(settings))
        self.namespaces = Namespaces(f"{parent.name}-namespaces", namespaces, parent.protected).namespaces
        if policies := isolation_objects(settings, self.namespaces):
            isolation = IsolationArgs(self.target, policies, self.all_namespaces)
            Isolation(f"{parent.name}-isolation", isolation, parent.protected)
        objects = drift_reader_objects(settings.access, claims="dra" in plan.parts, queues=bool(warm_pools(settings)))
        reader = DriftReaderArgs(self.target, objects)
        DriftReader(f"{parent.name}-drift-reader", reader, parent.unprotected)

    @property
    def all_namespaces(self) -> list[kubernetes.core.v1.Namespace]:
        """Every namespace of the platform."""
        return list(self.namespaces.values())
