"""Findings about software in an existing cluster that assigns GPUs, installs GPU drivers or schedules GPU work. Another
GPU Operator is not among them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from physical_ai.catalog.charts import retracted_charts
from physical_ai.catalog.hardware import on_premises
from physical_ai.catalog.osmo import KAI_CHART, KAI_VERSION
from physical_ai.catalog.runai import WORKER_LABEL
from physical_ai.findings import Finding
from physical_ai.kubernetes.objects import labels, name, namespace
from physical_ai.nested import at
from physical_ai.settings.facts.gpu import OPERATOR_NAMESPACE
from physical_ai.settings.facts.pools import DEPLOY_DRIVER_LABEL
from physical_ai.settings.models.node_pools import Pool
from workbench.preflight.existing.objects import Json, doubtful, listed, minor, numbers, ok, wrong
from workbench.preflight.existing.reading import Found

DEVICE_PLUGINS = ("k8s-device-plugin", "nvidia-gpu-device-plugin", "gpu-operator-device-plugin")
"""Parts of the image names under which vendors publish NVIDIA's device plugin."""
RUNAI = "runai-scheduler"
SCHEDULERS = {RUNAI: "Run:ai", "volcano-scheduler": "Volcano", "kai-scheduler-default": "KAI"}
DRIVER_VERSION = "nvidia.com/cuda.driver-version.full"
DRIVER_APP = "nvidia-driver-daemonset"


def judge_owners(found: Found, classes: Mapping[str, Sequence[Json]], pools: Mapping[str, Pool]) -> Iterator[Finding]:
    """Findings about software that competes with the platform: device plugins, drivers and schedulers already in the
    cluster. `classes` has the nodes of each pool.
    """
    nodes = {name(node): node for members in classes.values() for node in members}
    yield from _plugins(found, list(nodes.values()))
    for pool, members in classes.items():
        if pool in pools:
            yield from _drivers(pool, pools[pool], members, found)
    yield from _schedulers(found, nodes)


def _plugins(found: Found, nodes: Sequence[Json]) -> Iterator[Finding]:
    others = [
        f"{namespace(each)}/{name(each)}"
        for each in found.daemon_sets or ()
        if namespace(each) != OPERATOR_NAMESPACE and _has_image(each, DEVICE_PLUGINS) and _reaches(each, nodes)
    ]
    if others:
        problem = f"{listed(others)} offers the GPUs too: the kubelet believes whoever registered last."
        yield wrong("device-plugin", "the cluster", problem, "Remove it, or keep it off the nodes of the pools.")
    else:
        yield ok("device-plugin", "the cluster", "no second one")


def _has_image(daemon_set: Json, parts: Sequence[str]) -> bool:
    containers = at(daemon_set, "spec.template.spec.containers") or ()
    return any(part in str(each.get("image", "")) for each in containers for part in parts)


def _reaches(daemon_set: Json, nodes: Sequence[Json]) -> bool:
    """True if the DaemonSet's node selector matches any of the nodes; affinities are not considered."""
    selector: Mapping[str, str] = at(daemon_set, "spec.template.spec.nodeSelector") or {}
    return any(all(labels(node).get(key) == value for key, value in selector.items()) for node in nodes)


def _drivers(pool: str, settings: Pool, nodes: Sequence[Json], found: Found) -> Iterator[Finding]:
    installed = [node for node in nodes if labels(node).get(DEPLOY_DRIVER_LABEL) == "pre-installed"]
    where = f"pools.{pool}"
    if settings.driver.is_operator and installed:
        versions = listed(labels(node).get(DRIVER_VERSION, "unknown") for node in installed)
        problem = (
            f"{listed(map(name, installed))} have a driver of the host ({versions}), and the operator is to install"
            " one: it leaves them alone, with the host's version."
        )
        yield wrong("driver", where, problem, "driver.source: host, or remove the driver from the hosts.")
        return
    of_operator = [each for each in found.daemon_sets or () if name(each).startswith(DRIVER_APP)]
    strange = [each for each in of_operator if namespace(each) != OPERATOR_NAMESPACE and _reaches(each, nodes)]
    if strange:
        problem = f"{listed(map(namespace, strange))} installs drivers there already."
        yield wrong("driver", where, problem, "One owner of the driver for each node.")
    else:
        yield ok("driver", where, "no other owner installs one")


def _schedulers(found: Found, nodes: Mapping[str, Json]) -> Iterator[Finding]:
    running = [each for each in found.deployments or () if name(each) in SCHEDULERS]
    there = {SCHEDULERS[name(each)]: namespace(each) for each in running}
    for kind, where in sorted(there.items()):
        if kind == "Run:ai":
            yield from _runai(where, found.nodes or (), nodes)
        elif kind == "KAI":
            yield from _kai(where, next(each for each in running if SCHEDULERS[name(each)] == kind))
        else:
            problem = f"{kind} in {where} gives out GPUs without knowing of KAI's quotas; Pods name one or the other."
            yield doubtful("scheduler", kind, problem, "Keep its Pods off the nodes of the pools, by their taint.")
    if not there:
        yield ok("scheduler", "the cluster", "no other one for GPUs")


def _kai(where: str, deployment: Json) -> Iterator[Finding]:
    """Finding about the KAI scheduler in the namespace `where`: a warning if the publisher has retracted the installed
    version; otherwise ok.
    """
    image = str(at(deployment, "spec.template.spec.containers", [{}])[0].get("image", ""))
    version = image.rpartition(":")[2]
    taken_back = retracted_charts().get((KAI_CHART, version))
    if taken_back is None:
        yield ok("scheduler", "KAI", f"in {where}")
        return
    problem = f"KAI in {where} is {version}, which was retracted: {taken_back.reason}."
    yield doubtful("scheduler", "KAI", problem, f"Install {KAI_VERSION}: the number is lower, and the software newer.")


def _runai(where: str, every: Sequence[Json], ours: Mapping[str, Json]) -> Iterator[Finding]:
    """Findings about Run:ai in a cluster that also gets KAI. Each must have its own nodes: two schedulers must never
    share a GPU.
    """
    workers = {name(node) for node in every if labels(node).get(WORKER_LABEL) == "true"}
    if not workers:
        problem = (
            f"Run:ai in {where} schedules on every GPU node, those of the pools included: two schedulers would place"
            " work on the same GPU."
        )
        fix = f"Label its own nodes {WORKER_LABEL}=true, and let Run:ai restrict itself to them."
        yield wrong("scheduler", "Run:ai", problem, fix, "Run:ai docs, node roles")
    elif shared := workers & set(ours):
        problem = f"{listed(shared)} belong to Run:ai and to a pool: two schedulers would place work on the same GPU."
        yield wrong("scheduler", "Run:ai", problem, "A selector for the pool without these nodes.")
    else:
        yield ok("scheduler", "Run:ai", f"on nodes of its own: {listed(workers)}")
    low, high = on_premises().runai_kubernetes
    minors = {found for node in every if (found := minor(node)) is not None}
    outside = [each for each in sorted(minors) if not numbers(low) <= each <= numbers(high)]
    if outside:
        texts = listed(".".join(map(str, each)) for each in outside)
        problem = f"The reference's Run:ai supports Kubernetes {low} to {high}, and nodes have {texts}."
        yield doubtful("scheduler", "Run:ai", problem, "See Run:ai's own support matrix.", on_premises().source)
