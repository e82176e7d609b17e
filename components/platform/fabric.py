"""The part of a platform that is about the network between its GPU nodes."""

from __future__ import annotations

from components.gpu.network_operator import NetworkOperator, NetworkOperatorArgs
from components.gpu.operator import GpuOperator
from components.platform.common import Common, InstallTarget
from physical_ai.catalog.network_operator import NAMESPACE as NETWORK_NAMESPACE


def declare_network_operator(common: Common, install: InstallTarget, operator: GpuOperator) -> NetworkOperator | None:
    """None in a stack without it. Node Feature Discovery is the GPU Operator's."""
    plan = common.plan.network_operator
    if plan is None:
        return None
    namespace, charts = install.namespaces[NETWORK_NAMESPACE], common.settings.charts.source
    args = NetworkOperatorArgs(
        target=install.target, namespace=namespace, plan=plan, charts=charts, after=operator.releases
    )
    return NetworkOperator(f"{common.name}-network-operator", args, common.protected)
