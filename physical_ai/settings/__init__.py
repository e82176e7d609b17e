"""Settings of a stack: strict models, layers merged in order, every fault reported with file and path.

>>> load("dev-westus2").settings.pools["h100gpu"].sku
'Standard_NC40ads_H100_v5'

Secrets are in `physical_ai.settings.secrets`, the only module here that imports Pulumi.
"""

from __future__ import annotations

from physical_ai.settings.faults import Fault, SettingsError
from physical_ai.settings.layers.names import STACKS, StackName, existing
from physical_ai.settings.layers.overlay import Overlay
from physical_ai.settings.loaded import Explained, Loaded, dump
from physical_ai.settings.loading import deployed_to_azure, layers_below, load, load_config
from physical_ai.settings.models.access import Access, ClusterPrincipal
from physical_ai.settings.models.cluster import ApiAccess, Autoscaler, Cluster, Upgrades, Window
from physical_ai.settings.models.gpu import GpuOperator, Mig, Mps, OperatorDriver, Sharing, TimeSlicing, Toolkit
from physical_ai.settings.models.grid_driver import GridDriver, GridInstaller, GridPackage
from physical_ai.settings.models.monitoring import Monitoring
from physical_ai.settings.models.network import Network
from physical_ai.settings.models.node_pools import (
    MANAGED_DISK_GIB,
    Driver,
    DriverSource,
    NodePool,
    OsDisk,
    Pool,
    Priority,
    Scale,
    Spot,
    Upgrade,
)
from physical_ai.settings.models.osmo import Osmo, OsmoPlatform, OsmoTimeouts, Quota
from physical_ai.settings.models.tree import Settings

__all__ = [
    "MANAGED_DISK_GIB",
    "STACKS",
    "Access",
    "ApiAccess",
    "Autoscaler",
    "Cluster",
    "ClusterPrincipal",
    "Driver",
    "DriverSource",
    "Explained",
    "Fault",
    "GpuOperator",
    "GridDriver",
    "GridInstaller",
    "GridPackage",
    "Loaded",
    "Mig",
    "Monitoring",
    "Mps",
    "Network",
    "NodePool",
    "OperatorDriver",
    "OsDisk",
    "Osmo",
    "OsmoPlatform",
    "OsmoTimeouts",
    "Overlay",
    "Pool",
    "Priority",
    "Quota",
    "Scale",
    "Settings",
    "SettingsError",
    "Sharing",
    "Spot",
    "StackName",
    "TimeSlicing",
    "Toolkit",
    "Upgrade",
    "Upgrades",
    "Window",
    "deployed_to_azure",
    "dump",
    "existing",
    "layers_below",
    "load",
    "load_config",
]
