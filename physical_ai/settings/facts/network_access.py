"""Access from the internet in each network mode. Pure functions.

| mode | API server | data services |
|---|---|---|
| public | public address | public endpoints |
| hybrid | public address | private endpoints only |
| private | private address | private endpoints only |
"""

from __future__ import annotations

from physical_ai.settings.models.tree import Settings


def public_access(settings: Settings) -> bool:
    """True where data services (vault, storage, registry, database, cache) have public network access.

    Only the mode public has it. A service with a private endpoint still accepts the internet until its public network
    access is disabled, so both follow from this function.
    """
    return settings.azure_network is None or settings.azure_network.mode == "public"


def private_endpoints(settings: Settings) -> bool:
    """True where data services get private endpoints and private DNS zones."""
    return not public_access(settings)


def private_api_server(settings: Settings) -> bool:
    """True where the Kubernetes API server has no public address."""
    return settings.azure_network is not None and settings.azure_network.mode == "private"
