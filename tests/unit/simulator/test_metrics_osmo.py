"""What the simulated agents, OSMO's service and cAdvisor print."""

from __future__ import annotations

from typing import Any

from physical_ai.simulator.metrics import osmo_pages
from physical_ai.simulator.metrics.cadvisor import CPU, MEMORY, Cadvisor


def task(name: str, phase: str = "Running", version: str = "1", **resources: str) -> dict[str, Any]:
    labels = {
        "osmo.task_name": name,
        "osmo.workflow_id": "train-1",
        "osmo.workflow_uuid": "w1",
        "osmo.group_uuid": "g1",
        "osmo.submitted_by": "me",
        "kai.scheduler/queue": "osmo-pool-osmo-workflows-default",
    }
    metadata = {"name": name, "namespace": "osmo-workflows", "uid": name, "resourceVersion": version, "labels": labels}
    container = {"name": "task", "resources": {"requests": resources}}
    return {"metadata": metadata, "spec": {"containers": [container]}, "status": {"phase": phase}}


def value(page: str, series: str) -> float:
    (line,) = [each for each in page.splitlines() if each.startswith(series)]
    return float(line.rpartition(" ")[2])


def test_an_agent_counts_each_change_once() -> None:
    events = osmo_pages.Events()
    events.look([task("a"), task("b")], [])
    events.look([task("a"), task("b", version="2")], [])
    page = osmo_pages.agent_page(osmo_pages.LISTENER, events)
    assert value(page, 'kb_event_watch_count_total{event_type="pod"') == 3
    assert value(page, "event_processing_times_seconds_count") == 3
    assert (
        value(page, 'event_processing_times_seconds_bucket{event_type="pod",namespace="osmo-workflows",le="0.0"') == 0
    )
    assert (
        value(page, 'event_processing_times_seconds_bucket{event_type="pod",namespace="osmo-workflows",le="+Inf"') == 3
    )


def test_the_worker_has_a_job_for_each_group() -> None:
    events = osmo_pages.Events()
    events.look([task("a"), task("b")], [])
    page = osmo_pages.agent_page(osmo_pages.WORKER, events)
    assert value(page, 'backend_job_execution_time_seconds_count{job_type="CreateGroup"') == 1


def test_an_agent_reports_only_if_its_environment_asks_for_it() -> None:
    pod = task("agent")
    assert not osmo_pages.reports(pod)
    pod["spec"]["containers"][0]["env"] = [{"name": "METRICS_OTEL_ENABLE", "value": "true"}]
    assert osmo_pages.reports(pod)


def test_the_service_counts_tasks_by_state() -> None:
    pods = [task("a"), task("b"), task("c", "Succeeded"), {"metadata": {"name": "debug"}}]
    page = osmo_pages.service_page(pods, osmo_pages.Events())
    own = 'osmo_tasks_count{pool="default",status="%s",user="me",workflow_uuid="w1"}'
    assert (value(page, own % "RUNNING"), value(page, own % "COMPLETED")) == (2, 1)


def test_a_container_uses_a_part_of_what_it_requests() -> None:
    kubelet = Cadvisor()
    kubelet.page([task("a", cpu="10", memory="4Gi")], 100.0)
    page = kubelet.page([task("a", cpu="10", memory="4Gi"), task("b", "Succeeded")], 110.0)
    assert value(page, CPU) == 60
    assert value(page, MEMORY) == 2 * 2**30
