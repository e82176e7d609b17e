"""What the model of the NVSentinel chart renders with a stack's own values, in each mode."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
import yaml

from parts.nvsentinel.names import (
    CHART,
    DATASTORE_SECRET,
    FAULT_QUARANTINE,
    GPU_MONITOR,
    NAMESPACE,
    NODE_DRAINER,
    RELEASE,
    SYSLOG_MONITOR,
)
from physical_ai.catalog.charts import newest_chart
from physical_ai.settings.models.health import HealthMode
from simulator.charts import materialise
from simulator.home import Home
from simulator.nvsentinel.cluster import MODULE
from simulator.nvsentinel.drain import Config as DrainConfig
from simulator.nvsentinel.quarantine import Config
from tests.support.charts import Json, Refused, one, run
from tests.support.health_table import parts

WATCHING = {RELEASE, GPU_MONITOR, SYSLOG_MONITOR, "metadata-collector", "labeler"}
ACTING: dict[HealthMode, set[str]] = {"detect": set(), "taint": {FAULT_QUARANTINE}}
ACTING["drain"] = {FAULT_QUARANTINE, NODE_DRAINER}


def rendered(values: Json) -> list[Json]:
    chart = materialise(CHART, newest_chart(CHART).version, Home.of_user().folder / "chart-models")
    printed = run("template", RELEASE, str(chart), "--namespace", NAMESPACE, values=values)
    return [each for each in yaml.safe_load_all(printed) if each]


def config(objects: list[Json], module: str) -> dict[str, Any]:
    return tomllib.loads(one(objects, "ConfigMap", module)["data"]["config.toml"])


@pytest.mark.parametrize("mode", ACTING)
def test_a_mode_runs_its_modules_with_accounts_and_configuration_of_their_own(mode: HealthMode) -> None:
    values, _ = parts(mode)
    objects = rendered(values)
    workloads = [each for each in objects if each["kind"] in ("Deployment", "DaemonSet")]
    assert {each["spec"]["template"]["metadata"]["labels"][MODULE] for each in workloads} == WATCHING | ACTING[mode]
    accounts = {each["metadata"]["name"] for each in objects if each["kind"] == "ServiceAccount"}
    assert accounts >= {RELEASE, "labeler", *ACTING[mode]}
    for module in ACTING[mode]:
        pod = one(objects, "Deployment", module)["spec"]["template"]["spec"]
        assert pod["serviceAccountName"] == module
        assert pod["containers"][0]["envFrom"] == [{"secretRef": {"name": DATASTORE_SECRET}}]
    if FAULT_QUARANTINE in ACTING[mode]:
        assert Config.of(config(objects, FAULT_QUARANTINE)) == Config.of(values[FAULT_QUARANTINE])
    if NODE_DRAINER in ACTING[mode]:
        assert DrainConfig.of(config(objects, NODE_DRAINER)) == DrainConfig.of(values[NODE_DRAINER])


def test_a_module_that_acts_is_refused_without_a_datastore() -> None:
    values, _ = parts("taint")
    del values["global"]["datastore"]
    with pytest.raises(Refused, match="need a datastore"):
        rendered(values)


def test_the_monitor_of_dcgm_runs_on_no_node_with_vgpus() -> None:
    values, _ = parts("detect")
    daemons = {each["metadata"]["name"]: each for each in rendered(values) if each["kind"] == "DaemonSet"}
    pod = daemons["gpu-health-monitor-dcgm-4.x"]["spec"]["template"]["spec"]
    assert pod["affinity"] == values[GPU_MONITOR]["affinity"]
    assert "affinity" not in daemons["syslog-health-monitor-regular"]["spec"]["template"]["spec"]
