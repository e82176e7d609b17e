"""ARM's and AKS's rules that are in no schema, as pure functions over a request and Azure's state."""

from __future__ import annotations

import importlib
import pkgutil

from simulator.azure.rules.base import Delete, Put, Request, refusals

__all__ = ["Delete", "Put", "Request", "refusals"]

for _module in pkgutil.iter_modules(__path__, f"{__name__}."):
    importlib.import_module(_module.name)  # each registers its rules; the order does not affect `refusals`
