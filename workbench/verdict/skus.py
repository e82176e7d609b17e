"""Findings about sizes of caches and redundancies of storage accounts, from Azure's lists of what the subscription may
use in a region. Pure functions.

Requests: azure-rest-api-specs, Microsoft.Storage skus 2023-05-01. For Azure Managed Redis, no specification contains
Microsoft.Cache/skus. A public report shows that Azure answers this request, and that the list lacked all sizes for a
subscription in which a cache then failed with AllocationFailed (urruegg/SwissHospitalCapacityPlatform, ADR-0028 of
2026-07-13).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from physical_ai.findings import Finding, Severity
from physical_ai.subscription.answers import Sku
from workbench.verdict.model import Subject

TOPIC, SOURCE = "sku", "Azure"
STORAGE, CACHE = "Microsoft.Storage", "Microsoft.Cache"
OF: dict[str, tuple[str, str]] = {
    "Microsoft.Storage/storageAccounts": ("storageaccounts", "dataServices.storage.redundancy"),
    "Microsoft.Cache/redisEnterprise": ("redisenterprise", "dataServices.redis.size"),
}
"""Name of a resource type in Azure's SKU lists, and path of the setting that selects the SKU, by ARM type."""


def sku_findings(subjects: Sequence[Subject], listed: Sequence[Sku]) -> Iterator[Finding]:
    """Findings about declared resources of the types in `OF`. `listed` is Azure's SKU list of the service that all
    these resources belong to.
    """
    for each in subjects:
        if each.arm_type in OF:
            yield _finding(each, listed)


def _finding(subject: Subject, listed: Sequence[Sku]) -> Finding:
    kind, setting = OF[subject.arm_type]
    name, region = str(subject.body.get("sku", {}).get("name", "")), _plain(str(subject.body.get("location", "")))
    of_type = [each for each in listed if each.type.lower() == kind]
    account = str(subject.body.get("kind", ""))
    fitting = [each for each in of_type if not each.kind or not account or each.kind.lower() == account.lower()]
    here = [each for each in fitting if region in {_plain(place) for place in each.locations}]
    named = [each for each in here if each.name.lower() == name.lower()]
    if not of_type:
        problem = f"Azure lists none of these at all, so that {name} is not known to be offered."
        return Finding(Severity.UNKNOWN, TOPIC, subject.name, problem, None, SOURCE)
    if named and (why := next((each.refused for each in named if each.refused), "")):
        problem = f"The subscription may not use {name} in {region}: {why}."
        return Finding(Severity.ERROR, TOPIC, subject.name, problem, f"{setting}, or a support request.", SOURCE)
    if named:
        return Finding(Severity.OK, TOPIC, subject.name, f"{name} is offered in {region}", None, SOURCE)
    series = [each for each in fitting if each.name.partition("_")[0] == name.partition("_")[0]]
    near = ", ".join(sorted({each.name for each in here if each in series} or {each.name for each in here})[:6])
    what = f"{account} accounts with {name}" if account and here and here[0].kind else name
    problem = f"Azure lists no {what} in {region} for this subscription."
    # A list without the whole series may be one that is not kept up: a size of it was refused where it was missing.
    severity = Severity.ERROR if series else Severity.WARNING
    return Finding(severity, TOPIC, subject.name, problem, f"{setting}: {near or 'another region'}.", SOURCE)


def _plain(region: str) -> str:
    return region.replace(" ", "").lower()
