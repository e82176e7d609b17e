"""What a stack may configure: strict models, layers merged in order, every fault reported with file and path.

>>> load("dev-westus2").settings.pools["h100gpu"].sku
'Standard_NC40ads_H100_v5'

Secrets live in `settings.secrets`, the only module here that imports Pulumi.
"""

from __future__ import annotations

from settings.faults import Fault, SettingsError
from settings.loading import Explained, Loaded, dump, from_config, load, load_config
from settings.model import (
    Access,
    ApiAccess,
    Autoscaler,
    Cluster,
    ClusterAdmin,
    Driver,
    DriverSource,
    Monitoring,
    Network,
    NodePool,
    OsDisk,
    Pool,
    Priority,
    Scale,
    Settings,
    Spot,
    Upgrade,
    Upgrades,
    Window,
)
from settings.names import STACKS, StackName, existing
from settings.overlay import Overlay

__all__ = [
    "STACKS",
    "Access",
    "ApiAccess",
    "Autoscaler",
    "Cluster",
    "ClusterAdmin",
    "Driver",
    "DriverSource",
    "Explained",
    "Fault",
    "Loaded",
    "Monitoring",
    "Network",
    "NodePool",
    "OsDisk",
    "Overlay",
    "Pool",
    "Priority",
    "Scale",
    "Settings",
    "SettingsError",
    "Spot",
    "StackName",
    "Upgrade",
    "Upgrades",
    "Window",
    "dump",
    "existing",
    "from_config",
    "load",
    "load_config",
]
