"""What AMD's simulated exporter prints, and that what is configured and deployed finds it."""

from __future__ import annotations

from typing import Any

from parts.amd import names as amd
from physical_ai.catalog import vm_size
from physical_ai.catalog.telemetry_rows import amd_fields
from physical_ai.planning.scraping import pod_monitors
from physical_ai.telemetry.amd_counters import CONFIG_MAP, KEY, exporter_config
from simulator.amd import model
from simulator.metrics import amd_pages, discovery
from simulator.metrics.jobs import pod_jobs
from tests.support.amd_settings import MI300X, mixed_settings, planned

Json = dict[str, Any]
CONFIG: Json = {"data": {KEY: exporter_config()}}
GPU = vm_size(MI300X).gpu


def printed(config: Json | None = CONFIG, held: list[amd_pages.Holder] | None = None) -> list[str]:
    assert GPU is not None
    return [each for each in amd_pages.page("n", GPU, config, held or []).splitlines() if not each.startswith("#")]


def pod(name: str, gpus: int, started: str = "1") -> Json:
    container = {"name": "rocm", "resources": {"limits": {"amd.com/gpu": str(gpus)}}}
    return {
        "metadata": {"name": name, "namespace": "ml", "uid": name},
        "spec": {"nodeName": "n", "containers": [container]},
        "status": {"phase": "Running", "startTime": started},
    }


def test_each_gpu_has_the_configured_fields_under_their_prefix() -> None:
    lines = printed()
    assert {each.partition("{")[0] for each in lines} == {f"amd_{field.lower()}" for field in amd_fields()}
    assert sum(each.startswith("amd_gpu_health{") and each.endswith(" 1") for each in lines) == 8


def test_without_a_configuration_that_can_be_read_names_have_no_prefix() -> None:
    for config in (None, {"data": {KEY: "{"}}, {"data": {}}):
        assert [each for each in printed(config) if each.startswith("gpu_gfx_activity{")]
    few = {"data": {KEY: '{"GPUConfig": {"Fields": ["GPU_HEALTH", "GPU_UNKNOWN"]}}'}}
    assert {each.partition("{")[0] for each in printed(few)} == {"gpu_health"}


def test_gpus_are_held_in_the_order_in_which_pods_started() -> None:
    ended = {**pod("ended", 4), "status": {"phase": "Succeeded"}}
    held = amd_pages.holders([pod("second", 1, "2"), pod("first", 2), ended], "n", {"second": 0.5})
    assert [each.pod for each in held] == ["first", "first", "second"]
    found = [each for each in printed(held=held) if each.startswith("amd_gpu_gfx_activity{")]
    assert [float(each.rpartition(" ")[2]) for each in found] == [100, 100, 50, 0, 0, 0, 0, 0]
    assert 'pod="second"' in found[2]
    assert 'pod=""' in found[3]


def test_the_monitor_selects_the_exporters_pod_by_its_labels_and_its_port() -> None:
    plan = planned("monitoring.metrics=azure")
    config = {"metadata": {"name": "mi300x", "uid": "u"}, "spec": plan.configs["mi300x"]}
    (made,) = (each for each in model.daemon_sets(config) if each["metadata"]["name"] == amd.metrics_exporter("mi300x"))
    template: Json = made["spec"]["template"]
    assert template["spec"]["volumes"][0]["configMap"] == {"name": CONFIG_MAP}
    running: Json = {
        **template,
        "metadata": {**template["metadata"], "name": "e", "namespace": amd.NAMESPACE},
        "spec": {**template["spec"], "nodeName": "n"},
        "status": {"phase": "Running"},
    }
    settings = mixed_settings("monitoring.metrics=azure")
    (monitor,) = (each for each in pod_monitors(settings) if each["metadata"]["namespace"] == amd.NAMESPACE)
    (job,) = pod_jobs(monitor)
    assert len(discovery.targets([running], job.selection, "x")) == 1
    others = [each for each in model.daemon_sets(config) if each["metadata"]["name"] != made["metadata"]["name"]]
    metadata = [{**running["metadata"], **each["spec"]["template"]["metadata"]} for each in others]
    assert not discovery.targets([{**running, "metadata": each} for each in metadata], job.selection, "x")
