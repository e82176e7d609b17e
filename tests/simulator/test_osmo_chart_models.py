"""What the models of the KAI scheduler's chart and of OSMO's agents' render, and what they refuse."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from physical_ai.catalog import osmo
from physical_ai.catalog.compat import key_table
from physical_ai.planning.plan import make_plan
from simulator.charts import materialise
from simulator.charts.models import default_values
from simulator.home import Home
from tests.support.chart_facts import rendered_facts
from tests.support.charts import Json, Refused, nested, one, over, run
from tests.support.gpu_settings import given_settings

RECORDED: Json = json.loads(
    (Path(__file__).parents[1] / "fixtures/osmo/6.3.1/chart-values-backend-operator.json").read_text()
)
BACKEND = (osmo.BACKEND_CHART, osmo.CHART_VERSION, osmo.BACKEND_RELEASE, osmo.OPERATOR_NAMESPACE)
KAI = (osmo.KAI_CHART, osmo.KAI_VERSION, osmo.KAI_RELEASE, osmo.KAI_NAMESPACE)
CHARTS = [KAI, BACKEND]


def folder(chart: str, version: str) -> str:
    return str(materialise(chart, version, Home.of_user().folder / "chart-models"))


def render(of: tuple[str, str, str, str], values: Mapping[str, Any]) -> list[Json]:
    chart, version, release, namespace = of
    printed = run("template", release, folder(chart, version), "--namespace", namespace, values=values)
    return [document for document in yaml.safe_load_all(printed) if document]


def ours(of: tuple[str, str, str, str], *assignments: str) -> Mapping[str, Any]:
    given = ("osmo.mode=backend", "osmo.serviceUrl=https://osmo.example.com", *assignments)
    settings = given_settings(*given).settings
    return make_plan(settings).osmo[0].values if of is KAI else make_plan(settings).osmo[1].values


def key(item: Json) -> list[Any]:
    return [item["kind"], item["metadata"]["name"], item["metadata"].get("namespace")]


def ordered(items: list[Any]) -> list[Any]:
    return sorted(items, key=json.dumps)


@pytest.mark.parametrize("of", CHARTS, ids=lambda of: of[0])
def test_helm_finds_nothing_wrong_with_a_model(of: tuple[str, str, str, str]) -> None:
    assert "0 chart(s) failed" in run("lint", folder(of[0], of[1]), values=ours(of))


@pytest.mark.parametrize("of", CHARTS, ids=lambda of: of[0])
def test_every_key_of_the_catalogue_is_taken(of: tuple[str, str, str, str]) -> None:
    schema = json.loads((Path(folder(of[0], of[1])) / "values.schema.json").read_text())
    for path in key_table(of[0], of[1]).known:
        here = schema
        for step in path.split("."):
            here = here["properties"][step]
        assert here.get("additionalProperties") is not False, path


@pytest.mark.parametrize(
    ("of", "path", "value", "words"),
    [
        (KAI, "tolerations", [], "additional properties 'tolerations' not allowed"),
        (KAI, "scheduler.additionalArgs", [], "additional properties 'additionalArgs' not allowed"),
        (KAI, "scheduler.args.staleness", "1s", "additional properties 'staleness' not allowed"),
        (KAI, "scheduler.placementStrategy", "random", "value must be one of"),
        (BACKEND, "serviceAccount", {"annotations": {}}, "additional properties 'serviceAccount' not allowed"),
        (BACKEND, "global.loginMethod", "dev", "value must be one of"),
        (BACKEND, "services.backendWorker.extraArg", [], "additional properties 'extraArg' not allowed"),
    ],
)
def test_what_would_have_no_effect_is_refused(of: tuple[str, str, str, str], path: str, value: Any, words: str) -> None:
    with pytest.raises(Refused, match=words):
        render(of, over(ours(of), nested(path, value)))


# The agents, against the recording


UNRECORDED = [
    "global.logs.logFormat",
    "backendTestRunner.configMap.nameTemplate",
    "backendTestRunner.configMap.optional",
]
"""Keys that the chart's templates read and its own values do not set (backend-test-runner-config.yaml)."""


@pytest.mark.parametrize("path", UNRECORDED)
def test_keys_without_a_default_are_known(path: str) -> None:
    assert path in key_table(*BACKEND[:2]).known


def test_every_recorded_key_is_known() -> None:
    known = key_table(*BACKEND[:2]).known

    def is_known(path: str) -> bool:
        steps = path.split(".")
        return any(".".join(steps[:count]) in known for count in range(1, len(steps) + 1))

    assert [path for path, *_ in RECORDED["keys"] if not is_known(path)] == []


def test_the_models_defaults_are_the_recorded_ones() -> None:
    values = default_values(*BACKEND[:2])

    def default(path: str) -> Any:
        here: Any = values
        for step in path.split("."):
            here = here.get(step, "absent") if isinstance(here, dict) else "absent"
        return here

    said = {path: default(path) for path, *_ in RECORDED["keys"]}
    # Sections of the test runner that nothing here reads have no defaults in the model.
    present = {path: value for path, value in said.items() if value != "absent"}
    assert {path for path in said if path not in present and not path.startswith("backendTestRunner.")} == set()
    recorded = {path: value for path, value, *_ in RECORDED["keys"] if path in present and not isinstance(value, dict)}
    assert {path: present[path] for path in recorded} == recorded


@pytest.mark.parametrize("case", ["sketch", "defaults_render"])
def test_the_agents_objects_are_the_recorded_ones(case: str) -> None:
    found = render(BACKEND, RECORDED[case].get("values", {}))
    assert ordered([key(item) for item in found]) == ordered(RECORDED[case]["objects"])


def test_the_agents_rights_are_the_recorded_ones() -> None:
    found = {tuple(key(item)): item for item in render(BACKEND, RECORDED["sketch"]["values"])}
    for wanted in RECORDED["sketch"]["rbac"]:
        live = found[wanted["kind"], wanted["name"], wanted["namespace"]]
        for part in ("rules", "roleRef", "subjects"):
            assert live.get(part) == wanted.get(part), (wanted["name"], part)


def test_the_agents_images_and_priority_classes_are_the_recorded_ones() -> None:
    found = render(BACKEND, RECORDED["sketch"]["values"])
    deployments = [item for item in found if item["kind"] == "Deployment"]
    images = [container["image"] for item in deployments for container in containers(item)]
    assert sorted(images) == RECORDED["sketch"]["images"]
    classes = {item["metadata"]["name"]: item["value"] for item in found if item["kind"] == "PriorityClass"}
    assert classes == {item["name"]: item["value"] for item in RECORDED["sketch"]["priority_classes"]}


@pytest.mark.parametrize("case", ["sketch", "defaults_render"])
def test_agents_mount_the_recorded_secret(case: str) -> None:
    (wanted,) = RECORDED[case]["must_pre_exist"]
    for item in render(BACKEND, RECORDED[case].get("values", {})):
        if item["kind"] == "Deployment":
            (volume,) = [each for each in pod(item)["volumes"] if "secret" in each]
            assert volume["secret"]["secretName"] == wanted["name"]
            assert [each["key"] for each in volume["secret"]["items"]] == wanted["keys"]


def pod(item: Json) -> Json:
    return item["spec"]["template"]["spec"]


def containers(item: Json) -> list[Json]:
    return pod(item)["containers"]


def test_the_names_that_others_need_are_those_of_the_chart() -> None:
    found = [key(item) for item in render(BACKEND, ours(BACKEND))]
    for account in (osmo.LISTENER_ACCOUNT, osmo.WORKER_ACCOUNT):
        assert ["ServiceAccount", account, osmo.OPERATOR_NAMESPACE] in found
    assert {item[2] for item in found} == {None, osmo.OPERATOR_NAMESPACE, osmo.WORKFLOWS_NAMESPACE}


def test_with_the_development_login_both_agents_read_the_kubeconfig() -> None:
    found = [item for item in render(BACKEND, ours(BACKEND, "osmo.login=dev")) if item["kind"] == "Deployment"]
    assert len(found) == 2
    for item in found:
        (agent,) = containers(item)
        assert agent["args"][-4:] == ["--method", "dev", "--username", "admin"]
        assert [each["name"] for each in agent["env"]] == ["KUBECONFIG"]
        assert {each["name"] for each in agent["volumeMounts"]} == {each["name"] for each in pod(item)["volumes"]}


def test_a_network_policy_exists_only_where_it_is_requested() -> None:
    values = over(ours(BACKEND), {"global": {"networkPolicy": {"enabled": True, "clusterCIDRs": ["10.0.0.0/8"]}}})
    policy = one(render(BACKEND, values), "NetworkPolicy")
    assert key(policy)[1:] == ["osmo-workflow-network-policy", osmo.WORKFLOWS_NAMESPACE]
    assert "NetworkPolicy" not in {item["kind"] for item in render(BACKEND, ours(BACKEND))}


# The KAI scheduler


def hook(item: Json) -> str:
    return item["metadata"].get("annotations", {}).get("helm.sh/hook", "")


def config(values: Mapping[str, Any]) -> Json:
    return yaml.safe_load(one(render(KAI, values), "ConfigMap", "kai-config-manifest")["data"]["kai-config.yaml"])


def found_at(items: list[Json], place: str) -> Any:
    """What a place of tests/fixtures/charts says: `Kind/name`, and a path; the Config is in the hook's ConfigMap."""
    which, _, path = place.partition(" ")
    kind, _, named = which.partition("/")
    if kind == "Config":
        held = yaml.safe_load(one(items, "ConfigMap", "kai-config-manifest")["data"]["kai-config.yaml"])
    else:
        held = one(items, kind, named)
    while path:
        step = next(each for each in held if path == each or path.startswith(f"{each}."))
        held, path = held[step], path[len(step) + 1 :]
    return held


def test_the_schedulers_model_has_the_objects_of_the_genuine_chart() -> None:
    facts = rendered_facts(osmo.KAI_CHART, osmo.KAI_VERSION)
    assert sorted(f"{item['kind']}/{item['metadata']['name']}" for item in render(KAI, {})) == facts["objects"]


def test_a_value_appears_in_the_schedulers_model_where_the_genuine_chart_has_it() -> None:
    facts = rendered_facts(osmo.KAI_CHART, osmo.KAI_VERSION)
    shown: Json = {}
    for path, effect in facts["effects"].items():
        shown = over(shown, nested(path, effect["value"]))
    items = render(KAI, shown)
    without = {each for effect in facts["effects"].values() for each in effect.get("without", ())}
    assert {f"{item['kind']}/{item['metadata']['name']}" for item in items} == set(facts["objects"]) - without
    for path, effect in facts["effects"].items():
        for place in effect.get("at", ()):
            if place.split(" ")[0] not in without:
                assert found_at(items, place) == effect["value"], (path, place)


def test_the_schedulers_chart_has_one_deployment_a_shard_and_hooks_for_the_rest() -> None:
    found = render(KAI, ours(KAI))
    assert key(one(found, "Deployment"))[1:] == ["kai-operator", osmo.KAI_NAMESPACE]
    shard = one(found, "SchedulingShard")
    assert shard["metadata"]["name"] == osmo.KAI_SHARD
    assert shard["metadata"]["annotations"] == {"helm.sh/resource-policy": "keep"}
    assert shard["spec"]["args"] == {"default-staleness-grace-period": "-1s", "update-pod-eviction-condition": "true"}
    jobs = {item["metadata"]["name"]: hook(item) for item in found if item["kind"] == "Job"}
    assert jobs == {
        "crd-upgrader": "pre-install,pre-upgrade",
        "kai-config-deployer": "post-install,post-upgrade",
        "post-delete-cleanup": "post-delete",
    }
    assert not [item for item in found if item["kind"] in ("Queue", "Config")]


def test_all_pods_of_the_chart_and_all_that_its_operator_makes_are_for_the_cpu_pool() -> None:
    values = ours(KAI)
    selector = {"kubernetes.azure.com/agentpool": "cpu"}
    for item in render(KAI, values):
        if item["kind"] in ("Deployment", "Job"):
            assert pod(item)["nodeSelector"] == selector, item["metadata"]["name"]
    assert config(values)["spec"]["global"]["nodeSelector"] == selector


def test_the_operator_is_configured_to_inject_no_runtime_class_and_to_share_no_gpu() -> None:
    spec = config(ours(KAI))["spec"]
    assert spec["admission"]["gpuFractionRuntimeClassName"] == ""
    assert spec["admission"]["gpuSharing"] is False
    assert spec["global"]["priorityClassName"] == "system-cluster-critical"
    assert config({})["spec"]["admission"]["gpuFractionRuntimeClassName"] == "nvidia"


def test_queues_of_the_chart_exist_with_its_defaults_only() -> None:
    queues = [item for item in render(KAI, {}) if item["kind"] == "Queue"]
    assert [(item["metadata"]["name"], item["spec"].get("parentQueue")) for item in queues] == [
        ("default-parent-queue", None),
        ("default-queue", "default-parent-queue"),
    ]


def test_a_config_that_is_part_of_the_release_needs_no_job() -> None:
    found = render(KAI, over(ours(KAI), {"kaiConfig": {"render": True}, "kaiConfigDeployer": {"enabled": False}}))
    assert one(found, "Config")["spec"]["namespace"] == osmo.KAI_NAMESPACE
    assert "kai-config-deployer" not in {item["metadata"]["name"] for item in found}
