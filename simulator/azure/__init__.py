"""A stand-in of Azure Resource Manager and AKS: as strict as the real ones, kept in one file.

`Cloud` is what Azure knows and does, `AzureNative` the provider through which the Pulumi engine talks to it.
"""

from __future__ import annotations

from simulator.azure.clock import ModelClock
from simulator.azure.cloud import Cloud
from simulator.azure.cluster_host import ClusterHost
from simulator.azure.errors import ArmError, Refusal
from simulator.azure.offers import CatalogOffers
from simulator.azure.provider import AzureNative
from simulator.azure.violations import violations
from simulator.azure.world import Directory

__all__ = [
    "ArmError",
    "AzureNative",
    "CatalogOffers",
    "Cloud",
    "ClusterHost",
    "Directory",
    "ModelClock",
    "Refusal",
    "violations",
]
