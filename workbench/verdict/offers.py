"""Findings about resource types that Azure does not offer in the stack's region, zones or API version, and about limits
on the number of resources. Pure functions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence

from physical_ai.findings import Finding, Severity
from physical_ai.subscription.answers import TypeOffer
from workbench.verdict.model import Subject

OFFER, COUNT, SOURCE = "offer", "count", "Azure"
COUNTED: Mapping[str, tuple[str, ...]] = {
    "Microsoft.Network/publicIPAddresses": ("StandardSkuPublicIpAddresses", "PublicIPAddresses"),
    "Microsoft.Network/virtualNetworks": ("VirtualNetworks",),
    "Microsoft.Network/networkSecurityGroups": ("NetworkSecurityGroups",),
    "Microsoft.Network/routeTables": ("RouteTables",),
    "Microsoft.Network/natGateways": ("NatGateways",),
    "Microsoft.Network/virtualNetworkGateways": ("VirtualNetworkGateways",),
    "Microsoft.Network/privateEndpoints": ("PrivateEndpoints",),
    "Microsoft.Storage/storageAccounts": ("StorageAccounts",),
    "Microsoft.ContainerService/managedClusters": ("ManagedClusters", "managedClusters", "ManagedCluster"),
}
"""Names under which Azure's usage lists may count the resources of a type, by ARM type."""


def offer_findings(subjects: Sequence[Subject], offers: Mapping[str, TypeOffer]) -> Iterator[Finding]:
    """Findings about each resource type. `offers` has Azure's offers by type in lower case; a type without an offer is
    skipped.
    """
    by_type: dict[str, list[Subject]] = {}
    for each in subjects:
        by_type.setdefault(each.arm_type, []).append(each)
    good = 0
    for kind, found in by_type.items():
        offer = offers.get(kind.lower())
        bad = list(_against(kind, found, offer)) if offer is not None else []
        yield from bad
        good += offer is not None and not bad
    if good:
        text = "Azure has them in the region, in the zones and in the versions that are sent"
        yield Finding(Severity.OK, OFFER, f"{good} types", text, None, SOURCE)


def _against(kind: str, found: Sequence[Subject], offer: TypeOffer) -> Iterator[Finding]:
    for region in sorted({_plain(str(each.body["location"])) for each in found if "location" in each.body}):
        places = {_plain(each) for each in offer.locations}
        if places and region not in places | {"global"}:
            near = ", ".join(sorted(places)[:8])
            fix = f"It is in {near}{' and others' if len(places) > 8 else ''}: another region, or switch the part off."
            yield Finding(Severity.ERROR, OFFER, kind, f"Azure does not have it in {region}.", fix, SOURCE)
        zones = {_plain(place): has for place, has in offer.zones.items()}.get(region)
        asked = {str(zone) for each in found for zone in each.body.get("zones") or ()}
        if zones is not None and asked - set(zones):
            problem = f"In {region} Azure has it in zones {', '.join(zones) or 'none'}, not {', '.join(sorted(asked))}."
            yield Finding(Severity.ERROR, OFFER, kind, problem, "Other zones, or another region.", SOURCE)
    for version in sorted({each.api_version for each in found}):
        if offer.versions and version not in offer.versions:
            problem = f"Azure does not serve {version} of it; the newest is {max(offer.versions)}."
            fix = "Upgrade pulumi-azure-native to a release that sends a version that Azure serves."
            yield Finding(Severity.ERROR, OFFER, kind, problem, fix, SOURCE)


def count_findings(
    subjects: Sequence[Subject], usages: Mapping[str, tuple[int, int]], region: str, existing: Collection[str] = ()
) -> Iterator[Finding]:
    """Findings about Azure's limits on the number of resources in a region.

    Args:
        usages: Number in use and limit, by the name of the usage.
        existing: Ids of resources that exist already, and so need no further room.
    """
    there = {each.lower() for each in existing}
    needs = Counter(each.arm_type for each in subjects if each.resource_id.lower() not in there)
    rows = {name.lower(): (name, *numbers) for name, numbers in usages.items()}
    good: list[str] = []
    of = [(kind, rows[name.lower()]) for kind, names in COUNTED.items() for name in names if name.lower() in rows]
    for kind, (name, used, most) in dict.fromkeys(of):
        if not needs[kind]:
            continue
        free = max(most - used, 0)
        if most < 0 or free >= needs[kind]:
            good.append(f"{name} {'without a limit' if most < 0 else f'{free} free'}")
            continue
        problem = f"{free} of {most} free in {region}; the stack creates {needs[kind]} of {kind}."
        fix = "Delete what nobody uses, or request more on the portal's Quotas page."
        yield Finding(Severity.ERROR, COUNT, name, problem, fix, SOURCE)
    if good:
        yield Finding(Severity.OK, COUNT, region, ", ".join(good), None, SOURCE)


def _plain(region: str) -> str:
    return region.replace(" ", "").lower()
