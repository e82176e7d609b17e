"""A Slurm cluster as part of a platform."""

from __future__ import annotations

from components.gpu.operator import GpuOperator
from components.platform.common import Common, InstallTarget
from components.workloads.slurm import Slurm, SlurmArgs
from physical_ai.catalog.slurm import NAMESPACE, OPERATOR_NAMESPACE


def declare_slurm(common: Common, install: InstallTarget, operator: GpuOperator) -> Slurm | None:
    """None in a stack without a Slurm cluster."""
    if common.plan.slurm is None:
        return None
    args = SlurmArgs(
        target=install.target,
        namespaces={name: install.namespaces[name] for name in (OPERATOR_NAMESPACE, NAMESPACE)},
        plan=common.plan.slurm,
        charts=common.settings.charts.source,
        # The Pods of slurmd ask for the GPUs that its device plugin offers.
        after=operator.releases,
    )
    return Slurm(f"{common.name}-slurm", args, common.protected)
