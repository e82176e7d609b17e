"""The shape of settings about NVIDIA's Network Operator."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from parts.network_operator.names import CHART
from parts.network_operator.network_model import NetworkName, PodNetwork
from physical_ai.settings.models.base import Model
from physical_ai.settings.models.pinned import PinnedVersion

RELEASES = PinnedVersion(CHART)
"""Pinned releases of the operator. `ofed_drivers.yaml` has the OFED driver that each was tested with."""


class NetworkOperator(Model):
    """NVIDIA Network Operator: the driver and the resources of network cards for RDMA."""

    version: Annotated[str, RELEASES] = Field(default_factory=RELEASES.newest, description="Release.")
    ofed_driver: Literal["container", "host"] = Field(
        default="container",
        description="container: the operator builds DOCA-OFED on the nodes of pools with a fabric. host: it uses the"
        " driver that the node has.",
    )
    device_plugin: Literal["shared", "sriov", "none"] = Field(
        default="shared",
        description="shared: every Pod that requests rdma/shared_ib sees all adapters of its node. sriov: each Pod has"
        " the adapters that it requests as rdma/ib. none: no resource.",
    )
    secondary_network: bool = Field(
        default=False, description="Install Multus and the CNI plugins, for further interfaces of Pods."
    )
    nv_ipam: bool = Field(default=False, description="Install nv-ipam, which gives such interfaces addresses.")
    networks: dict[NetworkName, PodNetwork] = Field(
        default_factory=dict,
        description="Networks that a Pod names in its annotation k8s.v1.cni.cncf.io/networks, for a further interface"
        " on each. They need secondaryNetwork and nvIpam.",
    )
