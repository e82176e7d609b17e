"""What a simulated stack consists of right now, read from its Azure and its API server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from physical_ai.catalog import UnknownName, vm_size
from physical_ai.cli.commands.gates import deployed, reading
from physical_ai.cli.commands.run import render as workflow_table
from physical_ai.readiness import Report, Unreachable, look
from physical_ai.readiness.text import line
from physical_ai.settings.facts.pools import DRIVER_LABEL
from physical_ai.simulator.kubernetes.client import Client, Object
from physical_ai.simulator.osmo.history import History
from physical_ai.simulator.pool_nodes import POOL_LABEL
from physical_ai.simulator.simulation import Simulation

SIMULATED = ("Azure Resource Manager", "Entra ID", "virtual machines and GPUs (KWOK nodes)", "GPU Operator, KAI, OSMO")
REAL = ("the Pulumi engine", "the program", "the Kubernetes API server, scheduler and controllers", "helm")
GPU = "nvidia.com/gpu"
DRIVER_VERSION_LABEL = "nvidia.com/cuda.driver-version.full"
"""The driver that GPU Feature Discovery has found at work."""
CLUSTER_TYPE = "containerservice:ManagedCluster"
QUIET_LABELS = (
    "failure-domain.beta.kubernetes.io/",
    "kubernetes.azure.com/",
    "kubernetes.io/",
    "node.kubernetes.io/",
    "topology.kubernetes.io/",
    "beta.",
    "feature.node.kubernetes.io/",
    "nvidia.com/",
)
"""Prefixes of labels that AKS, Kubernetes, NFD and the GPU Operator set on nodes; the table shows those of them that
the pool declares, the JSON all."""
WORKFLOWS_SHOWN = 5
QUIET_TAINTS = ("node.kubernetes.io/",)


def status(simulation: Simulation) -> dict[str, Any]:
    """`{stack, exists, simulated, pools: […], releases: […], osmo: {…}}`, stable for scripts."""
    document: dict[str, Any] = {
        "stack": simulation.stack,
        "exists": simulation.exists,
        "simulated": list(SIMULATED),
        "cluster": None,
        "running": False,
        "pools": [],
        "namespaces": [],
        "releases": [],
        "osmo": {},
    }
    if not simulation.exists:
        return document
    resources = simulation.cloud_resources()
    cluster = _cluster(resources)
    if cluster is None:
        return document
    document["cluster"] = cluster.rsplit("/", 1)[-1]
    clusters = simulation.clusters()
    document["running"] = clusters.is_running(cluster)
    nodes: list[Object] = []
    namespaces: list[Object] = []
    if document["running"]:
        client = clusters.client(cluster)
        nodes, namespaces = client.get("/api/v1/nodes")["items"], client.get("/api/v1/namespaces")["items"]
    document["namespaces"] = sorted(
        item["metadata"]["name"]
        for item in namespaces
        if not item["metadata"]["name"].startswith("kube-") and item["metadata"]["name"] != "default"
    )
    outputs = simulation.outputs()
    document["osmo"] = _osmo(simulation, outputs)
    releases: Mapping[str, Mapping[str, Any]] = outputs.get("releases") or {}
    document["releases"] = [{"name": name, **release} for name, release in releases.items()]
    reports = _reports(simulation, clusters.client(cluster)) if document["running"] else {}
    summaries: Mapping[str, Mapping[str, Any]] = outputs.get("pools") or {}
    for body in _pool_bodies(resources, cluster):
        name = body["name"]
        pool = _pool(body, nodes)
        document["pools"].append({**pool, **_gpu_facts(pool, summaries.get(name, {}), reports.get(name))})
    return document


def _osmo(simulation: Simulation, outputs: Mapping[str, Any]) -> dict[str, Any]:
    """What the last deployment has of OSMO, and the last workflows that ran on it."""
    exported: Mapping[str, Any] = outputs.get("osmo") or {}
    kept = {key: exported[key] for key in ("mode", "queues", "platforms") if key in exported}
    return {**kept, "workflows": History(simulation.folder).all()[-WORKFLOWS_SHOWN:]} if kept else {}


def node_counts(simulation: Simulation) -> dict[str, int]:
    """Nodes of each pool as they are now; empty where no cluster runs."""
    return {pool["name"]: pool["nodes"] for pool in status(simulation)["pools"]}


def deployed_pools(simulation: Simulation) -> list[Mapping[str, Any]]:
    """ARM's view of every pool of the simulated cluster; empty where there is none."""
    resources = simulation.cloud_resources()
    cluster = _cluster(resources)
    return _pool_bodies(resources, cluster) if cluster else []


def _cluster(resources: Mapping[str, Mapping[str, Any]]) -> str | None:
    return next((id for id, entry in resources.items() if entry["type"].endswith(CLUSTER_TYPE)), None)


def _pool_bodies(resources: Mapping[str, Mapping[str, Any]], cluster: str) -> list[Mapping[str, Any]]:
    """ARM's view of every pool of a cluster: the inline one first, then the others by name."""
    inline: Sequence[Mapping[str, Any]] = resources[cluster]["inputs"].get("agentPoolProfiles") or []
    prefix = f"{cluster}/agentPools/".lower()
    own = {id: entry["inputs"] for id, entry in resources.items() if id.lower().startswith(prefix)}
    return [*inline, *({**own[id], "name": id.rsplit("/", 1)[-1]} for id in sorted(own))]


def _pool(body: Mapping[str, Any], nodes: Sequence[Object]) -> dict[str, Any]:
    name, size = body["name"], body["vmSize"]
    mine = [node for node in nodes if node["metadata"]["labels"].get(POOL_LABEL) == name]
    labels: Mapping[str, str] = body.get("nodeLabels") or {}
    return {
        "name": name,
        "size": size,
        "driverSource": labels.get(DRIVER_LABEL),
        "priority": body.get("scaleSetPriority") or "Regular",
        "autoscaled": bool(body.get("enableAutoScaling")),
        "limits": {"min": body.get("minCount"), "max": body.get("maxCount")} if body.get("enableAutoScaling") else None,
        "nodes": len(mine),
        "ready": sum(map(_is_ready, mine)),
        "gpusPerNode": _gpus(size),
        "gpusAllocatable": sum(map(_offers, mine)),
        "members": [
            {"name": node["metadata"]["name"], "ready": _is_ready(node), "gpus": _offers(node)}
            for node in sorted(mine, key=lambda each: each["metadata"]["name"])
        ],
        "labels": dict(mine[0]["metadata"]["labels"]) if mine else dict(labels),
        "declaredLabels": dict(labels),
        "taints": _taints(mine[0]) if mine else list(body.get("nodeTaints") or []),
    }


def _reports(simulation: Simulation, client: Client) -> dict[str, Report]:
    """What keeps GPUs from the nodes, by pool."""
    try:
        return {report.pool: report for report in look(reading(client), deployed(simulation))}
    except Unreachable:
        return {}  # it answered a moment ago, and has ended since


def _gpu_facts(pool: Mapping[str, Any], summary: Mapping[str, Any], report: Report | None) -> dict[str, Any]:
    """What the last deployment promised of a pool's GPUs, and what became of it."""
    found: Mapping[str, Any] = report.document() if report is not None else {"gpus": {}, "shut": []}
    lines = [line(each) for each in report.shut] if report is not None else []
    return {
        # What runs says more than what was asked for, and an AKS node image is asked for no version at all.
        "driverVersion": pool["labels"].get(DRIVER_VERSION_LABEL) or summary.get("driverVersion"),
        "sharing": summary.get("sharing"),
        "gpus": found["gpus"],
        "gates": [{**each, "line": text} for each, text in zip(found["shut"], lines, strict=True)],
    }


def _gpus(size: str) -> int:
    try:
        gpu = vm_size(size).gpu
    except UnknownName:
        return 0
    return gpu.count if gpu is not None else 0


def _offers(node: Object) -> int:
    """Whole GPUs that a node offers."""
    return int(node["status"].get("allocatable", {}).get(GPU, 0))


def _is_ready(node: Object) -> bool:
    conditions: list[Object] = node["status"].get("conditions") or []
    return any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)


def _taints(node: Object) -> list[str]:
    taints: list[Object] = node["spec"].get("taints") or []
    shown = [taint for taint in taints if not taint["key"].startswith(QUIET_TAINTS)]
    return sorted(f"{t['key']}={t.get('value', '')}:{t['effect']}" for t in shown)


def render(document: Mapping[str, Any]) -> RenderableType:
    """The status as a table with what matters to a person."""
    if document["cluster"] is None:
        what = "has no cluster" if document["exists"] else "is not simulated at the moment"
        return Text(f"{document['stack']} {what}; `physai up {document['stack']}` makes it.")
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 1, 0, 0))
    for column in ("pool", "size", "nodes", "priority", "driver", "version", "sharing", "GPUs"):
        table.add_column(column, justify="right" if column == "nodes" else "left", no_wrap=column != "size")
    for pool in document["pools"]:
        ready = f"{pool['ready']}/{pool['nodes']}" + (" auto" if pool["autoscaled"] else "")
        driver, version, sharing = (pool[key] or "" for key in ("driverSource", "driverVersion", "sharing"))
        table.add_row(pool["name"], pool["size"], ready, pool["priority"], driver, version, sharing, _offered(pool))
    shut = [Text(gate["line"], style="red") for pool in document["pools"] for gate in pool["gates"]]
    more = [Text(f"`physai gates {document['stack']}` tells more.")] if shut else []
    stopped = "" if document["running"] else f" [red]is stopped; `physai up {document['stack']}` starts it again[/]"
    namespaces = ", ".join(document["namespaces"]) or "none"
    releases = ", ".join(f"{each['name']} {each['version']}" for each in document["releases"]) or "none"
    return Group(
        Text.from_markup(f"[bold]{document['stack']}[/] cluster {document['cluster']}{stopped}"),
        table,
        *shut,
        *more,
        Text(),
        _details(document["pools"]),
        Text(),
        Text.from_markup(f"namespaces: {namespaces}"),
        Text.from_markup(f"releases: {releases}"),
        *_workflows(document.get("osmo", {})),
        Text.from_markup(f"[dim]simulated: {', '.join(SIMULATED)}; real: {', '.join(REAL)}[/]"),
    )


def _workflows(osmo: Mapping[str, Any]) -> list[RenderableType]:
    if not osmo:
        return []
    platforms = ", ".join(f"{name} ({pool})" for name, pool in osmo["platforms"].items())
    line = Text(f"osmo: {osmo['mode']}; platforms {platforms}")
    return [line, *([Text(), workflow_table(osmo["workflows"]), Text()] if osmo["workflows"] else [])]


def _offered(pool: Mapping[str, Any]) -> str:
    """`1/2`, allocatable of expected; resources other than whole GPUs by name: `6/6 mig-1g.12gb`."""
    if not pool["gpusPerNode"]:
        return ""
    if not pool["nodes"]:
        return "no nodes"
    if not pool["gpus"]:
        return f"{pool['gpusAllocatable']}/{pool['gpusPerNode'] * pool['nodes']}"
    counts = {name: f"{each['allocatable']}/{each['expected']}" for name, each in pool["gpus"].items()}
    return ", ".join(
        count if name == GPU else f"{count} {name.removeprefix('nvidia.com/')}" for name, count in counts.items()
    )


def _details(pools: Sequence[Mapping[str, Any]]) -> RenderableType:
    """The labels and taints that tell the pools apart, below the table: beside it they would not fit a terminal."""
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
