"""The part of a platform that is inside the cluster: namespaces, the GPU stack, OSMO, and the gates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pulumi

from components.azure.workload_identity import IdentityPlace
from components.gates.gpu_gate import GpuGate, GpuGateArgs
from components.gpu.acceptance import Acceptance, AcceptanceArgs
from components.gpu.admission import GpuAdmission
from components.gpu.evidence import GpuEvidence, GpuEvidenceArgs
from components.gpu.grid_driver import GridDriver, GridDriverArgs
from components.gpu.operator import GpuOperator, GpuOperatorArgs
from components.kubernetes.drift_reader import DriftReader, DriftReaderArgs
from components.kubernetes.isolation import Isolation, IsolationArgs
from components.kubernetes.namespaces import Namespaces, NamespacesArgs
from components.kubernetes.registry_images import RegistryImages, RegistryImagesArgs
from components.monitoring.container_logs import ContainerLogs, ContainerLogsArgs
from components.monitoring.scraping import Scraping, ScrapingArgs
from components.osmo.control_plane import ControlPlane
from components.osmo.osmo import Osmo, OsmoArgs
from components.osmo.osmo_token import VaultLogin
from components.platform.common import Common, InstallTarget
from components.platform.target_cluster import TargetCluster
from physical_ai.planning.acceptance import declared_jobs
from physical_ai.planning.drift_reader import drift_reader_objects
from physical_ai.planning.evidence_objects import evidence_objects
from physical_ai.planning.isolation import isolation_objects
from physical_ai.planning.namespaces import not_needed, used
from physical_ai.planning.osmo_service import values_files
from physical_ai.planning.osmo_token import osmo_token_objects
from physical_ai.planning.registry_images import registry_policies
from physical_ai.readiness import expected_pools
from physical_ai.settings import Settings
from physical_ai.settings.facts.gpu import OPERATOR_NAMESPACE, installs_operator


def declare_install_target(common: Common, cluster: TargetCluster) -> InstallTarget:
    target = cluster.target
    policies = registry_policies(common.settings, common.subscription)
    if policies:
        args = RegistryImagesArgs(target, policies)
        first = RegistryImages(f"{common.name}-registry-images", args, common.protected)
        target = replace(target, after=[*target.after, *first.declared])
    created = Namespaces(
        f"{common.name}-namespaces",
        NamespacesArgs(target, not_needed(common.plan), used(common.settings)),
        common.protected,
    )
    return InstallTarget(cluster.kubeconfig, target, created.namespaces)


def declare_isolation(common: Common, install: InstallTarget) -> None:
    """Declares the network policies, except in a stack whose platform namespaces keep their network."""
    policies = isolation_objects(common.settings, install.namespaces)
    if policies:
        args = IsolationArgs(install.target, policies, list(install.namespaces.values()))
        Isolation(f"{common.name}-isolation", args, common.protected)


def declare_drift_reader(common: Common, install: InstallTarget) -> None:
    args = DriftReaderArgs(
        install.target, drift_reader_objects(common.settings.access, claims="dra" in common.plan.parts)
    )
    DriftReader(f"{common.name}-drift-reader", args, common.unprotected)


def declare_scraping(common: Common, install: InstallTarget, kinds: Sequence[pulumi.Resource]) -> None:
    """Declares the scraping of metrics, except in a stack without a collector.

    Args:
        kinds: Releases that bring the kinds of monitors.
    """
    if common.settings.monitoring.is_measured:
        args = ScrapingArgs(install.target, common.settings, [*install.namespaces.values(), *kinds])
        Scraping(f"{common.name}-scraping", args, common.protected)


def declare_container_logs(common: Common, install: InstallTarget) -> None:
    """Declares the collection of containers' output, except in a stack that keeps none."""
    logs = common.settings.monitoring.container_logs
    if logs is not None:
        ContainerLogs(f"{common.name}-container-logs", ContainerLogsArgs(install.target, logs), common.protected)


def declare_acceptance(common: Common, install: InstallTarget) -> None:
    """Declares the checks of nodes, except in a stack without any."""
    objects = declared_jobs(common.settings)
    if objects:
        args = AcceptanceArgs(install.target, install.namespaces[OPERATOR_NAMESPACE], objects)
        Acceptance(f"{common.name}-acceptance", args, common.unprotected)


def declare_grid_driver(common: Common, install: InstallTarget) -> GridDriver:
    args = GridDriverArgs(install.target, install.namespaces[OPERATOR_NAMESPACE], common.plan.grid)
    return GridDriver(f"{common.name}-grid-driver", args, common.protected)


def declare_evidence(common: Common, install: InstallTarget) -> None:
    objects = evidence_objects(common.settings)
    if objects is not None:
        args = GpuEvidenceArgs(install.target, install.namespaces[OPERATOR_NAMESPACE], objects)
        GpuEvidence(f"{common.name}-gpu-evidence", args, common.protected)


def declare_gpu_operator(common: Common, install: InstallTarget, driver: GridDriver) -> GpuOperator:
    # The validator looks for a host's driver once: the agent keeps it off the node until there is one.
    after = [driver.daemon_set] if driver.daemon_set is not None else []
    settings = common.settings
    args = GpuOperatorArgs(
        target=install.target,
        namespace=install.namespaces[OPERATOR_NAMESPACE],
        plan=common.plan.gpu,
        version=settings.gpu_operator.version,
        charts=settings.charts.source,
        after=after,
        installs=installs_operator(settings),
    )
    return GpuOperator(f"{common.name}-gpu-operator", args, common.protected)


def declare_gpu_gate(
    common: Common, install: InstallTarget, operators: Sequence[pulumi.Resource], settled: Sequence[pulumi.Input[str]]
) -> GpuGate:
    return GpuGate(
        f"{common.name}-gpu-gate",
        GpuGateArgs(
            kubeconfig=install.kubeconfig,
            expected=expected_pools(common.settings),
            timeout_minutes=common.settings.gpu_operator.gate.timeout_minutes,
            after=list(operators),
            settled=settled,
        ),
        common.unprotected,
    )


def declare_osmo(
    common: Common,
    identities: IdentityPlace | None,
    install: InstallTarget,
    admission: GpuAdmission,
    *,
    control_plane: ControlPlane | None,
    token_login: VaultLogin | None,
    served: Sequence[Settings],
) -> Osmo:
    return Osmo(
        f"{common.name}-osmo",
        OsmoArgs(
            target=install.target,
            settings=common.settings,
            backend=common.backend,
            secrets=common.secrets,
            names=common.names,
            identities=identities,
            kubeconfig=install.kubeconfig,
            namespaces=install.namespaces,
            service_values=values_files(common.settings, served),
            admission=[admission],
            token=osmo_token_objects(common.settings, served),
            token_login=token_login,
            service=[control_plane.release] if control_plane is not None else [],
        ),
        common.protected,
    )
