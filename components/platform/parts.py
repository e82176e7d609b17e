"""The optional parts of a platform, in the order in which they are declared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pulumi

from components.gpu.operator import GpuOperator
from components.kubernetes.chart_part import AzurePlace, ChartPart, ChartPartArgs
from components.platform.install_target import InstallTarget
from components.platform.parent import Parent
from components.platform.target_cluster import AzureResources
from parts.components import component_of
from parts.part import GPU_OPERATOR, Part, Stage
from parts.registry import PARTS
from parts.runners.names import POOL as RUNNER_POOL
from physical_ai.settings import Loaded
from physical_ai.settings.secrets import Secrets


@dataclass
class InstalledParts:
    """The parts of a stack that are declared so far, with their resources.

    Attributes:
        by_name: components by the name of the part; the GPU Operator's component is among them.
    """

    parent: Parent
    loaded: Loaded
    secrets: Secrets
    subscription: str
    install: InstallTarget
    azure: AzureResources | None
    by_name: dict[str, ChartPart | GpuOperator] = field(default_factory=dict[str, ChartPart | GpuOperator])

    def declare(self, stage: Stage) -> Mapping[str, ChartPart]:
        """Declares the stack's parts that belong to the stage `stage`, and returns them by name."""
        wanted = [part for part in PARTS if part.stage == stage and part.name in self.loaded.plan.parts]
        declared: dict[str, ChartPart] = {}
        for part in wanted:
            declared[part.name] = self.by_name[part.name] = self._declared(part)
        return declared

    def offering(self) -> list[ChartPart | GpuOperator]:
        """Components that must be installed before nodes offer GPUs: the GPU Operator, and parts such as AMD's GPU
        Operator.
        """
        names = [GPU_OPERATOR, *(part.name for part in PARTS if part.offers_gpus)]
        return [self.by_name[name] for name in names if name in self.by_name]

    def releases_of(self, names: Sequence[str]) -> list[pulumi.Resource]:
        """Helm releases of the parts in `names` and of the GPU Operator. Parts that the stack does not have are left
        out.
        """
        found = (self.by_name[name] for name in names if name in self.by_name)
        return [release.resource for each in found for release in each.installed.values()]

    def ready(self, name: str) -> list[pulumi.Resource]:
        """Resources that the users of a part have to wait for; empty where the stack does not have the part."""
        part = self.by_name.get(name)
        return part.ready() if isinstance(part, ChartPart) else []

    def _declared(self, part: Part) -> ChartPart:
        args = ChartPartArgs(
            part=part,
            plan=self.loaded.plan.parts[part.name],
            settings=self.loaded.settings,
            target=self.install.target,
            namespaces=self.install.namespaces,
            secrets=self.secrets,
            after=self.releases_of(part.needs),
            azure=self._place(),
        )
        return component_of(part)(f"{self.parent.name}-{part.resource_name}", args, self.parent.protected)

    def _place(self) -> AzurePlace | None:
        if self.azure is None:
            return None
        pools = {RUNNER_POOL: self.azure.aks.runner_pool.node_pool} if self.azure.aks.runner_pool is not None else {}
        return AzurePlace(self.azure.identities, self.subscription, self.azure.aks.cluster.id, pools)
