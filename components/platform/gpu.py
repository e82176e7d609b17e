"""The GPU stack: what makes the GPUs of all pools usable, and the gate that waits for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pulumi

from components.gates.gpu_gate import GpuGate
from components.kubernetes.charts import Installs
from components.platform.claims import declare_dra_driver
from components.platform.cluster import (
    declare_evidence,
    declare_gpu_gate,
    declare_gpu_operator,
    declare_grid_driver,
)
from components.platform.common import Common, InstallTarget
from components.platform.parts import InstalledParts
from parts.part import GPU_OPERATOR


@dataclass(frozen=True)
class GpuStack:
    """`parts` are those with releases of their own; the gate reports what each pool offers."""

    parts: Sequence[Installs]
    gate: GpuGate


def declare_gpu_stack(
    common: Common,
    install: InstallTarget,
    *,
    settled: Sequence[pulumi.Input[str]],
    parts: InstalledParts,
) -> GpuStack:
    """Declares the GPU software that the settings ask for, in the order in which a node needs it.

    Args:
        parts: Where the optional parts are declared.
        settled: Known when all nodes have the labels and taints of their pools.
    """
    driver = declare_grid_driver(common, install)
    declare_evidence(common, install)
    operator = declare_gpu_operator(common, install, driver)
    claims = declare_dra_driver(common, install, operator)
    parts.by_name[GPU_OPERATOR] = operator
    parts.declare("gpus")
    others = [each for each in (claims,) if each is not None]
    gate = declare_gpu_gate(common, install, [*parts.offering(), *others], settled)
    return GpuStack(others, gate)
