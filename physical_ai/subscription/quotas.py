"""Comparison of the quotas of Microsoft.Compute with a stack's needs. Pure functions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from physical_ai.findings import Finding, Severity
from physical_ai.settings import Settings
from physical_ai.settings.facts.quota import LOW_PRIORITY, TOTAL, QuotaNeed
from physical_ai.subscription.answers import SizeOffer, Usage

_AZURE = "Azure"


def by_azures_name(need: QuotaNeed, offers: Mapping[str, SizeOffer]) -> QuotaNeed:
    """`need`, with the quota name that Azure reports for its VM sizes. This name may differ from the catalogue's
    name.
    """
    named = {offers[size.lower()].family for size in need.sizes if size.lower() in offers} - {""}
    return replace(need, usage=named.pop()) if len(named) == 1 and need.usage not in (TOTAL, LOW_PRIORITY) else need


def quota_findings(settings: Settings, answered: Mapping[str, Usage], wanted: Iterable[QuotaNeed]) -> Iterator[Finding]:
    """Findings about the free amount of each quota that a stack needs."""
    usages = {name.lower(): usage for name, usage in answered.items()}
    for need in wanted:
        usage = usages.get(need.usage.lower())
        if not usages:
            problem = f"Azure lists no quota at all in {settings.region}; {need_text(need)}."
            yield Finding(Severity.UNKNOWN, "quota", need.usage, problem, None, _AZURE)
        elif usage is None:
            yield _absent(settings.region, need)
        else:
            yield _compared(need, usage)


def _absent(region: str, need: QuotaNeed) -> Finding:
    """Finding for a quota that Azure does not list. It counts as zero: Azure lists no quota for a family that the
    subscription may not use.
    """
    problem = f"The subscription has no quota {need.usage} in {region}, which counts as 0; {need_text(need)}."
    least = max(need.initial, 1)
    fix = (
        f"Request it: az quota create, or the portal's Quotas page, with {least} vCPU or more ({need.maximum} at most)."
    )
    severity = Severity.ERROR if need.initial > 0 else Severity.WARNING
    return Finding(severity, "quota", need.usage, problem, fix, _AZURE)


def _compared(need: QuotaNeed, usage: Usage) -> Finding:
    free = usage.limit - usage.used
    state = f"{free} of {usage.limit} vCPU free; {need_text(need)}"
    fix = "Request more: az quota, or the portal's Quotas page. Running nodes of the stack count as used."
    if usage.limit < 0 or free >= need.maximum:
        return Finding(Severity.OK, "quota", need.usage, state, None, _AZURE)
    if free >= need.initial:
        return Finding(Severity.WARNING, "quota", need.usage, f"{state}: fewer than the maximum.", fix, _AZURE)
    return Finding(Severity.ERROR, "quota", need.usage, f"{state}: fewer than the initial nodes need.", fix, _AZURE)


def need_text(need: QuotaNeed) -> str:
    """Text that says how many vCPU of which pools a quota is needed for."""
    kind = {TOTAL: "on-demand ", LOW_PRIORITY: "Spot "}.get(need.usage, "")
    pools = ", ".join(need.pools)
    return f"{kind}vCPU of {pools}: {need.initial} initially, {need.maximum} at maximum with the surge of upgrades"
