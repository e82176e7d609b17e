"""Output of a simulated stack's status for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from workbench.cli.output.workflows import table as workflow_table
from workbench.cli.stack_status import GPUS

REAL = ("the Pulumi engine", "the program", "the Kubernetes API server, scheduler and controllers", "helm")
QUIET_LABELS = (
    "failure-domain.beta.kubernetes.io/",
    "kubernetes.azure.com/",
    "kubernetes.io/",
    "node.kubernetes.io/",
    "topology.kubernetes.io/",
    "beta.",
    "feature.node.kubernetes.io/",
    "nvidia.com/",
    "network.nvidia.com/",
    "amd.com/",
)
"""Prefixes of labels that AKS, Kubernetes, NFD and the operators of GPUs and adapters set on nodes. The table shows
such a label only if the pool declares it; the JSON document has all labels.
"""


def render(document: Mapping[str, Any]) -> RenderableType:
    """A document of `status_document` as tables."""
    if document["cluster"] is None:
        what = "has no cluster" if document["exists"] else "is not simulated"
        return Text(f"{document['stack']} {what}. Create it with `physai up {document['stack']}`.")
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 1, 0, 0))
    for column in ("pool", "size", "nodes", "priority", "driver", "version", "sharing", "GPUs"):
        table.add_column(column, justify="right" if column == "nodes" else "left", no_wrap=column != "size")
    for pool in document["pools"]:
        ready = f"{pool['ready']}/{pool['nodes']}" + (" auto" if pool["autoscaled"] else "")
        driver, version, sharing = (pool[key] or "" for key in ("driverSource", "driverVersion", "sharing"))
        table.add_row(pool["name"], pool["size"], ready, pool["priority"], driver, version, sharing, _offered(pool))
    closed = [Text(gate["line"], style="red") for pool in document["pools"] for gate in pool["gates"]]
    more = [Text(f"`physai gates {document['stack']}` shows the details.")] if closed else []
    stopped = "" if document["running"] else f" [red]is stopped; start it with `physai up {document['stack']}`[/]"
    namespaces = ", ".join(document["namespaces"]) or "none"
    releases = ", ".join(f"{each['name']} {each['version']}" for each in document["releases"]) or "none"
    return Group(
        Text.from_markup(f"[bold]{document['stack']}[/] cluster {document['cluster']}{stopped}"),
        table,
        *closed,
        *more,
        *_slurm(document["pools"]),
        Text(),
        _details(document["pools"]),
        Text(),
        Text.from_markup(f"namespaces: {namespaces}"),
        Text.from_markup(f"releases: {releases}"),
        *_workflows(document.get("osmo", {})),
        *_telemetry(document.get("telemetry")),
        Text.from_markup(f"[dim]simulated: {', '.join(document['simulated'])}; real: {', '.join(REAL)}[/]"),
    )


def _telemetry(addresses: Mapping[str, str] | None) -> list[RenderableType]:
    if not addresses:
        return []
    return [Text("telemetry: " + ", ".join(f"{name.capitalize()} {url}" for name, url in addresses.items()))]


def _workflows(osmo: Mapping[str, Any]) -> list[RenderableType]:
    if not osmo:
        return []
    platforms = ", ".join(f"{name} ({pool})" for name, pool in osmo["platforms"].items())
    line = Text(f"osmo: {osmo['mode']}; platforms {platforms}")
    return [line, *([Text(), workflow_table(osmo["workflows"]), Text()] if osmo["workflows"] else [])]


def _slurm(pools: Sequence[Mapping[str, Any]]) -> list[RenderableType]:
    """A line for each pool that Slurm uses, and one for each node that gets no jobs from Slurm."""
    found: list[RenderableType] = []
    for pool in pools:
        nodes: Sequence[Mapping[str, Any]] | None = pool.get("slurm")
        if nodes is None:
            continue
        drained = [each for each in nodes if each["drainReason"]]
        busy = sum(each["busy"] for each in nodes)
        counts = f"{len(nodes)} of {pool['nodes']} nodes, {busy} with jobs, {len(drained)} drained"
        found.append(Text(f"{pool['name']}: Slurm has {counts}"))
        for each in drained:
            doing = "draining" if each["busy"] else "drained"
            found.append(Text(f"  {each['node']} {doing}: {each['drainReason']}", style="yellow"))
    return found


def _offered(pool: Mapping[str, Any]) -> str:
    """Text about the resources that a pool's nodes offer: the allocatable and the expected number of whole GPUs, such
    as `1/2`. Numbers of other resources are followed by the name, such as `6/6 mig-1g.12gb`.
    """
    if not pool["gpusPerNode"]:
        return ""
    if not pool["nodes"]:
        return "no nodes"
    if not pool["gpus"]:
        return f"{pool['gpusAllocatable']}/{pool['gpusPerNode'] * pool['nodes']}"
    counts = {name: f"{each['allocatable']}/{each['expected']}" for name, each in pool["gpus"].items()}
    return ", ".join(
        count if name in GPUS else f"{count} {name.removeprefix('nvidia.com/')}" for name, count in counts.items()
    )


def _details(pools: Sequence[Mapping[str, Any]]) -> RenderableType:
    """Labels and taints of each pool, printed below the table because they do not fit into it."""
    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 1, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for pool in pools:
        declared: Mapping[str, str] = pool["declaredLabels"]
        shown = {key: value for key, value in sorted(pool["labels"].items()) if key in declared or _is_own(key)}
        labels = [("label", f"{key}={value}") for key, value in shown.items()]
        marks = [*labels, *(("taint", taint) for taint in pool["taints"])]
        for index, (kind, mark) in enumerate(marks):
            table.add_row(pool["name"] if index == 0 else "", kind, mark)
    return table


def _is_own(label: str) -> bool:
    return not label.startswith(QUIET_LABELS) and label not in (
        "agentpool",
        "accelerator",
        "storageprofile",
        "storagetier",
    )
