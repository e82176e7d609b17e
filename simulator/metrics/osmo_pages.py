"""Metrics of OSMO's agents and service: series of NVIDIA/OSMO 6.3 (src/operator, src/service).

The names of the series are those that OpenTelemetry's Prometheus exporter makes. The agents count the objects and
events that they have read from the API server.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from simulator import osmo_names as names
from simulator.cluster.objects import Json, at, labels
from simulator.metrics.page import Page, label_text
from simulator.osmo_names import (
    CONTROL_NAMESPACE,
    METRICS_ENVIRONMENT,
    METRICS_PORT,
    TASK_LABEL,
    WORKFLOW_LABEL,
    WORKFLOWS_NAMESPACE,
)
from simulator.scheduling import kai_names

LISTENER, WORKER = "backend-listener", "backend-worker"
"""Names of the agents' containers."""
UUID_LABEL, USER_LABEL = "osmo.workflow_uuid", "osmo.submitted_by"
QUEUES = tuple(
    f"{state}_{kind}_{what}"
    for state, what in (("unack", "messages"), ("", "send_queue"))
    for kind in ("pod", "node", "event", "heartbeat")
)
SECONDS_OF_EVENT, SECONDS_OF_JOB, SECONDS_OF_MESSAGE = 0.02, 1.5, 0.05
"""Simulated seconds that OSMO's agents need for an event and for a job, and OSMO's service for a message."""
BOUNDS = (0.0, 5.0, 10.0, 25.0, 50.0, 75.0, 100.0, 250.0, 500.0, 750.0, 1000.0, 2500.0, 5000.0, 7500.0, 10000.0)
"""Upper bounds of the buckets of OpenTelemetry's histograms."""
STATUS = {"Pending": "SCHEDULING", "Running": "RUNNING", "Succeeded": "COMPLETED", "Failed": "FAILED"}


class Events:
    """Counts for the metrics of OSMO's agents: changes of Pods, changes of Nodes, and groups of workflows."""

    def __init__(self) -> None:
        self.seen: Counter[str] = Counter()
        self.groups: set[str] = set()
        self._versions: dict[str, str] = {}

    def look(self, pods: Sequence[Json], nodes: Sequence[Json]) -> None:
        """Adds to the counters all changes of Pods and Nodes since the last call."""
        own = [pod for pod in pods if at(pod, "metadata.namespace") == WORKFLOWS_NAMESPACE]
        self.groups |= {group for pod in own if (group := labels(pod).get("osmo.group_uuid"))}
        for kind, items in (("pod", own), ("node", nodes)):
            for item in items:
                uid, version = (str(at(item, f"metadata.{field}", "")) for field in ("uid", "resourceVersion"))
                if self._versions.get(uid) != version:
                    self._versions[uid] = version
                    self.seen[kind] += 1


ELSEWHERE: Json = {
    "metadata": {"name": names.API, "namespace": CONTROL_NAMESPACE},
    "spec": {
        "nodeName": names.API,
        "containers": [
            {
                "name": names.API,
                "args": ["--metrics_otel_enable", "true"],
                "ports": [{"name": "metrics", "containerPort": METRICS_PORT}],
            }
        ],
    },
    "status": {"phase": "Running"},
}
"""Placeholder, in the form of a Pod, for OSMO's service if it runs in the simulator and not in the cluster."""


def with_service(pods: list[Json]) -> list[Json]:
    """The cluster's Pods. If none of them is a Pod of OSMO's service, a placeholder Pod for the simulator's OSMO
    service is added.
    """
    return pods if any(_process(pod) == names.API for pod in pods) else [*pods, ELSEWHERE]


def is_elsewhere(pod: Json) -> bool:
    return pod is ELSEWHERE


def _process(pod: Json) -> str:
    return labels(pod).get("app", "") if at(pod, "metadata.namespace") == CONTROL_NAMESPACE else ""


def reports(pod: Json) -> bool:
    """True if the environment or the arguments of a Pod's process turn its metrics on. Metrics are off by default
    (NVIDIA/OSMO 6.3.1 src/utils/metrics/metrics.py:115).
    """
    wanted = set(METRICS_ENVIRONMENT.items())
    given: set[tuple[str, Any]] = set()
    for container in pod["spec"]["containers"]:
        given |= {(each["name"], each.get("value")) for each in container.get("env", ())}
        arguments = [str(each) for each in container.get("args", ())]
        given |= {(flag.removeprefix("--").upper(), value) for flag, value in pairwise(arguments)}
    return wanted <= given


def page(pod: Json, pods: list[Json], events: Events) -> str | None:
    """Metrics of an OSMO process for which `reports` is True; None for a process that has no metrics."""
    if is_elsewhere(pod):
        return service_page(pods) + worker_page() + monitor_page()
    process = _process(pod)
    if not process:
        return agent_page(pod["spec"]["containers"][0]["name"], events)
    # OSMO's logger and router start no metrics server.
    made = {
        names.API: lambda: service_page(pods),
        names.WORKER: worker_page,
        names.JOB_MONITOR: monitor_page,
        names.AGENT: lambda: messages_page(events),
    }.get(process)
    return None if made is None else made()


def agent_page(container: str, events: Events) -> str:
    """Metrics of an OSMO agent."""
    page = Page()
    namespace = {"namespace": WORKFLOWS_NAMESPACE}
    if container == WORKER:
        for job in ("CreateGroup", "CleanupGroup"):
            own = {"job_type": job, **namespace}
            _histogram(page, "backend_job_execution_time_seconds", own, len(events.groups), SECONDS_OF_JOB)
        return page.text()
    for kind, count in sorted(events.seen.items()):
        own = {"event_type": kind, **namespace}
        for name in ("kb_event_watch_count_total", "backend_listener_queue_event_count_total"):
            _sample(page, name, "counter", own, count)
        _histogram(page, "event_processing_times_seconds", own, count, SECONDS_OF_EVENT)
    for queue in QUEUES:
        _sample(page, "backend_listener_queue_length_count", "gauge", {"queue_type": queue.strip("_")}, 0)
    return page.text()


def service_page(pods: Iterable[Json]) -> str:
    """Metrics of OSMO's service (src/service/core/workflow/workflow_metrics.py): its tasks are the Pods of
    workflows.
    """
    found = Page()
    for task, count in sorted(Counter(_task(pod) for pod in pods if TASK_LABEL in labels(pod)).items()):
        _sample(found, "osmo_tasks_count", "gauge", dict(task), count)
    return found.text()


def worker_page() -> str:
    """Metrics of OSMO's worker (src/service/worker/worker.py)."""
    found = Page()
    for queue in ("FREQUENT", "INFREQUENT"):
        _sample(found, "osmo_service_worker_job_queue_length_count", "gauge", {"job_type": queue}, 0)
    _sample(found, "osmo_backend_worker_job_queue_length_count", "gauge", {"job_type": "default:FREQUENT"}, 0)
    return found.text()


def monitor_page() -> str:
    """Metrics of OSMO's monitor of delayed jobs (src/service/delayed_job_monitor)."""
    found = Page()
    _sample(found, "osmo_delayed_job_length_count", "gauge", {}, 0)
    return found.text()


def messages_page(events: Events) -> str:
    """Metrics of the service that OSMO's agents are connected to (src/service/agent/helpers.py:645)."""
    found = Page()
    for kind, count in sorted(events.seen.items()):
        _sample(found, "osmo_backend_event_count_total", "counter", {"type": kind}, count)
        seconds = count * SECONDS_OF_MESSAGE
        _sample(found, "osmo_backend_event_processing_time_seconds_total", "counter", {"type": kind}, seconds)
    return found.text()


def _task(pod: Json) -> tuple[tuple[str, str], ...]:
    given = labels(pod)
    status = STATUS.get(str(at(pod, "status.phase", "Pending")), "RUNNING")
    found = {
        "pool": given.get(kai_names.QUEUE_LABEL, "unknown").rpartition("-")[2],
        "user": given.get(USER_LABEL, "unknown"),
        "workflow_uuid": given.get(UUID_LABEL, given.get(WORKFLOW_LABEL, "")),
        "status": status,
    }
    return tuple(sorted(found.items()))


def _sample(page: Page, name: str, kind: str, own: Mapping[str, str], value: float) -> None:
    page.family(name, kind, "As OSMO describes it.")
    page.sample(name, own, value)


def _histogram(page: Page, name: str, own: Mapping[str, str], count: int, seconds: float) -> None:
    """Adds a histogram in which `count` values all equal `seconds`."""
    page.family(name, "histogram", "As OSMO describes it.")
    for bound in (*BOUNDS, float("inf")):
        shown = "+Inf" if bound == float("inf") else str(bound)
        page.line(f"{name}_bucket", label_text({**own, "le": shown}), count if seconds <= bound else 0, family=name)
    page.line(f"{name}_count", label_text(own), count, family=name)
    page.line(f"{name}_sum", label_text(own), count * seconds, family=name)
