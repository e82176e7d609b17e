"""The GPU stack: what makes the GPUs of all pools usable, and the gate that waits for them."""

from __future__ import annotations

from collections.abc import Sequence

import pulumi

from components.gates.gpu_gate import GpuGate
from components.platform.cluster import (
    declare_evidence,
    declare_gpu_gate,
    declare_gpu_operator,
    declare_grid_driver,
)
from components.platform.common import Common, InstallTarget
from components.platform.parts import InstalledParts
from parts.part import GPU_OPERATOR


def declare_gpu_stack(
    common: Common,
    install: InstallTarget,
    *,
    settled: Sequence[pulumi.Input[str]],
    parts: InstalledParts,
) -> GpuGate:
    """Declares the GPU software that the settings ask for, in the order in which a node needs it.

    The gate, which it returns, reports what each pool offers.

    Args:
        parts: Where the optional parts are declared.
        settled: Known when all nodes have the labels and taints of their pools.
    """
    driver = declare_grid_driver(common, install)
    declare_evidence(common, install)
    operator = declare_gpu_operator(common, install, driver)
    parts.by_name[GPU_OPERATOR] = operator
    parts.declare("gpus")
    return declare_gpu_gate(common, install, parts.offering(), settled)
