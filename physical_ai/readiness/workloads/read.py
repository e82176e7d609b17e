"""Reads what the diagnosis of workloads needs from an API server. It writes nothing."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from physical_ai.catalog.osmo import KAI_NAMESPACE, OPERATOR_NAMESPACE
from physical_ai.kubernetes.objects import Json, at, name, namespace
from physical_ai.readiness.model import Expected
from physical_ai.readiness.phase import is_running, unfinished
from physical_ai.readiness.reader import Get, Missing, Unreachable, listed, read_reports
from physical_ai.readiness.workloads.model import PoolPlan, Workloads

MAX_LOGS = 8
"""Logs of one diagnosis; each request goes through the API server to a node."""
LOG_LINES = "20"


def read_workloads(get: Get, expected: Sequence[Expected], pools: Sequence[PoolPlan], stack: str) -> Workloads:
    """The cluster as it is now: eight lists, those of the gates, and the logs of at most eight containers.

    Raises:
        Unreachable, Unusable: as `get` does.
    """
    given = Workloads(
        nodes=_items(get, "/api/v1/nodes"),
        pods=_items(get, "/api/v1/pods"),
        events=_items(get, "/api/v1/events"),
        groups=_items(get, "/apis/scheduling.run.ai/v2alpha2/podgroups"),
        queues=_items(get, "/apis/scheduling.run.ai/v2/queues"),
        deployments=[
            deployment
            for where in (KAI_NAMESPACE, OPERATOR_NAMESPACE)
            for deployment in _items(get, f"/apis/apps/v1/namespaces/{where}/deployments")
        ],
        pools=pools,
        reports=read_reports(get, expected),
        stack=stack,
        now=datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    )
    return replace(given, logs=_logs(get, given.pods))


def _items(get: Get, path: str) -> list[Json]:
    return [dict(each) for each in listed(get, path)]


def _logs(get: Get, pods: Sequence[Json]) -> dict[tuple[str, str, str], str]:
    """The last lines of containers that failed, of the newest Pods."""
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
        except Unreachable:
            break  # this node's kubelet does not answer, and others may not either
        found[namespace(pod), name(pod), container] = text if isinstance(text, str) else ""
    return found


def _with_log(pod: Json) -> str:
    """The container of a Pod that ended badly; empty where none did."""
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
