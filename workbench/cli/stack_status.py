"""Present state of a simulated stack, read from its simulated Azure and its API server."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from parts.amd import names as amd
from parts.cert_manager import names as cert_manager
from parts.dra.names import DRIVER as CLAIM_DRIVER
from parts.network_operator import names as network_operator
from parts.nvsentinel import names as nvsentinel
from parts.slurm import names as slurm
from parts.slurm.facts import SLURM
from physical_ai.catalog import UnknownName
from physical_ai.catalog.hardware import machine
from physical_ai.catalog.own_names import DRIVER_LABEL
from physical_ai.catalog.system_namespaces import KUBERNETES_NAMESPACES
from physical_ai.catalog.vendors import VENDORS
from physical_ai.readiness import Report, Unreachable, read_reports
from physical_ai.readiness.devices import SLICES, with_devices
from physical_ai.readiness.objects import pool_of
from physical_ai.readiness.reader import SLURM_PODS
from physical_ai.readiness.slurmd import SlurmNode, slurm_nodes
from physical_ai.readiness.text import line
from simulator.existing_cluster import id_of
from simulator.kubernetes.client import Client, Object
from simulator.osmo.history import History
from simulator.simulation import Simulation
from workbench.cli.simulated_stack import deployed_pools, readiness_client, running_cluster

SIMULATED = ("Azure Resource Manager", "Entra ID", "virtual machines and GPUs (KWOK nodes)", "GPU Operator, KAI, OSMO")
MODELLED = {
    network_operator.RELEASE: "Network Operator",
    amd.RELEASE: "AMD GPU Operator",
    nvsentinel.RELEASE: "NVSentinel",
    cert_manager.RELEASE: "cert-manager",
    slurm.OPERATOR_RELEASE: "Slurm's operator",
}
"""Software that the simulator imitates instead of running its containers: names for people, by Helm release."""
GPUS = tuple(vendor.resource for vendor in VENDORS)
DRIVER_VERSION_LABEL = "nvidia.com/cuda.driver-version.full"
"""Node label in which GPU Feature Discovery writes the version of the driver."""
CLUSTER_TYPE = "containerservice:ManagedCluster"
WORKFLOWS_SHOWN = 5
QUIET_TAINTS = ("node.kubernetes.io/",)


def simulated(releases: Iterable[str]) -> list[str]:
    """Names of the components that are simulated in a stack with these Helm releases."""
    return [*SIMULATED, *(MODELLED[name] for name in releases if name in MODELLED)]


def status_document(simulation: Simulation) -> dict[str, Any]:
    """The stack's status as data with stable keys: `{stack, exists, simulated, pools: […], releases: […], osmo: {…},
    telemetry: {…}}`.
    """
    document: dict[str, Any] = {
        "stack": simulation.stack,
        "exists": simulation.exists,
        "simulated": simulated(()),
        "cluster": None,
        "running": False,
        "pools": [],
        "namespaces": [],
        "releases": [],
        "osmo": {},
        "telemetry": None,
    }
    if not simulation.exists:
        return document
    resources = simulation.cloud_resources()
    clusters = simulation.clusters()
    cluster = _cluster(resources) or id_of(clusters)
    if cluster is None:
        return document
    if simulation.telemetry.is_running():
        addresses = {each: getattr(simulation.telemetry, each) for each in ("prometheus", "alertmanager")}
        document["telemetry"] = addresses
    document["cluster"] = cluster.rsplit("/", 1)[-1]
    document["running"] = clusters.is_running(cluster)
    nodes: list[Object] = []
    namespaces: list[Object] = []
    slurmds: Mapping[str, SlurmNode] = {}
    if document["running"]:
        client = clusters.client(cluster)
        nodes, namespaces = _nodes(client), client.get("/api/v1/namespaces")["items"]
        slurmds = slurm_nodes(client.get(SLURM_PODS)["items"])
    document["namespaces"] = sorted(
        item["metadata"]["name"] for item in namespaces if item["metadata"]["name"] not in KUBERNETES_NAMESPACES
    )
    outputs = simulation.outputs()
    document["osmo"] = _osmo(simulation, outputs)
    releases: Mapping[str, Mapping[str, Any]] = outputs.get("releases") or {}
    document["releases"] = [{"name": name, **release} for name, release in releases.items()]
    document["simulated"] = simulated(releases)
    reports = _reports(simulation, clusters.client(cluster)) if document["running"] else {}
    summaries: Mapping[str, Mapping[str, Any]] = outputs.get("pools") or {}
    for body in _pool_bodies(resources, cluster) if cluster in resources else _classes(summaries):
        name = body["name"]
        pool = _pool(body, nodes)
        facts = _gpu_facts(pool, summaries.get(name, {}), reports.get(name))
        document["pools"].append({**pool, **facts, "slurm": _slurm(pool, summaries.get(name, {}), slurmds)})
    return document


def _slurm(
    pool: Mapping[str, Any], summary: Mapping[str, Any], slurmds: Mapping[str, SlurmNode]
) -> list[dict[str, Any]] | None:
    """State of a pool's nodes in Slurm; None for a pool that Slurm does not use."""
    if summary.get("scheduler") != SLURM:
        return None
    return [slurmds[each["name"]].document() for each in pool["members"] if each["name"] in slurmds]


def _nodes(client: Client) -> list[Object]:
    """The nodes of the cluster. Devices of the DRA driver are added to a node's resources."""
    nodes: list[Object] = client.get("/api/v1/nodes")["items"]
    return [dict(node) for node in with_devices(nodes, client.get(SLICES)["items"])]


def _osmo(simulation: Simulation, outputs: Mapping[str, Any]) -> dict[str, Any]:
    """OSMO's settings in the last deployment, and the last workflows that ran; empty for a stack without OSMO."""
    exported: Mapping[str, Any] = outputs.get("osmo") or {}
    kept = {key: exported[key] for key in ("mode", "queues", "platforms") if key in exported}
    return {**kept, "workflows": History(simulation.folder).all()[-WORKFLOWS_SHOWN:]} if kept else {}


def node_counts(simulation: Simulation) -> dict[str, int]:
    """Present number of nodes in each pool; empty if no cluster is running."""
    cluster = running_cluster(simulation)
    if cluster is None:
        return {}
    nodes: list[Object] = simulation.clusters().client(cluster).get("/api/v1/nodes")["items"]
    counts = Counter(pool_of(node) for node in nodes)
    return {pool["name"]: counts[pool["name"]] for pool in azure_pools(simulation)}


def azure_pools(simulation: Simulation) -> list[Mapping[str, Any]]:
    """All pools of the simulated cluster in the form of Azure Resource Manager; empty if there is no cluster."""
    resources = simulation.cloud_resources()
    cluster = _cluster(resources)
    return _pool_bodies(resources, cluster) if cluster else []


def _cluster(resources: Mapping[str, Mapping[str, Any]]) -> str | None:
    return next((id for id, entry in resources.items() if entry["type"].endswith(CLUSTER_TYPE)), None)


def _pool_bodies(resources: Mapping[str, Mapping[str, Any]], cluster: str) -> list[Mapping[str, Any]]:
    """Pools of a cluster in the form of Azure Resource Manager. First the pools in the body of the cluster itself, then
    the pools that are resources of their own, by name.
    """
    inline: Sequence[Mapping[str, Any]] = resources[cluster]["inputs"].get("agentPoolProfiles") or []
    prefix = f"{cluster}/agentPools/".lower()
    inputs = {id: entry["inputs"] for id, entry in resources.items() if id.lower().startswith(prefix)}
    return [*inline, *({**inputs[id], "name": id.rsplit("/", 1)[-1]} for id in sorted(inputs))]


def _classes(summaries: Mapping[str, Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """GPU node classes of an existing cluster in the form of Azure's pools, from the stack's outputs."""
    return [
        {"name": name, "vmSize": given["size"], "nodeLabels": given["labels"], "nodeTaints": given["taints"]}
        for name, given in summaries.items()
    ]


def _pool(body: Mapping[str, Any], nodes: Sequence[Object]) -> dict[str, Any]:
    name, size = body["name"], body["vmSize"]
    members = [node for node in nodes if pool_of(node) == name]
    labels: Mapping[str, str] = body.get("nodeLabels") or {}
    return {
        "name": name,
        "size": size,
        "driverSource": labels.get(DRIVER_LABEL),
        "priority": body.get("scaleSetPriority") or "Regular",
        "autoscaled": bool(body.get("enableAutoScaling")),
        "limits": {"min": body.get("minCount"), "max": body.get("maxCount")} if body.get("enableAutoScaling") else None,
        "nodes": len(members),
        "ready": sum(map(_is_ready, members)),
        "gpusPerNode": _gpus_of(size),
        "gpusAllocatable": sum(map(_gpus_offered, members)),
        "members": [
            {"name": node["metadata"]["name"], "ready": _is_ready(node), "gpus": _gpus_offered(node)}
            for node in sorted(members, key=lambda each: each["metadata"]["name"])
        ],
        "labels": dict(members[0]["metadata"]["labels"]) if members else dict(labels),
        "declaredLabels": dict(labels),
        "taints": _taints(members[0]) if members else list(body.get("nodeTaints") or []),
    }


def _reports(simulation: Simulation, client: Client) -> dict[str, Report]:
    """Reports about the GPUs of each pool, by name; empty if the cluster does not answer."""
    try:
        return {report.pool: report for report in read_reports(readiness_client(client), deployed_pools(simulation))}
    except Unreachable:
        return {}  # the cluster stopped after the reads above


def _gpu_facts(pool: Mapping[str, Any], summary: Mapping[str, Any], report: Report | None) -> dict[str, Any]:
    """Facts about the GPUs of a pool: driver version, sharing, expected and allocatable GPUs, and closed gates."""
    found: Mapping[str, Any] = report.document() if report is not None else {"gpus": {}, "closed": []}
    lines = [line(each) for each in report.closed] if report is not None else []
    return {
        # The running version if it is known: no version is requested for the driver of an AKS node image.
        "driverVersion": pool["labels"].get(DRIVER_VERSION_LABEL) or summary.get("driverVersion"),
        "sharing": summary.get("sharing"),
        "gpus": found["gpus"],
        "gates": [{**each, "line": text} for each, text in zip(found["closed"], lines, strict=True)],
    }


def _gpus_of(size: str) -> int:
    try:
        gpu = machine(size).gpu
    except UnknownName:
        return 0
    return gpu.count if gpu is not None else 0


def _gpus_offered(node: Object) -> int:
    """Number of whole GPUs that a node offers, as resources of the device plugin or as devices for DRA claims."""
    offered = node["status"].get("allocatable", {})
    return sum(int(offered.get(resource, 0)) for resource in (*GPUS, CLAIM_DRIVER))


def _is_ready(node: Object) -> bool:
    conditions: list[Object] = node["status"].get("conditions") or []
    return any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)


def _taints(node: Object) -> list[str]:
    taints: list[Object] = node["spec"].get("taints") or []
    shown = [taint for taint in taints if not taint["key"].startswith(QUIET_TAINTS)]
    return sorted(f"{t['key']}={t.get('value', '')}:{t['effect']}" for t in shown)
