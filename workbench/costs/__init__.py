"""The cost of a stack per hour and month: an estimate from the catalogue's list prices. Pure functions.

>>> from physical_ai.settings import load
>>> estimate(load("dev-westus2").settings, spot_factor=0.5).pool("h100gpu").hourly.maximum
6.98
"""

from __future__ import annotations

from workbench.costs.amounts import HOURS_A_MONTH, Span
from workbench.costs.change import Change, PoolChange, between, change
from workbench.costs.deployed import deployed
from workbench.costs.estimate import STALE_DAYS, estimate
from workbench.costs.model import Basis, Estimate, NodePrice, PoolCost, PriceList
from workbench.costs.not_counted import NotCounted
from workbench.costs.services import ServiceCost

__all__ = [
    "HOURS_A_MONTH",
    "STALE_DAYS",
    "Basis",
    "Change",
    "Estimate",
    "NodePrice",
    "NotCounted",
    "PoolChange",
    "PoolCost",
    "PriceList",
    "ServiceCost",
    "Span",
    "between",
    "change",
    "deployed",
    "estimate",
]
