"""AMD's GPUs in a stack's cluster."""

from __future__ import annotations

from components.gpu.amd_operator import AmdOperator, AmdOperatorArgs
from components.gpu.operator import GpuOperator
from components.kubernetes.cert_manager import CertManager
from components.platform.common import Common, InstallTarget
from physical_ai.catalog.amd import NAMESPACE


def declare_amd_operator(
    common: Common, install: InstallTarget, operator: GpuOperator, certificates: CertManager | None
) -> AmdOperator | None:
    """None in a stack without `amdGpuOperator`. The webhook of its release needs cert-manager, which others may have
    installed."""
    plan = common.plan.amd
    if plan is None:
        return None
    args = AmdOperatorArgs(
        target=install.target,
        namespace=install.namespaces[NAMESPACE],
        plan=plan,
        charts=common.settings.charts.source,
        secrets=common.secrets,
        after=[*operator.releases, *([certificates.release] if certificates is not None else [])],
    )
    return AmdOperator(f"{common.name}-amd-operator", args, common.protected)
