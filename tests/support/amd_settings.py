"""Committed stack to which a pool of AMD's GPUs is added."""

from __future__ import annotations

from typing import Any

from parts.amd.plan import AmdPlan
from physical_ai.settings import Loaded, Overlay, Settings, load

STACK = "prod-swedencentral"
MI300X = "Standard_ND96isr_MI300X_v5"
POOL: dict[str, Any] = {
    "sku": MI300X,
    "driver": {"source": "operator"},
    "scale": {"count": 1},
    "subnet": "10.43.8.0/26",
}


def mixed(*assignments: str, **pool: Any) -> Loaded:
    """Stack with the pool `mi300x`, and with the settings that `assignments` set."""
    overlay = Overlay("the test", {"pools": {"mi300x": {**POOL, **pool}}})
    return load(STACK, [overlay, Overlay.assign(assignments)])


def mixed_settings(*assignments: str, **pool: Any) -> Settings:
    return supplied(*assignments, **pool).settings


OPERATOR = (
    'amdGpuOperator={driver: {version: "6.4.3", image: contoso.azurecr.io/amd/driver,'
    " registryUser: drivers, registrySecret: amdRegistry}}"
)
"""Setting that a pool of AMD's GPUs needs: the driver of AMD's operator."""


def supplied(*assignments: str, **pool: Any) -> Loaded:
    """Stack with the pool `mi300x` and with AMD's operator."""
    return mixed(OPERATOR, *assignments, **pool)


def planned(*assignments: str, **pool: Any) -> AmdPlan:
    """Part of the plan that installs AMD's operator, in a stack with the pool and the operator."""
    plan = supplied(*assignments, **pool).plan.parts["amd"]
    assert isinstance(plan, AmdPlan)
    return plan


GIVEN: dict[str, Any] = {
    "charts": {"source": "repository"},
    "pools": {"mi300x": POOL},
    "amdGpuOperator": {
        "driver": {
            "version": "6.4.3",
            "image": "contoso.azurecr.io/amd/driver",
            "registryUser": "drivers",
            "registrySecret": "amdRegistry",
        }
    },
    "secrets": {"amdRegistry": "word"},
}
"""Settings with the pool, AMD's operator and its secret, for runs of the program. Charts come from their repositories,
since no chart is pulled.
"""
