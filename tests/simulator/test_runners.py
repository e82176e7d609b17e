"""Runners of GitHub: what the charts' models refuse, and jobs on nodes that come and go."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from parts.runners import names
from physical_ai.catalog.charts import newest_chart
from simulator.charts import materialise
from simulator.home import Home
from simulator.kubernetes.client import MERGE_PATCH
from simulator.runners.model import COMPONENT, LISTENER, QUEUED
from simulator.simulation import Simulation
from tests.simulator.killed_install import administrator
from tests.simulator.physai import physai
from tests.support.charts import Json, Refused, one, over, run
from tests.support.waiting import until

STACK, LABEL = "dev-westus2", "physical-ai-dev-westus2"
RUNNERS: Json = {
    "configUrl": "https://github.com/contoso/robots",
    "app": {"clientId": "Iv23liABCDEF", "installationId": "51234567"},
    "pool": {"sku": "Standard_D4ds_v5", "scale": {"min": 0, "max": 2}},
}
VALUES: Json = {
    "githubConfigUrl": "https://github.com/contoso/robots/",
    "githubConfigSecret": names.APP_SECRET,
    "runnerScaleSetName": "robots",
    "controllerServiceAccount": {"name": names.CONTROLLER_ACCOUNT, "namespace": names.CONTROLLER_NAMESPACE},
}
SCALE_SET = f"/apis/actions.github.com/v1alpha1/namespaces/{names.NAMESPACE}/autoscalingrunnersets/{LABEL}"


def render(**changes: Any) -> list[Json]:
    folder = materialise(
        names.SCALE_SET_CHART, newest_chart(names.SCALE_SET_CHART).version, Home.of_user().folder / "chart-models"
    )
    printed = run("template", "r", str(folder), "--namespace", names.NAMESPACE, values=over(VALUES, changes))
    return [each for each in yaml.safe_load_all(printed) if each]


def test_a_scale_set_is_rendered_as_upstream_does() -> None:
    found = one(render(minRunners=0, maxRunners=2), "AutoscalingRunnerSet", "robots")
    assert found["spec"]["githubConfigUrl"] == "https://github.com/contoso/robots"
    assert (found["spec"]["minRunners"], found["spec"]["maxRunners"]) == (0, 2)
    assert found["spec"]["template"]["spec"]["serviceAccountName"] == "robots-gha-rs-no-permission"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"githubConfigUrl": ""}, ".Values.githubConfigUrl is required"),
        ({"githubConfigSecret": ""}, "githubConfigSecret is required"),
        ({"minRunners": 3, "maxRunners": 2}, "maxRunners has to be greater or equal to minRunners"),
        ({"runnerScaleSetName": "r" * 46}, "up to 45 characters"),
        ({"controllerServiceAccount": {"name": ""}}, "controllerServiceAccount.name"),
        ({"maxRunner": 2}, "maxRunner"),
    ],
)
def test_the_chart_refuses(changes: Json, words: str) -> None:
    with pytest.raises(Refused, match=words):
        render(**changes)


@pytest.mark.deep
def test_jobs_run_on_nodes_that_come_and_go(deployed: Simulation, tmp_path: Path) -> None:
    overlay = tmp_path / "runners.yaml"
    overlay.write_text(yaml.safe_dump({"runners": RUNNERS}))
    physai("up", STACK, "-f", str(overlay))
    admin = administrator(deployed)

    def pods(namespace: str) -> list[Json]:
        return admin.get(f"/api/v1/namespaces/{namespace}/pods")["items"]

    def placed() -> bool:
        nodes: list[Json] = admin.get("/api/v1/nodes")["items"]
        return any(each["metadata"]["labels"].get("agentpool") == names.POOL for each in nodes)

    listening = [each["metadata"]["labels"].get(COMPONENT) for each in pods(names.CONTROLLER_NAMESPACE)]
    assert listening.count(LISTENER) == 1
    assert pods(names.NAMESPACE) == []
    assert not placed()
    admin.patch(SCALE_SET, {"metadata": {"annotations": {QUEUED: "2"}}}, MERGE_PATCH)
    until(placed, "no node for the jobs")

    def is_done() -> bool:
        return admin.get(SCALE_SET)["metadata"]["annotations"][QUEUED] == "0" and not pods(names.NAMESPACE)

    until(is_done, "the jobs have not run", state=lambda: pods(names.NAMESPACE))
    physai("up", STACK)
    assert admin.find(f"/api/v1/namespaces/{names.NAMESPACE}") is None
