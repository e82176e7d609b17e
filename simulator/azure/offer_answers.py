"""Azure's answers with the sizes, versions and SKUs that it offers a subscription in a region. Pure functions.

Shapes: azure-rest-api-specs, Microsoft.Compute skus 2021-07-01 and usages 2024-07-01, Microsoft.ContainerService
kubernetesVersions 2025-05-01, Microsoft.DBforPostgreSQL capabilities 2024-08-01, Microsoft.Storage skus 2023-05-01.
Microsoft.Cache/skus for Azure Managed Redis is in no specification; its answer is assumed to have the form of the
Microsoft.Storage answer (urruegg/SwissHospitalCapacityPlatform, ADR-0028 of 2026-07-13).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from simulator.azure.bodies import Json
from simulator.azure.data import load_json, tables
from simulator.azure.own_facts import POSTGRES_SIZES, POSTGRES_TIERS, POSTGRES_VERSIONS
from simulator.azure.places import Region, quota_family, regions, vcpus
from simulator.azure.rules.postgres_regions import generation_of, offered
from simulator.azure.rules.quota import LOW_PRIORITY, REGIONAL, used_by_others
from simulator.azure.state import AzureState

UNAVAILABLE = "NotAvailableForSubscription"
"""Azure's reason for a size that the region has and the subscription may not use."""
EDITIONS: Mapping[str, str] = {tier: tier for tier in ("Burstable", "GeneralPurpose", "MemoryOptimized")}
REDIS_VERSION = "2025-07-01"


def sizes(azure: AzureState, region: Region) -> Iterator[Json]:
    """Descriptions of a region's VM sizes, in the form of the Compute SKU API."""
    restricted = azure.restrictions.restricted
    for name in sorted(region.sizes):
        row = azure.offers.size(name)
        described: dict[str, Any] = {"vCPUs": str(vcpus(name)), **azure.offers.capabilities(name)}
        if row is not None:
            described |= {"MemoryGB": f"{row.memory_gib:g}", "LowPriorityCapable": str(row.low_priority)}
            described |= {"GPUs": f"{row.gpu.count:g}"} if row.gpu is not None else {}
        yield {
            "resourceType": "virtualMachines",
            "name": name,
            "tier": "Standard",
            "size": name.removeprefix("Standard_"),
            "family": quota_family(name),
            "locations": [region.name],
            "locationInfo": [{"location": region.name, "zones": list(region.zones), "zoneDetails": []}],
            "capabilities": [{"name": key, "value": value} for key, value in described.items()],
            "restrictions": [_restriction(region.name, restricted[name])] if name in restricted else [],
        }


def _restriction(region: str, zones: Collection[str]) -> Json:
    info: Json = {"locations": [region], **({"zones": sorted(zones)} if zones else {})}
    kind = "Zone" if zones else "Location"
    return {"type": kind, "values": [region], "restrictionInfo": info, "reasonCode": UNAVAILABLE}


def vcpu_usages(azure: AzureState, region: str) -> Iterator[Json]:
    """Usages of vCPU quotas, without families that the subscription may not use (as in a public record of
    2026-08-13).
    """
    used = used_by_others("", region, azure)
    families: Mapping[str, Any] = load_json("quota_families.json")
    for name in (REGIONAL, LOW_PRIORITY, *families):
        if name not in azure.restrictions.unentitled:
            yield usage(name, used[name], azure.limit(name))


def usage(name: str, used: int, most: int) -> Json:
    return {"name": {"value": name, "localizedValue": name}, "currentValue": used, "limit": most, "unit": "Count"}


def kubernetes_versions() -> list[Json]:
    """Minor versions with their patches and support plans, newest first."""
    table: dict[str, Any] = load_json("kubernetes_versions.json")
    plans = ["KubernetesOfficial", "AKSLongTermSupport"]
    given = {minor: (patches, plans) for minor, patches in table["patches"].items()}
    given |= {minor: (table["retired"][minor], plans[1:]) for minor in table["longTerm"]}
    return [
        {
            "version": minor,
            "capabilities": {"supportPlan": of},
            "isPreview": None,
            **({"isDefault": True} if minor == table["default"] else {}),
            "patchVersions": {patch: {"upgrades": patches[place + 1 :]} for place, patch in enumerate(patches)},
        }
        for minor, (patches, of) in sorted(given.items(), reverse=True)
    ]


def postgres(azure: AzureState, region: str) -> Json:
    """PostgreSQL's capabilities in a region. Azure answers with a list that has only this element."""
    found = offered(region, azure)
    zonal = found.get("zoneRedundantHaSupported", "Enabled")
    have: list[int] = found.get("generations", [])
    names = sorted(each for each in POSTGRES_SIZES if not have or generation_of(each) in (None, *have))
    modes = ["SameZone", "ZoneRedundant"] if zonal == "Enabled" else ["SameZone"]
    return {
        "name": "FlexibleServerCapabilities",
        "supportedServerEditions": [
            {
                "name": edition,
                "supportedServerSkus": [
                    {"name": name, "supportedHaMode": [] if edition == "Burstable" else modes}
                    for name in names
                    if POSTGRES_TIERS.get(name.removeprefix("Standard_")[:1]) == edition
                ],
            }
            for edition in EDITIONS
        ],
        "supportedServerVersions": [{"name": each, "supportedVersionsToUpgrade": []} for each in POSTGRES_VERSIONS],
        "restricted": found.get("restricted", "Disabled"),
        "zoneRedundantHaSupported": zonal,
        "geoBackupSupported": found.get("geoBackupSupported", "Enabled"),
        "zoneRedundantHaAndGeoBackupSupported": found.get("zoneRedundantHaAndGeoBackupSupported", zonal),
    }


def storage(azure: AzureState) -> Iterator[Json]:
    """Descriptions of storage SKUs: one for each region, kind of account, and redundancy."""
    kinds: dict[str, dict[str, Any]] = load_json("storage_skus.json")
    for region in regions().values():
        for kind, row in kinds.items():
            for name in row["skus"]:
                if name not in azure.restrictions.absent and (region.zones or "ZRS" not in name):
                    yield {**_sku("storageAccounts", name, region.name), "kind": kind}


def redis(azure: AzureState) -> Iterator[Json]:
    """Descriptions of Azure Managed Redis: one for each region and size."""
    names: list[str] = tables.table("RedisEnterprise", REDIS_VERSION)["sku.name"]["enum"]
    for region in regions().values():
        for name in names:
            if name not in azure.restrictions.absent:
                yield _sku("redisEnterprise", name, region.name)


def _sku(kind: str, name: str, region: str) -> Json:
    tier = name.partition("_")[0]
    return {"resourceType": kind, "name": name, "tier": tier, "locations": [region], "restrictions": []}
