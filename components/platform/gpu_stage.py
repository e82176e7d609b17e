"""The GPU stack: drivers, the GPU Operator and the parts beside it, and the gate that waits for the GPUs."""

from __future__ import annotations

from collections.abc import Sequence

import pulumi

from components.gates.gpu_gate import GpuGate, GpuGateArgs
from components.gpu.evidence import GpuEvidence, GpuEvidenceArgs
from components.gpu.grid_driver import GridDriver, GridDriverArgs
from components.gpu.operator import GpuOperator, GpuOperatorArgs
from components.platform.install_target import InstallTarget
from components.platform.parent import Parent
from components.platform.parts import InstalledParts
from parts.part import GPU_OPERATOR
from physical_ai.planning.evidence_objects import evidence_objects
from physical_ai.readiness import expected_pools
from physical_ai.settings import Loaded
from physical_ai.settings.facts.gpu import OPERATOR_NAMESPACE, installs_operator


class GpuStage:
    """The GPU software that the settings ask for.

    Attributes:
        gate: component that waits for the GPUs and reports what each pool offers.
    """

    gate: GpuGate

    def __init__(
        self,
        parent: Parent,
        loaded: Loaded,
        install: InstallTarget,
        parts: InstalledParts,
        *,
        settled: Sequence[pulumi.Input[str]],
    ) -> None:
        """Declares the GPU software in the order in which a node needs it.

        Args:
            settled: Outputs that are known when all nodes have the labels and taints of their pools.
        """
        settings, plan, namespace = loaded.settings, loaded.plan, install.namespaces[OPERATOR_NAMESPACE]
        grid = GridDriver(
            f"{parent.name}-grid-driver", GridDriverArgs(install.target, namespace, plan.grid), parent.protected
        )
        if (objects := evidence_objects(settings)) is not None:
            evidence = GpuEvidenceArgs(install.target, namespace, objects)
            GpuEvidence(f"{parent.name}-gpu-evidence", evidence, parent.protected)
        operator = GpuOperatorArgs(
            target=install.target,
            namespace=namespace,
            plan=plan.gpu,
            version=settings.gpu_operator.version,
            charts=settings.charts.source,
            # The validator looks for a host's driver only once, so the agent keeps it off the node until there is a
            # driver.
            after=[grid.daemon_set] if grid.daemon_set is not None else [],
            installs=installs_operator(settings),
        )
        parts.by_name[GPU_OPERATOR] = GpuOperator(f"{parent.name}-gpu-operator", operator, parent.protected)
        parts.declare("gpus")
        gate = GpuGateArgs(
            kubeconfig=install.kubeconfig,
            expected=expected_pools(settings),
            timeout_minutes=settings.gpu_operator.gate.timeout_minutes,
            after=parts.offering(),
            settled=settled,
        )
        self.gate = GpuGate(f"{parent.name}-gpu-gate", gate, parent.unprotected)
