"""Component of the AMD GPU Operator: the objects to which its DeviceConfigs refer, its release, and a DeviceConfig for
each pool of AMD's GPUs.
"""

from __future__ import annotations

from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes

from components.kubernetes.chart_part import ChartPart
from parts.amd.names import API_VERSION, DOCKER_CONFIG, KIND, NAMESPACE, REGISTRY_SECRET
from parts.amd.plan import RELEASE, AmdPlan
from physical_ai.telemetry.amd_counters import CONFIG_MAP


class AmdOperator(ChartPart):
    """AMD's GPU Operator and its DeviceConfigs. The DeviceConfigs are deleted before the operator, because only the
    running operator removes their finalizer.

    The release's CRDs remain when it is deleted.
    """

    def before(self) -> list[pulumi.Resource]:
        """Declares the registry's login and the exporter's fields, and returns an empty list: only the DeviceConfigs,
        not the release, depend on them.
        """
        plan, spaces = self._plan(), self.namespaces(NAMESPACE)
        registry = kubernetes.core.v1.Secret(
            f"{self.name}-registry",
            metadata={"name": REGISTRY_SECRET, "namespace": NAMESPACE},
            type=f"kubernetes.io/{DOCKER_CONFIG.removeprefix('.')}",
            string_data={DOCKER_CONFIG: self.args.secrets[plan.login.secret].apply(plan.login.document)},
            opts=self.options(spaces),
        )
        fields = kubernetes.core.v1.ConfigMap(
            f"{self.name}-exporter",
            metadata={"name": CONFIG_MAP, "namespace": NAMESPACE},
            data=plan.exporter,
            opts=self.options(spaces),
        )
        self._referred = [registry, fields]
        return []

    def after(self) -> None:
        """Declares a DeviceConfig for each pool."""
        for pool, spec in self._plan().configs.items():
            kubernetes.apiextensions.CustomResource(
                f"{self.name}-{pool}",
                api_version=API_VERSION,
                kind=KIND,
                metadata={"name": pool, "namespace": NAMESPACE},
                spec={**spec, "selector": self.known_after(RELEASE, spec["selector"])},
                opts=self.options([self.releases[RELEASE], *self._referred]),
            )

    def reported(self) -> dict[str, Any]:
        """Outputs of the component: the version, and the names of the pools."""
        return {**super().reported(), "pools": sorted(self._plan().configs)}

    def _plan(self) -> AmdPlan:
        assert isinstance(self.args.plan, AmdPlan)  # the part's own plan
        return self.args.plan


COMPONENT = AmdOperator
