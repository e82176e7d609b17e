"""What the simulated agents, OSMO's service and cAdvisor print."""

from __future__ import annotations

from typing import Any

from physical_ai.planning.scraping import pod_monitors
from physical_ai.settings import Overlay, load
from simulator.metrics import osmo_pages
from simulator.metrics.cadvisor import CPU, MEMORY, Cadvisor
from simulator.metrics.discovery import targets
from simulator.metrics.jobs import Job, pod_jobs


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
    page = osmo_pages.service_page(pods)
    own = 'osmo_tasks_count{pool="default",status="%s",user="me",workflow_uuid="w1"}'
    assert (value(page, own % "RUNNING"), value(page, own % "COMPLETED")) == (2, 1)


def process(app: str, *args: str, ports: tuple[int, ...] = (), **env: str) -> dict[str, Any]:
    container = {
        "name": app,
        "args": list(args),
        "env": [{"name": name, "value": value} for name, value in env.items()],
        **({"ports": [{"containerPort": port} for port in ports]} if ports else {}),
    }
    metadata = {"name": f"{app}-0", "namespace": "osmo-control-plane", "labels": {"app": app}}
    spec = {"nodeName": "cpu-0", "containers": [container]}
    return {"metadata": metadata, "spec": spec, "status": {"phase": "Running"}}


ON = ("--metrics_otel_enable", "true")
SERVICE, AGENT = process("osmo-service", *ON, ports=(9464,)), process("osmo-agent", METRICS_OTEL_ENABLE="true")


def test_each_process_prints_its_own_series_and_only_if_it_is_asked() -> None:
    events = osmo_pages.Events()
    events.look([task("a")], [])

    def names(pod: dict[str, Any]) -> set[str]:
        page = osmo_pages.page(pod, [task("a")], events) if osmo_pages.reports(pod) else None
        return {line.split()[2] for line in (page or "").splitlines() if line.startswith("# TYPE")}

    messages = {"osmo_backend_event_count_total", "osmo_backend_event_processing_time_seconds_total"}
    assert names(SERVICE) == {"osmo_tasks_count"}
    assert names(AGENT) == messages
    assert names(process("osmo-agent")) == set()
    assert names(process("osmo-logger", METRICS_OTEL_ENABLE="true")) == set()
    assert not names(osmo_pages.ELSEWHERE) & messages


def test_the_service_of_the_simulation_is_there_only_where_the_cluster_has_none() -> None:
    assert osmo_pages.with_service([task("a")])[-1] is osmo_pages.ELSEWHERE
    assert osmo_pages.with_service([SERVICE]) == [SERVICE]


def test_the_monitors_of_a_control_plane_reach_the_process_that_declares_no_port() -> None:
    """As Prometheus relabels: the first monitor keeps declared ports, the second sets the address itself."""
    settings = load("dev-southeastasia", [Overlay.assign(["monitoring.metrics=azure"])]).settings
    monitors = {each["metadata"]["name"]: each for each in pod_monitors(settings)}
    (of_service,), (of_agent,) = (pod_jobs(monitors[name]) for name in ("osmo-service", "osmo-agent"))

    def found(job: Job) -> list[str]:
        return [each["labels"]["__meta_kubernetes_pod_name"] for each in targets([SERVICE, AGENT], job.selection, "x")]

    assert found(of_service) == ["osmo-service-0"]
    assert found(of_agent) == ["osmo-agent-0"]
    (alone,) = targets([AGENT], of_agent.selection, "x")
    assert alone["labels"]["__metrics_path__"].endswith("/80")
    paths = [each for each in of_agent.relabelings if each.get("target_label") == "__metrics_path__"]
    assert [each["replacement"] for each in paths] == ["/pods/$1/metrics"]


def test_the_agent_s_service_is_asked_for_metrics() -> None:
    for metrics, wanted in (("azure", True), ("none", False)):
        loaded = load("dev-southeastasia", [Overlay.assign([f"monitoring.metrics={metrics}"])])
        assert loaded.plan.control_plane is not None
        given = loaded.plan.control_plane.values["services"]["agent"].get("extraEnv", [])
        assert ({"name": "METRICS_OTEL_ENABLE", "value": "true"} in given) is wanted


def test_a_container_uses_a_part_of_what_it_requests() -> None:
    kubelet = Cadvisor()
    kubelet.page([task("a", cpu="10", memory="4Gi")], 100.0)
    page = kubelet.page([task("a", cpu="10", memory="4Gi"), task("b", "Succeeded")], 110.0)
    assert value(page, CPU) == 60
    assert value(page, MEMORY) == 2 * 2**30
