"""Findings about a pool from Azure's answer about its VM size. Pure functions."""

from __future__ import annotations

from collections.abc import Iterator

from physical_ai.catalog import regions, sources, vm_size
from physical_ai.findings import Finding, Severity
from physical_ai.settings import NodePool, Pool
from physical_ai.subscription.answers import SizeOffer
from physical_ai.subscription.capabilities import capability_findings

AZURE = "Azure"


def size_findings(name: str, pool: NodePool, offer: SizeOffer | None, region: str) -> Iterator[Finding]:
    """Findings about a pool that cannot use the VM size as Azure offers it, and about facts of the size that differ
    between Azure and the catalogue. `offer`: None if the region does not offer the size.
    """
    if offer is None:
        others = [each.name for each in regions().values() if pool.sku in each.sizes and each.name != region]
        fix = f"According to the catalogue, it is offered in {', '.join(others)}." if others else None
        yield Finding(
            Severity.ERROR, "size", name, f"{region} does not offer {pool.sku} to this subscription.", fix, AZURE
        )
        return
    if offer.refused:
        problem = f"This subscription may not use {pool.sku} in {region}: {offer.refused}."
        yield Finding(Severity.ERROR, "size", name, problem, "Request access in a support request.", AZURE)
    missing = sorted(set(pool.zones) - set(offer.zones))
    if missing:
        has = f"it is in {', '.join(offer.zones)}" if offer.zones else "it is offered without zones"
        problem = f"{pool.sku} is not offered in zone {', '.join(missing)}; {has}."
        yield Finding(Severity.ERROR, "size", name, problem, "Change the pool's zones.", AZURE)
    if isinstance(pool, Pool) and pool.is_spot and offer.spot is False:
        yield Finding(Severity.ERROR, "size", name, f"{pool.sku} can't be Spot.", "priority: Regular", AZURE)
    row = vm_size(pool.sku)
    if offer.family and offer.family.lower() != row.family.lower():
        problem = f"Azure counts {pool.sku} toward the quota family {offer.family}, the catalogue toward {row.family}."
        yield Finding(Severity.WARNING, "size", name, problem, f"Correct {sources.SIZES}.", AZURE)
    if offer.vcpus is not None and offer.vcpus != row.vcpus:
        problem = f"Azure reports {offer.vcpus} vCPU for {pool.sku}, the catalogue {row.vcpus}."
        yield Finding(Severity.WARNING, "size", name, problem, f"Correct {sources.SIZES}.", AZURE)
    yield from capability_findings(name, pool, offer.capabilities)
