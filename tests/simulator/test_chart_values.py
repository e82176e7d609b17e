"""What the chart models refuse of values: the schema of known keys, and the checks of the templates."""

from __future__ import annotations

import json
from typing import Any

import pytest

from physical_ai.catalog.compat import known_keys
from physical_ai.catalog.gpu_load import chart_key_notes
from physical_ai.planning.plan import make_plan
from physical_ai.settings import existing, load
from simulator.charts.models import default_values
from tests.support.charts import OPERATOR, RELEASES, Json, Refused, model, nested, one, render

REFUSED = [
    ("v26.7.0", "driver.tolerations", [], "'/driver'"),
    ("v26.7.0", "devicePlugin.mps", {"root": "/elsewhere"}, "'/devicePlugin'"),
    ("v26.7.0", "driver.nvidiaDriverCRD.nodeSelector", {}, "'/driver/nvidiaDriverCRD'"),
    ("v26.7.0", "validator.enabled", True, "'/validator'"),
    ("v26.7.0", "operator.defaultGPUMode", "dedicated", "'/operator'"),
    ("v26.3.3", "node-feature-discovery.checksumValuesOnly", True, "'/node-feature-discovery'"),
    ("v26.7.0", "toolkit.runtimeConfigSource", "file", "'/toolkit'"),
    ("v26.7.0", "driver.upgradePolicy.podDeletion", {}, "'/driver/upgradePolicy'"),
    ("v26.7.0", "nodeSelector", {}, "''"),
    ("v26.7.0", "cdi.default", True, "'/cdi'"),
    ("v26.3.3", "clusterPolicy", {"deployCR": False}, "''"),
    ("v25.10.1", "cdi.nriPluginEnabled", True, "'/cdi'"),
    ("v25.3.4", "driver.licensingConfig.secretName", "x", "'/driver/licensingConfig'"),
    ("v26.7.0", "node-feature-discovery.worker.toleration", [], "'/node-feature-discovery/worker'"),
]


@pytest.mark.parametrize(("release", "path", "value", "place"), REFUSED)
def test_a_key_without_effect_is_refused_at_its_path(release: str, path: str, value: Any, place: str) -> None:
    key = path.rpartition(".")[2]
    with pytest.raises(Refused, match=f"at {place}: additional properties '{key}' not allowed"):
        render(release, nested(path, value))


@pytest.mark.parametrize("release", RELEASES)
def test_every_key_of_the_catalogue_that_has_an_effect_is_taken(release: str) -> None:
    schema = json.loads((model(release) / "values.schema.json").read_text())
    dead = {path for note in chart_key_notes() if note.state in ("dead", "removed") for path in note.paths}
    for path in known_keys(release).keys() - dead:
        here = schema
        for step in path.split("."):
            here = here["properties"][step]
        assert here.get("additionalProperties") is not False, path


@pytest.mark.parametrize(
    ("path", "value"),
    [("mig.strategy", "mixd"), ("driver.kernelModuleType", "closed"), ("daemonsets.updateStrategy", "Recreate")],
)
def test_a_value_the_cluster_policy_would_refuse_fails_before_it(path: str, value: str) -> None:
    with pytest.raises(Refused, match=f"at '/{path.replace('.', '/')}': value must be one of"):
        render("v26.7.0", nested(path, value))


VALIDATED = [
    ("v26.3.3", {"cdi": {"enabled": False, "nriPluginEnabled": True}}, "NRI Plugin cannot be enabled when CDI"),
    ("v26.7.0", {"cdi": {"enabled": False, "nriPluginEnabled": True}}, "NRI Plugin cannot be enabled when CDI"),
    ("v26.7.0", {"devicePlugin": {"config": {"create": True, "data": {"a": "b"}}}}, "config.name is empty"),
    ("v26.7.0", {"devicePlugin": {"config": {"create": True, "name": "a"}}}, "config.data is empty"),
    ("v26.7.0", {"gpuCluster": {"deployCR": True}}, "exclude each other"),
]


@pytest.mark.parametrize(("release", "values", "words"), VALIDATED)
def test_values_that_contradict_each_other_fail_as_in_the_chart(release: str, values: Json, words: str) -> None:
    with pytest.raises(Refused, match=words):
        render(release, values)


def test_dead_keys_have_no_default_either() -> None:
    assert "mps" not in default_values(OPERATOR, "v26.7.0")["devicePlugin"]
    assert "nodeSelector" not in default_values(OPERATOR, "v26.7.0")["driver"]["nvidiaDriverCRD"]
    assert default_values(OPERATOR, "v26.3.3")["driver"]["nvidiaDriverCRD"]["nodeSelector"] == {}


@pytest.mark.parametrize("stack", existing())
def test_the_chart_takes_what_every_committed_stack_gives_it(stack: str) -> None:
    settings = load(stack).settings
    plan = make_plan(settings).gpu
    policy = one(render(settings.gpu_operator.version, plan.values), "ClusterPolicy")["spec"]
    assert policy["daemonsets"]["tolerations"] == plan.values["daemonsets"]["tolerations"]
    assert policy["driver"]["useNvidiaDriverCRD"] is (settings.gpu_operator.driver_owner == "NVIDIADriver")
