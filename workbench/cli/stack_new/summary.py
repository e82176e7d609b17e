"""Output of `stack new`: the possible choices, the new stack, and the next steps."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from physical_ai.settings import Loaded
    from physical_ai.settings.new_stack import NewFiles, PoolProposal, Proposal

SHOWN = 8
"""Largest number of GPU sizes that are shown for a pool. `physai sizes --region` lists all."""


def head(proposal: Proposal) -> RenderableType:
    """Heading with the name of the stack, its region and the region's zones."""
    region = proposal.name.region
    zones = f"zones {', '.join(proposal.region_zones)}" if proposal.region_zones else "no availability zones"
    lines: list[RenderableType] = [Text.from_markup(f"[bold]{proposal.name}[/]: {region} has {zones}")]
    if not proposal.region_layer:
        lines.append(
            Text(f"{region} has no layer yet. One is created, with maintenance windows at UTC{proposal.utc_offset}")
        )
    return Group(*lines)


def offer(pool: PoolProposal, region: str) -> RenderableType:
    """Table for the choice of a GPU pool: the sizes that the region offers, and the size that the layers set."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in (f"sizes in {region}", "driver sources", "evidence", "USD/h"):
        table.add_column(column, no_wrap=True)
    for each in pool.candidates[:SHOWN]:
        usd = "no price" if each.usd_per_hour is None else f"{each.usd_per_hour:,.3f}"
        mark = f"[bold]{each.size}[/]" if each.size == pool.size else each.size
        table.add_row(mark, ", ".join(each.driver_sources), each.evidence, usd)
    heading = f"\n{pool.name}: the layers set {pool.size or 'no size'}, driver source {pool.driver or 'none'}"
    lines: list[RenderableType] = [Text(heading), table if pool.candidates else Text(f"{region} lists no GPU size")]
    if len(pool.candidates) > SHOWN:
        more = f"… and {len(pool.candidates) - SHOWN} more: physai sizes --region {region}"
        lines.append(Text(more, style="dim"))
    return Group(*lines)


def summary(proposal: Proposal, loaded: Loaded) -> RenderableType:
    """Tables about the new stack: pools, zones, prices, quota and warnings."""
    rows, needs = pools(loaded), quota(loaded)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("pool", "size", "driver", "priority", "nodes", "zones", "USD per node hour", "quota family"):
        table.add_column(column, no_wrap=True)
    for row in rows:
        nodes, usd = row["nodes"], row["usdPerNodeHour"]
        count = f"{nodes['min']}–{nodes['max']}" if nodes["min"] != nodes["max"] else str(nodes["max"])
        zones = " ".join(row["zones"]) or "Azure's choice"
        price = "no price" if usd is None else f"{usd:,.3f}"
        cells = [row["name"], row["size"], row["driverSource"] or "", row["priority"], count, zones]
        table.add_row(*map(escape, cells), price, row["quotaFamily"])
    lines: list[RenderableType] = [table]
    lines += [Text(line, style="yellow") for line in absent(proposal, {row["name"] for row in rows})]
    usages = "; ".join(f"{each['usage']} {each['most']}" for each in needs)
    lines.append(Text(f"quota for the maximum number of nodes, in vCPU, surge included: {usages}"))
    lines += [Text(str(warning), style="yellow") for warning in loaded.warnings]
    return Group(*lines)


def absent(proposal: Proposal, kept: Collection[str]) -> Iterator[str]:
    """Sentences about the pools of the environment that the new stack lacks: for each, the pool that replaces it, if
    any, and the reason.
    """
    for each in proposal.replaced:
        how = f"replaced by {each.by}, which keeps its scale and priority" if each.by else "removed"
        yield f"{each.pool}: {how} ({each.layer}). {each.reason}".rstrip()
    for pool in proposal.pools:
        if pool.name not in kept:
            yield f"left out: {pool.name}. {_why_left_out(pool, proposal.name.region)}"


def _why_left_out(pool: PoolProposal, region: str) -> str:
    from physical_ai.catalog import judge

    found = [each.problem for each in judge(pool.size, region, pool.driver) if each.is_error]
    return found[0] if found else "You asked for none."


def next_steps(proposal: Proposal, loaded: Loaded) -> RenderableType:
    """List of the next commands, in order."""
    name = proposal.name
    steps = [
        (f"physai explain {name}", "every value, and its file"),
        (f"physai cost {name}", "the estimated cost"),
        (f"physai up {name}", "the stack in the simulator"),
        (f"physai check {name}", "quota, sizes and permissions in Azure"),
        (f"pulumi stack init {name}", "the real stack; see docs/azure.md"),
    ]
    table = Table(box=None, pad_edge=False, show_header=False)
    for command, meaning in steps:
        table.add_row(f"  {command}", f"[dim]{meaning}[/]")
    lines: list[RenderableType] = [Text("next:"), table]
    if any(warning.stand_in for warning in loaded.warnings):
        advice = "Before you deploy to Azure, set cluster.apiAccess.authorizedIpRanges to your public ranges."
        lines.append(Text(advice, style="yellow"))
    if not loaded.settings.access.deployers:
        advice = "Before you deploy to Azure, name who deploys in access.deployers, or use --deployer here."
        lines.append(Text(advice, style="yellow"))
    return Group(*lines)


def pools(loaded: Loaded) -> list[dict[str, Any]]:
    """The pools of the new stack as data."""
    from physical_ai.catalog import vm_size
    from physical_ai.settings import Pool
    from physical_ai.settings.facts.pools import node_pools
    from workbench.costs import estimate

    settings = loaded.settings
    cost = estimate(settings)
    rows: list[dict[str, Any]] = []
    for name, pool in node_pools(settings).items():
        priced = cost.pool(name)
        rows.append(
            {
                "name": name,
                "size": pool.sku,
                "driverSource": pool.driver.source.value if isinstance(pool, Pool) else None,
                "priority": priced.priority,
                "nodes": {"min": priced.nodes.minimum, "asked": priced.nodes.initial, "max": priced.nodes.maximum},
                "zones": list(pool.zones),
                "usdPerNodeHour": priced.price.usd_per_hour if priced.price else None,
                "quotaFamily": vm_size(pool.sku).family,
            }
        )
    return rows


def quota(loaded: Loaded) -> list[dict[str, Any]]:
    """Quota in vCPUs that the stack needs, as data: a row for each quota name of Microsoft.Compute."""
    from physical_ai.settings.facts.quota import quota_needs

    return [
        {"usage": each.usage, "asked": each.initial, "most": each.maximum, "pools": list(each.pools)}
        for each in quota_needs(loaded.settings)
    ]


def document(proposal: Proposal, loaded: Loaded, files: NewFiles, made: Sequence[Path]) -> dict[str, Any]:
    """The new stack as data: its files, pools, quota and warnings."""
    return {
        "stack": str(proposal.name),
        "written": [str(path.relative_to(proposal.root)) for path in made],
        "files": {str(path): text for path, text in files.texts.items()},
        "pools": pools(loaded),
        "quota": quota(loaded),
        "replaced": [
            {"pool": each.pool, "by": each.by, "layer": each.layer, "reason": each.reason} for each in proposal.replaced
        ],
        "warnings": [str(warning) for warning in loaded.warnings],
    }
