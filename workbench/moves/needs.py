"""Needs of a move, beside what the stack has already: vCPUs of quota, and how much of the old pool fits beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from physical_ai.catalog import vm_size
from physical_ai.findings import Finding, Severity
from physical_ai.settings import Settings
from physical_ai.settings.facts.quota import QuotaNeed, quota_needs
from physical_ai.subscription.answers import SizeOffer, Usage
from physical_ai.subscription.quotas import by_azures_name, quota_findings
from physical_ai.subscription.sizes import size_findings
from workbench.moves.layers import Move


def extra_quota(move: Move, before: Settings, both: Settings) -> list[QuotaNeed]:
    """vCPUs that the new pool needs while the old one exists: of its first nodes, and of all its nodes."""
    had = {each.usage: each for each in quota_needs(before)}
    found: list[QuotaNeed] = []
    for each in quota_needs(both):
        less = had.get(each.usage)
        initial = each.initial - (less.initial if less else 0)
        maximum = each.maximum - (less.maximum if less else 0)
        if maximum > 0:
            sizes = (both.pools[move.new].sku,)
            found.append(QuotaNeed(each.usage, max(initial, 0), maximum, (move.new,), sizes))
    return found


def capacity_findings(
    move: Move,
    before: Settings,
    both: Settings,
    usages: Mapping[str, Usage] | None,
    offers: Mapping[str, SizeOffer] | None,
) -> Iterator[Finding]:
    """Findings about quota and size of the new pool. `usages` and `offers`: Azure's answers; None without an answer."""
    needs = extra_quota(move, before, both)
    pool = both.pools[move.new]
    if offers is not None:
        by_name = {name.lower(): each for name, each in offers.items()}
        yield from size_findings(move.new, pool, by_name.get(pool.sku.lower()), both.region)
        needs = [by_azures_name(each, by_name) for each in needs]
    if usages is None:
        for each in needs:
            problem = f"{each.initial} vCPU at first, {each.maximum} for all nodes: Azure was not queried"
            fix = f"physai check {move.stack}, or an az login"
            yield Finding(Severity.UNKNOWN, "quota", each.usage, problem, fix, None)
        return
    for each in quota_findings(both, usages, needs):
        yield _softened(each)


def _softened(finding: Finding) -> Finding:
    """A finding with a remark: a quota that is too small for all nodes of both pools is no obstacle, since the new pool
    grows as the old one shrinks.
    """
    if finding.severity is not Severity.WARNING:
        return finding
    problem = f"{finding.problem} The new pool then grows only as nodes of the old one go."
    return replace(finding, problem=problem)


def nodes_text(move: Move, both: Settings) -> str:
    """Text about the nodes that the new pool begins with and its most."""
    pool = both.pools[move.new]
    size = vm_size(pool.sku)
    gpus = f", {size.gpu.count} × {size.gpu.model} each" if size.gpu else ""
    return f"{pool.scale.initial_count} to {pool.scale.most} nodes {pool.sku}{gpus}; subnet {pool.subnet}"
