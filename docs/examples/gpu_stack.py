"""The GPU Operator with a driver for each pool; the deployment ends when the nodes offer their GPUs."""

from __future__ import annotations

from dataclasses import replace

import pulumi
from gpu_pool import h100, nodes
from own_cluster import target

from components.existing_aks import GpuStack, GpuStackArgs

stack = GpuStack(
    "gpus",
    GpuStackArgs(
        cluster=replace(target, after=[nodes.node_pool]),
        pools={"h100": h100},
        operator_version="v26.7.1",
        timeout_minutes=30,
    ),
)
pulumi.export("gpus", stack.gpus)
