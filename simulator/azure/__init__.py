"""The simulated Azure Resource Manager and AKS: as strict as the real ones, with their state in one file.

`Cloud` is the simulated Azure, `AzureNative` the provider through which the Pulumi engine calls it.
"""

from __future__ import annotations

from simulator.azure.arm import ArmEndpoint
from simulator.azure.clock import ModelClock
from simulator.azure.cloud import Cloud
from simulator.azure.cluster_host import ClusterHost
from simulator.azure.errors import ArmError, Refusal
from simulator.azure.offers import CatalogOffers
from simulator.azure.provider import AzureNative, Caller
from simulator.azure.state import Directory, StandingRole

__all__ = [
    "ArmEndpoint",
    "ArmError",
    "AzureNative",
    "Caller",
    "CatalogOffers",
    "Cloud",
    "ClusterHost",
    "Directory",
    "ModelClock",
    "Refusal",
    "StandingRole",
]
