"""The part of a platform that gives GPUs by resource claims."""

from __future__ import annotations

from components.gpu.dra_driver import DraDriver, DraDriverArgs
from components.gpu.operator import GpuOperator
from components.platform.common import Common, InstallTarget
from physical_ai.planning.claims import claim_objects
from physical_ai.settings.facts.gpu import OPERATOR_NAMESPACE


def declare_dra_driver(common: Common, install: InstallTarget, operator: GpuOperator) -> DraDriver | None:
    """Declares the DRA driver; None in a stack without a pool whose GPUs are claimed."""
    plan, settings = common.plan.dra, common.settings
    if plan is None:
        return None
    args = DraDriverArgs(
        target=install.target,
        namespace=install.namespaces[OPERATOR_NAMESPACE],
        charts=settings.charts.source,
        plan=plan,
        objects=claim_objects(settings),
        after=operator.releases,
    )
    return DraDriver(f"{common.name}-dra-driver", args, common.protected)
