"""Reading of the objects for the diagnosis of workloads from an API server. It writes nothing."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import yaml

from physical_ai import safe_yaml
from physical_ai.catalog.osmo import KAI_POD_GROUP_API, KAI_QUEUE_API
from physical_ai.kubernetes.objects import Json, at, name, namespace
from physical_ai.nested import is_mapping
from physical_ai.readiness.answers import Get, Missing, Unreachable, is_forbidden
from physical_ai.readiness.devices import CLAIMS, SLICES
from physical_ai.readiness.events import OF_NODES, read_events
from physical_ai.readiness.model import Expected, Report
from physical_ai.readiness.nodes.repairs import restarted
from physical_ai.readiness.phase import is_running, unfinished
from physical_ai.readiness.reader import listed, read_reports
from physical_ai.readiness.workloads.clock import reading_time
from physical_ai.readiness.workloads.hang import TIMEOUT
from physical_ai.readiness.workloads.health import owner_shortfall
from physical_ai.readiness.workloads.index import Index
from physical_ai.readiness.workloads.model import DeclaredPool, Workloads
from physical_ai.settings.facts.gpu import OPERATOR_NAMESPACE as GPU_NAMESPACE

MAX_LOGS = 8
"""Maximum number of failed containers whose logs are read. Each log is a request through the API server to a node."""
MAX_PEER_LOGS = 16
"""Maximum number of additional logs: of running members of gangs in which a collective operation timed out."""
LOG_LINES = "200"
"""Number of lines that are read from the end of each log.

PyTorch writes dozens of lines after the one that names the operation in which a rank waited.
"""
STATUS = "/api/v1/namespaces/kube-system/configmaps/cluster-autoscaler-status"
OWNERS = {
    "Job": "/apis/batch/v1/jobs",
    "CronJob": "/apis/batch/v1/cronjobs",
    "Deployment": "/apis/apps/v1/deployments",
    "StatefulSet": "/apis/apps/v1/statefulsets",
    "DaemonSet": "/apis/apps/v1/daemonsets",
}
REPLICA_SETS = "/apis/apps/v1/replicasets"
RECORDS = f"/api/v1/namespaces/{GPU_NAMESPACE}/configmaps"


def read_workloads(
    get: Get,
    expected: Sequence[Expected],
    pools: Sequence[DeclaredPool],
    stack: str,
    wanted: str = "",
    *,
    now: datetime.datetime | None = None,
) -> Workloads:
    """Reads the present state of the cluster, and returns it.

    Each reading takes eleven requests, and the requests for the gates and for the logs of at most 24 containers. If a
    Pod has a claim, two more; if a Deployment or ReplicaSet lacks Pods, one more; if GPU pools are expected, or if no
    node and no Pod is named `wanted`, one more. The login must be able to read nodes and Pods; other objects that it
    may not read are listed in `unread` of the result. `now` replaces the time of this machine's clock.

    Raises:
        Unreachable, Unusable: `get` raised it.
    """
    unread: list[str] = []

    def may(what: str, path: str) -> list[Json] | None:
        try:
            return _items(get, path)
        except Unreachable as refusal:
            _note(unread, what, refusal)
            return None

    nodes = _items(get, "/api/v1/nodes")
    pods = _items(get, "/api/v1/pods")
    events = [dict(each) for each in read_events(get, "/api/v1/events", unread)]
    owners = {kind: found for kind, path in OWNERS.items() if (found := may(f"{kind}s", path)) is not None}
    given = Workloads(
        nodes=nodes,
        pods=pods,
        events=events,
        groups=may("KAI's PodGroups", f"/apis/{KAI_POD_GROUP_API}/podgroups") or (),
        queues=may("KAI's queues", f"/apis/{KAI_QUEUE_API}/queues"),
        deployments=owners.get("Deployment"),
        owners=owners,
        pools=pools,
        autoscaler=_autoscaler(get, unread),
        reports=_reports(get, expected, unread),
        stack=stack,
        existing=any(each.existing for each in pools),
        now=reading_time(now or datetime.datetime.now(datetime.UTC), nodes, events),
    )
    if any(at(pod, "spec.resourceClaims") for pod in given.pods):
        given = replace(given, claims=may("resource claims", CLAIMS), slices=may("resource slices", SLICES) or ())
    refused = (at(event, "involvedObject.kind") for event in given.events if event.get("reason") == "FailedCreate")
    short = any(owner_shortfall("Deployment", each) for each in owners.get("Deployment", ()))
    if (short or "ReplicaSet" in refused) and (sets := may("ReplicaSets", REPLICA_SETS)) is not None:
        given = replace(given, owners={**owners, "ReplicaSet": sets})
    if expected or (wanted and wanted not in {name(each) for each in (*given.nodes, *given.pods)}):
        records = may("records of machines", RECORDS) or ()
        given = replace(given, records=records, restarted=restarted(records, nodes, given.now))
    unread += dict.fromkeys(each for report in given.reports for each in report.unread)
    logs = _logs(get, given.pods, unread)
    logs |= _peer_logs(get, given.pods, logs, unread)
    return replace(given, logs=logs, unread=tuple(unread))


def node_workloads(get: Get, stack: str, *, existing: bool, now: datetime.datetime | None = None) -> Workloads:
    """Reads the nodes, their events, and the records of machines, for commands that name causes of nodes.

    Records and events only serve as evidence: if the login may not read them, or they are too many, they are listed in
    `unread` of the result.

    Args:
        existing: True for an existing cluster.
        now: Time of the reading; this machine's time if omitted.

    Raises:
        Unreachable, Unusable: `get` raised it.
    """
    unread: list[str] = []
    records: list[Json] = []
    try:
        records = _items(get, RECORDS)
    except Unreachable as refusal:
        _note(unread, "records of machines", refusal)
    events = [dict(each) for each in read_events(get, "/api/v1/events", unread, about=OF_NODES)]
    nodes = _items(get, "/api/v1/nodes")
    return Workloads(
        nodes=nodes,
        events=events,
        records=records,
        restarted=restarted(records, nodes, reading_time(now or datetime.datetime.now(datetime.UTC), nodes, events)),
        stack=stack,
        existing=existing,
        unread=tuple(unread),
    )


def _items(get: Get, path: str) -> list[Json]:
    return [dict(each) for each in listed(get, path)]


def _note(unread: list[str], what: str, refusal: Unreachable) -> None:
    """Adds a request that was refused for lack of rights to `unread`. Any other failure is raised, because a further
    reading may succeed.
    """
    if not is_forbidden(refusal):
        raise refusal
    unread.append(f"{what} ({refusal})")


def _reports(get: Get, expected: Sequence[Expected], unread: list[str]) -> tuple[Report, ...]:
    try:
        return read_reports(get, expected)
    except Unreachable as refusal:
        _note(unread, "the gates of the GPU pools", refusal)
        return ()


def _logs(get: Get, pods: Sequence[Json], unread: list[str]) -> dict[tuple[str, str, str], str]:
    """Last log lines of containers that failed, for the newest Pods."""
    found: dict[tuple[str, str, str], str] = {}
    for pod in sorted(pods, key=lambda each: str(at(each, "metadata.creationTimestamp", "")), reverse=True):
        container = _with_log(pod)
        if not container or len(found) == MAX_LOGS:
            continue
        again = at(_status(pod, container), "state.waiting") is not None
        parameters = {"container": container, "tailLines": LOG_LINES} | ({"previous": "true"} if again else {})
        try:
            text: Any = get(f"/api/v1/namespaces/{namespace(pod)}/pods/{name(pod)}/log", parameters)
        except Missing:
            continue
        except Unreachable as problem:
            unread.append(f"{'' if is_forbidden(problem) else 'further '}logs of containers ({problem})")
            break  # this node's kubelet does not answer, and others may not either
        found[namespace(pod), name(pod), container] = text if isinstance(text, str) else ""
    return found


def _peer_logs(
    get: Get, pods: Sequence[Json], logs: Mapping[tuple[str, str, str], str], unread: list[str]
) -> dict[tuple[str, str, str], str]:
    """Last log lines of ranks that are still running, in gangs in which another rank reports a timeout of a collective
    operation.
    """
    timed_out = {(where, own): container for (where, own, container), text in logs.items() if TIMEOUT.search(text)}
    found: dict[tuple[str, str, str], str] = {}
    index = Index(Workloads(pods=pods))
    for pod in pods if timed_out else ():
        container = timed_out.get((namespace(pod), name(pod)))
        for peer in index.peers(pod) if container else ():
            key = (namespace(peer), name(peer), str(container))
            if key in logs or key in found or at(peer, "status.phase") != "Running" or len(found) == MAX_PEER_LOGS:
                continue
            path = f"/api/v1/namespaces/{key[0]}/pods/{key[1]}/log"
            try:
                text: Any = get(path, {"container": key[2], "tailLines": LOG_LINES})
            except Missing:
                continue
            except Unreachable as problem:
                unread.append(f"further logs of containers ({problem})")
                return found  # further logs may each take as long
            found[key] = text if isinstance(text, str) else ""
    return found


def _autoscaler(get: Get, unread: list[str]) -> Mapping[str, Any]:
    """Status that the autoscaler writes, in its form since 1.30; empty if no such status can be read."""
    try:
        found: Any = get(STATUS, {})
        status: Any = safe_yaml.load(str(at(found, "data.status", "") or ""))
    # libyaml raises ValueError, not its own exception, for half of a surrogate pair.
    except (Missing, yaml.YAMLError, ValueError):
        return {}
    except Unreachable as refusal:
        _note(unread, "the autoscaler's status", refusal)
        return {}
    return status if is_mapping(status) else {}


def _with_log(pod: Json) -> str:
    """Name of a Pod's container that failed; empty if no container failed."""
    if at(pod, "status.phase") == "Succeeded" or is_running(pod) or not at(pod, "spec.nodeName"):
        return ""
    statuses: list[Json] = [*at(pod, "status.initContainerStatuses", []), *at(pod, "status.containerStatuses", [])]
    for status in statuses:
        if any(at(status, f"{key}.terminated.exitCode", 0) != 0 for key in ("state", "lastState")):
            return str(status["name"])
    return ""


def _status(pod: Json, container: str) -> Json:
    found = unfinished(pod)
    return dict(found[1]) if found[0] == container else {}
