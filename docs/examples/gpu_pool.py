"""A pool of H100 nodes, with the labels and taints by which the GPU software finds them."""

from __future__ import annotations

import pulumi
from own_cluster import cluster, group

from components.existing_aks import Driver, DriverSource, GpuPool, GpuPoolArgs, OsDisk, Pool, Scale

h100 = Pool(
    sku="Standard_NC40ads_H100_v5",
    scale=Scale(count=1),
    driver=Driver(source=DriverSource.OPERATOR),  # the GPU Operator installs it, not AKS
    os_disk=OsDisk(type="Managed", size_gb=512),
)
nodes = GpuPool(
    "h100",
    GpuPoolArgs(
        name="h100",
        pool=h100,
        resource_group_name=group.name,
        cluster=cluster,
        kubernetes_version="1.36",
    ),
)
pulumi.export("pool", nodes.node_pool.name)
