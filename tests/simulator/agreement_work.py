"""Running work of all kinds that the impact of changes tells apart, in a simulated stack, and what becomes of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from physical_ai.catalog.aks import SPOT_TAINT
from physical_ai.catalog.osmo import (
    KAI_GROUP_ANNOTATION,
    KAI_POD_GROUP_API,
    KAI_QUEUE_API,
    KAI_QUEUE_LABEL,
    SCHEDULER,
    TASK_LABEL,
    WORKFLOW_LABEL,
    WORKFLOWS_NAMESPACE,
)
from physical_ai.settings.facts.gpu import FINISH_FIRST_LABEL
from simulator.gpu.names import UPGRADE_STATE
from simulator.kubernetes.client import ApiError, Client
from simulator.osmo_names import CONTROL_CONTAINER
from tests.simulator.agreement_submissions import Submissions
from tests.support.scheduling import GPU_TOLERATED
from tests.support.waiting import until

NAMESPACE = "default"
TASKS = WORKFLOWS_NAMESPACE
ALL_PODS = "/api/v1/pods"
PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"
BUDGETS = f"/apis/policy/v1/namespaces/{NAMESPACE}/poddisruptionbudgets"
DEPLOYMENTS = f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments"
GROUPS = f"/apis/{KAI_POD_GROUP_API}/namespaces/{NAMESPACE}/podgroups"
SPOT = {"key": SPOT_TAINT.split("=")[0], "operator": "Exists"}
QUEUE = "agreement"
ENDLESS = ["-commands", "sleep", "-args", "100000000"]
"""Arguments of a task's container: the simulator runs the task for these seconds."""
CHECKPOINTS = ["-checkpoint", "/ck;azure://account/container;600;.*"]


@dataclass(frozen=True)
class Kind:
    """One kind of work.

    Attributes:
        pods: Name and pool of each of its Pods.
        gpus: GPUs of each Pod.
        controlled: True for a Deployment.
        submitted: True for a workflow that is submitted to OSMO's service; the first of its Pods leads the others.
    """

    title: str
    pods: tuple[tuple[str, str], ...]
    gpus: int = 1
    controlled: bool = False
    workflow: str = ""
    checkpoints: bool = False
    submitted: bool = False


KINDS: Mapping[str, Kind] = {
    "service": Kind("a service (Deployment) with a GPU", (("serve", "h100gpu"),), controlled=True),
    "web": Kind("a service without a GPU", (("web", "cpu"),), gpus=0, controlled=True),
    "beside": Kind("a service without a GPU on a GPU node", (("beside", "h100gpu"),), gpus=0, controlled=True),
    "pod": Kind("a Pod without a controller, vGPU", (("render", "rtxprogpu"),)),
    "task": Kind("a task of OSMO with checkpoints", (("train", "h100gpu"),), workflow="train-1", checkpoints=True),
    "gang": Kind(
        "a workflow of OSMO with a gang across both GPU pools",
        (("lead", "h100gpu"), ("peer", "rtxprogpu")),
        workflow="gang",
        submitted=True,
    ),
}


def of_pods() -> dict[str, str]:
    """Kind of work by the name of its Pod, without the suffix of a Deployment's Pod."""
    return {pod: kind for kind, found in KINDS.items() for pod, _ in found.pods}


def container(gpus: int, *args: str) -> dict[str, Any]:
    amounts = {"nvidia.com/gpu": str(gpus)} if gpus else {}
    return {"name": "main", "image": "image", "args": list(args), "resources": {"requests": amounts, "limits": amounts}}


def pod_spec(pool: str, gpus: int, *args: str) -> dict[str, Any]:
    return {
        "nodeSelector": {"agentpool": pool},
        "tolerations": [*GPU_TOLERATED, SPOT],
        "containers": [container(gpus, *args)],
    }


def deployment(name: str, pool: str, gpus: int) -> dict[str, Any]:
    template = {"metadata": {"labels": {"app": name}}, "spec": pod_spec(pool, gpus)}
    return {
        "metadata": {"name": name},
        "spec": {"replicas": 1, "selector": {"matchLabels": {"app": name}}, "template": template},
    }


def task(name: str, pool: str, kind: Kind) -> dict[str, Any]:
    """Pod of a task, with what the agents of OSMO 6.3.1 write that other programs read."""
    spec = pod_spec(pool, kind.gpus, *(CHECKPOINTS if kind.checkpoints else []), *ENDLESS)
    spec["containers"].append({"name": CONTROL_CONTAINER, "image": "image"})
    labels = {
        WORKFLOW_LABEL: kind.workflow,
        TASK_LABEL: name,
        FINISH_FIRST_LABEL: "true",
        KAI_QUEUE_LABEL: QUEUE,
    }
    metadata = {"name": name, "labels": labels, "annotations": {KAI_GROUP_ANNOTATION: kind.workflow}}
    return {"metadata": metadata, "spec": {**spec, "schedulerName": SCHEDULER, "restartPolicy": "Never"}}


def pod_group(kind: Kind) -> dict[str, Any]:
    return {
        "apiVersion": KAI_POD_GROUP_API,
        "kind": "PodGroup",
        "metadata": {"name": kind.workflow},
        "spec": {"minMember": len(kind.pods), "queue": QUEUE},
    }


def queue() -> dict[str, Any]:
    free = {"quota": -1, "limit": -1, "overQuotaWeight": 1}
    return {
        "apiVersion": KAI_QUEUE_API,
        "kind": "Queue",
        "metadata": {"name": QUEUE},
        "spec": {"resources": dict.fromkeys(("gpu", "cpu", "memory"), free)},
    }


def works(client: Client) -> dict[str, str]:
    """UID of each running Pod by its name, or by the name of its Deployment; without Pods that are being deleted, or
    whose node is gone.
    """
    pods = [each for each in client.get(ALL_PODS)["items"] if each["metadata"]["namespace"] in (NAMESPACE, TASKS)]
    nodes = {each["metadata"]["name"] for each in client.get("/api/v1/nodes")["items"]}
    return {
        _name(each["metadata"]): each["metadata"]["uid"]
        for each in pods
        if each["status"].get("phase") == "Running"
        and "deletionTimestamp" not in each["metadata"]
        and each["spec"]["nodeName"] in nodes
    }


def _name(metadata: Mapping[str, Any]) -> str:
    labels: Mapping[str, str] = metadata.get("labels") or {}
    return str(labels.get("app") or labels.get(TASK_LABEL) or metadata["name"])


def begin(client: Client, submissions: Submissions) -> dict[str, str]:
    """Starts what is missing of the work, and waits until all of it runs."""
    _create(client, f"/apis/{KAI_QUEUE_API}/queues", queue())
    for kind in KINDS.values():
        running = works(client)
        if kind.controlled:
            for name, pool in kind.pods:
                _create(client, DEPLOYMENTS, deployment(name, pool, kind.gpus))
        elif not {name for name, _ in kind.pods} <= set(running):
            _clear(client, kind, submissions)
            if kind.submitted:
                submissions.submit(kind.workflow, kind.pods)
                continue
            if kind.workflow:
                _create(client, GROUPS, pod_group(kind))
            for name, pool in kind.pods:
                plain = {"metadata": {"name": name}, "spec": pod_spec(pool, kind.gpus)}
                _create(client, PODS, task(name, pool, kind) if kind.workflow else plain)
    until(
        lambda: set(works(client)) == set(of_pods()),
        "the work does not run",
        state=lambda: (sorted(works(client)), submissions.said),
    )
    return works(client)


def guard(client: Client, work: str) -> None:
    """Creates a disruption budget that lets no Pod of a Deployment go, and waits until it counts."""
    spec = {"maxUnavailable": 0, "selector": {"matchLabels": {"app": work}}}
    _create(client, BUDGETS, {"metadata": {"name": work}, "spec": spec})
    until(
        lambda: client.get(f"{BUDGETS}/{work}").get("status", {}).get("currentHealthy") == 1,
        "the budget does not count",
    )


def unguard(client: Client, work: str) -> None:
    _delete(client, f"{BUDGETS}/{work}")


def settle(client: Client, submissions: Submissions) -> None:
    """Ends the tasks for which an upgrade waits, and waits until no node is kept from new Pods any more."""
    if _cordoned(client):
        for kind in KINDS.values():
            if not kind.controlled:
                _clear(client, kind, submissions)
        until(lambda: not _cordoned(client), "an upgrade does not end", state=lambda: _cordoned(client))


def waits(client: Client) -> bool:
    """True if the operator's upgrade of a driver waits for the work of a node."""
    states = {each["metadata"]["labels"].get(UPGRADE_STATE) for each in client.get("/api/v1/nodes")["items"]}
    return "wait-for-jobs-required" in states


def _cordoned(client: Client) -> list[str]:
    nodes = client.get("/api/v1/nodes")["items"]
    return [each["metadata"]["name"] for each in nodes if each["spec"].get("unschedulable")]


def _clear(client: Client, kind: Kind, submissions: Submissions) -> None:
    """Deletes what is left of the Pods of work that has ended, as its owner would before starting it again."""
    if kind.submitted:
        submissions.cancel(kind.workflow)
    paths = [_path(each["metadata"]) for each in client.get(ALL_PODS)["items"] if _is_of(each["metadata"], kind)]
    for path in paths:
        _delete(client, path)
    for path in paths:
        until(lambda path=path: client.find(path) is None, f"{path} does not go")


def _is_of(metadata: Mapping[str, Any], kind: Kind) -> bool:
    return metadata["namespace"] in (NAMESPACE, TASKS) and _name(metadata) in {name for name, _ in kind.pods}


def _path(metadata: Mapping[str, Any]) -> str:
    return f"/api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}"


def _delete(client: Client, path: str) -> None:
    try:
        client.request("DELETE", path, params={"gracePeriodSeconds": "0"})
    except ApiError as refusal:
        if refusal.code != 404:
            raise


def _create(client: Client, path: str, item: Mapping[str, Any]) -> None:
    try:
        client.request("POST", path, dict(item))
    except ApiError as refusal:
        if refusal.code != 409:
            raise


def outcome(before: Mapping[str, str], now: Mapping[str, str], work: str) -> str:
    """Fate of a Pod that was seen, in the words of the impact."""
    if work not in now:
        return "ended"
    return "untouched" if now[work] == before[work] else "restarted"


def observed(
    client: Callable[[], Client],
    before: Mapping[str, str],
    expected: Mapping[str, str],
    seconds: float,
    hold: float,
) -> dict[str, str]:
    """Fate of each Pod of `before`, once all have been as expected for `hold` seconds, or after `seconds`."""
    last: dict[str, str] = {}

    def seen() -> dict[str, str]:
        now = works(client())
        return {work: outcome(before, now, work) for work in before}

    def fits() -> bool:
        last.clear()
        last.update(seen())
        return all(last[work] == fate for work, fate in expected.items())

    since: list[float] = []

    def holds() -> bool:
        if not fits():
            since.clear()
            return False
        since.append(time.monotonic())
        return since[-1] - since[0] >= hold

    try:
        until(holds, "", seconds=seconds, every=0.3)
    except AssertionError:
        return last
    return last
