"""The GRID driver alone, for vGPU nodes of a cluster whose GPU Operator is somebody else's."""

from __future__ import annotations

import pulumi
from own_cluster import cluster, group, target

from components.existing_aks import (
    Driver,
    DriverSource,
    GpuPool,
    GpuPoolArgs,
    GridDriverAgent,
    GridDriverAgentArgs,
    Pool,
    Scale,
)

rtx = Pool(sku="Standard_NC144ds_xl_RTXPRO6000BSE_v6", scale=Scale(count=1), driver=Driver(source=DriverSource.GRID))
nodes = GpuPool(
    "rtx",
    GpuPoolArgs(name="rtx", pool=rtx, resource_group_name=group.name, cluster=cluster, kubernetes_version="1.36"),
)
agent = GridDriverAgent("grid", GridDriverAgentArgs(cluster=target, pools={"rtx": rtx}))
pulumi.export("agent", agent.daemon_set.metadata.name)
