"""Resources in the cluster before the GPU stack: optional parts, collection of metrics and logs, admission, checks."""

from __future__ import annotations

from components.gpu.acceptance import Acceptance, AcceptanceArgs
from components.gpu.admission import GpuAdmission, GpuAdmissionArgs
from components.kubernetes.autoscaler_order import AutoscalerOrder, AutoscalerOrderArgs
from components.monitoring.container_logs import ContainerLogs, ContainerLogsArgs
from components.monitoring.scraping import Scraping, ScrapingArgs
from components.platform.install_target import InstallTarget
from components.platform.parent import Parent
from components.platform.parts import InstalledParts
from parts.registry import PARTS
from physical_ai.planning.acceptance import declared_jobs
from physical_ai.planning.autoscaler import priority_expander
from physical_ai.planning.gpu_admission import policies
from physical_ai.planning.gpu_nodes import gpu_node_policies
from physical_ai.planning.node_admission import node_policies
from physical_ai.planning.part_plans import part_policies
from physical_ai.planning.pod_security import pod_security_policies
from physical_ai.settings import Settings
from physical_ai.settings.facts.gpu import OPERATOR_NAMESPACE


class ClusterStage:
    """The parts that are installed before the GPU stack, and the resources for monitoring, admission and checks that
    the settings ask for.

    Attributes:
        admission: the admission policies, which must exist before OSMO starts a Pod.
    """

    admission: GpuAdmission

    def __init__(self, parent: Parent, settings: Settings, install: InstallTarget, parts: InstalledParts) -> None:
        parts.declare("cluster")
        if settings.monitoring.is_measured:
            # Where Prometheus is in the cluster, its release brings the kinds of the monitors.
            kinds = parts.releases_of(("kube_prometheus",))
            scraping = ScrapingArgs(install.target, settings, [*install.all_namespaces, *kinds])
            Scraping(f"{parent.name}-scraping", scraping, parent.protected)
        if (logs := settings.monitoring.container_logs) is not None:
            ContainerLogs(f"{parent.name}-container-logs", ContainerLogsArgs(install.target, logs), parent.protected)
        if order := priority_expander(settings):
            AutoscalerOrder(f"{parent.name}-autoscaler", AutoscalerOrderArgs(install.target, order), parent.protected)
        declared = [
            *policies(settings),
            *gpu_node_policies(settings),
            *pod_security_policies(settings),
            *node_policies(settings),
            *(policy for part in PARTS for policy in part_policies(part, settings)),
        ]
        admission = GpuAdmissionArgs(install.target, declared, install.all_namespaces)
        self.admission = GpuAdmission(f"{parent.name}-gpu-admission", admission, parent.protected)
        if jobs := declared_jobs(settings):
            checks = AcceptanceArgs(install.target, install.namespaces[OPERATOR_NAMESPACE], jobs)
            Acceptance(f"{parent.name}-acceptance", checks, parent.unprotected)
