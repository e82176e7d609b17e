"""A stand-in for Azure Resource Manager and AKS: as strict as the real ones, with its state in one file.

`Cloud` is the simulated Azure, `AzureNative` the provider through which the Pulumi engine calls it.
"""

from __future__ import annotations

from physical_ai.simulator.azure.arm import ArmEndpoint
from physical_ai.simulator.azure.clock import ModelClock
from physical_ai.simulator.azure.cloud import Cloud
from physical_ai.simulator.azure.cluster_host import ClusterHost
from physical_ai.simulator.azure.errors import ArmError, Refusal
from physical_ai.simulator.azure.offers import CatalogOffers
from physical_ai.simulator.azure.provider import AzureNative, Caller
from physical_ai.simulator.azure.state import Directory, StandingRole

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
