"""Storage and load balancer of a cluster without a cloud, as a part of the platform."""

from __future__ import annotations

from parts.cluster_services.plan import OWNED, cluster_services_plan
from parts.cluster_services.rules import check_cluster_services
from parts.part import Part

PART = Part(
    name="cluster_services",
    title="Longhorn, and MetalLB with `loadBalancer.metallb`",
    setting=("storage", "longhorn"),
    resource_type="physical-ai:kubernetes:ClusterServices",
    resource_name="services",
    owned=OWNED,
    wanted=lambda settings: settings.storage.longhorn is not None or settings.load_balancer.metallb is not None,
    plan=cluster_services_plan,
    stage="cluster",
    rules=(check_cluster_services,),
    privileged={
        "longhorn-system": "its Pods mount disks of the node",
        "metallb-system": "its speaker answers on the network of the node",
    },
)
