"""The gate at the end of a deployment: whether every release of the stack works."""

from __future__ import annotations

from components.gates.release_gate import ReleaseGate, ReleaseGateArgs
from components.gpu.amd_operator import AmdOperator
from components.gpu.dra_driver import DraDriver
from components.gpu.network_operator import NetworkOperator
from components.gpu.nvsentinel import Nvsentinel
from components.gpu.operator import GpuOperator
from components.kubernetes.cert_manager import CertManager
from components.kubernetes.cluster_services import ClusterServices
from components.monitoring.kube_prometheus import KubePrometheus
from components.monitoring.trace_collector import TraceCollector
from components.osmo.control_plane import ControlPlane
from components.osmo.osmo import Osmo
from components.platform.common import Common, Interior
from components.workloads.runners import Runners
from components.workloads.slurm import Slurm
from physical_ai.catalog.amd import NAMESPACE as AMD_NAMESPACE
from physical_ai.catalog.amd import RELEASE as AMD_RELEASE
from physical_ai.catalog.cert_manager import NAMESPACE as CERTIFICATES_NAMESPACE
from physical_ai.catalog.cert_manager import RELEASE as CERTIFICATES_RELEASE
from physical_ai.catalog.dra import RELEASE as DRA_RELEASE
from physical_ai.catalog.monitoring import NAMESPACE as METRICS_NAMESPACE
from physical_ai.catalog.monitoring import RELEASE as METRICS_RELEASE
from physical_ai.catalog.network_operator import NAMESPACE as NETWORK_NAMESPACE
from physical_ai.catalog.network_operator import RELEASE as NETWORK_RELEASE
from physical_ai.catalog.nvsentinel import NAMESPACE as HEALTH_NAMESPACE
from physical_ai.catalog.nvsentinel import RELEASE as HEALTH_RELEASE
from physical_ai.catalog.osmo import CONTROL_NAMESPACE
from physical_ai.catalog.osmo_service import SERVICE_RELEASE
from physical_ai.catalog.otel import NAMESPACE as TRACES_NAMESPACE
from physical_ai.catalog.otel import RELEASE as TRACES_RELEASE
from physical_ai.catalog.runners import CONTROLLER_NAMESPACE, CONTROLLER_RELEASE, SCALE_SET_RELEASE
from physical_ai.catalog.runners import NAMESPACE as RUNNERS_NAMESPACE
from physical_ai.settings.facts.gpu import OPERATOR_NAMESPACE
from physical_ai.settings.plans.gpu_operator import CHART


def declare_release_gate(
    common: Common,
    interior: Interior,
    operator: GpuOperator,
    osmo: Osmo,
    *,
    metrics: KubePrometheus | None,
    amd: AmdOperator | None,
    sentinel: Nvsentinel | None,
    traces: TraceCollector | None,
    claims: DraDriver | None,
    control_plane: ControlPlane | None,
    runners: Runners | None,
    certificates: CertManager | None,
    services: ClusterServices | None,
    network: NetworkOperator | None,
    slurm: Slurm | None,
) -> ReleaseGate:
    namespaces = {name: osmo.versions[name]["namespace"] for name in osmo.releases}
    namespaces |= {CHART: OPERATOR_NAMESPACE} if operator.releases else {}
    after = [*operator.releases, *osmo.releases.values()]
    if metrics is not None:
        namespaces[METRICS_RELEASE] = METRICS_NAMESPACE
        after.append(metrics.release)
    if network is not None:
        namespaces[NETWORK_RELEASE] = NETWORK_NAMESPACE
        after.append(network.release)
    if amd is not None:
        namespaces[AMD_RELEASE] = AMD_NAMESPACE
        after.append(amd.release)
    if sentinel is not None:
        namespaces[HEALTH_RELEASE] = HEALTH_NAMESPACE
        after.append(sentinel.release)
    if traces is not None:
        namespaces[TRACES_RELEASE] = TRACES_NAMESPACE
        after.append(traces.release)
    if claims is not None:
        namespaces[DRA_RELEASE] = OPERATOR_NAMESPACE
        after.append(claims.release)
    if control_plane is not None:
        namespaces[SERVICE_RELEASE] = CONTROL_NAMESPACE
        after.append(control_plane.release)
    if certificates is not None:
        namespaces[CERTIFICATES_RELEASE] = CERTIFICATES_NAMESPACE
        after.append(certificates.release)
    if runners is not None:
        namespaces |= {CONTROLLER_RELEASE: CONTROLLER_NAMESPACE, SCALE_SET_RELEASE: RUNNERS_NAMESPACE}
        after += runners.releases.values()
    if slurm is not None:
        namespaces |= slurm.namespaces
        after += slurm.releases.values()
    if services is not None:
        namespaces |= {plan.release: plan.namespace for plan in common.plan.services}
        after += services.releases.values()
    args = ReleaseGateArgs(interior.kubeconfig, namespaces, after)
    return ReleaseGate(f"{common.name}-release-gate", args, common.unprotected)
