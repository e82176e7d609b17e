"""What the KAI operator makes of its resources, what kubelets say of missing Secrets, and the models' definitions."""

from __future__ import annotations

from typing import Any

import pytest

from physical_ai.catalog import osmo
from simulator.charts import crds, modelled
from simulator.charts.schema import rendered_keys, values_schema
from simulator.operators import mounts
from simulator.operators.kai_operands import (
    arguments,
    conditions,
    configuration,
    operands,
    scheduler_name,
    shard_operands,
)

Json = dict[str, Any]
NOW, EARLIER = "2026-11-21T12:00:00Z", "2026-11-21T11:00:00Z"


def service(name: str, **more: Any) -> Json:
    image = {"name": name, "repository": "registry.example", "tag": "v1", "pullPolicy": "Always"}
    return {"service": {"enabled": True, "image": image, **more}}


def config(**sections: Any) -> Json:
    spec = {
        "namespace": "kai",
        "global": {"nodeSelector": {"agentpool": "cpu"}, "replicaCount": 2, "priorityClassName": "high"},
        "admission": service("admission"),
        "binder": service("binder"),
        "podGrouper": service("podgrouper"),
        "podGroupController": service("podgroupcontroller"),
        "queueController": service("queuecontroller"),
        "nodeScaleAdjuster": {"service": {}},
        "scheduler": service("scheduler"),
        **sections,
    }
    metadata = {"name": "kai-config", "uid": "c", "generation": 3}
    return {"apiVersion": "kai.scheduler/v1", "kind": "Config", "metadata": metadata, "spec": spec}


def shard(name: str = "default", **spec: Any) -> Json:
    metadata = {"name": name, "uid": "s", "generation": 5}
    return {"apiVersion": "kai.scheduler/v1", "kind": "SchedulingShard", "metadata": metadata, "spec": spec}


def of_kind(items: list[Json], kind: str) -> dict[str, Json]:
    return {item["metadata"]["name"]: item for item in items if item["kind"] == kind}


def live(items: list[Json], updated: int = 2) -> dict[str, Json]:
    """Deployments as an API server has them once they are available."""
    statuses = {"conditions": [{"type": "Available", "status": "True"}], "updatedReplicas": updated}
    return {key: {**item, "status": statuses} for key, item in of_kind(items, "Deployment").items()}


def test_a_config_becomes_a_deployment_for_each_component_that_is_on() -> None:
    made = of_kind(operands(config()), "Deployment")
    assert set(made) == {"admission", "binder", "pod-grouper", "podgroup-controller", "queue-controller"}
    off = {"podGrouper": {"service": {"enabled": False}}, "nodeScaleAdjuster": service("nodescaleadjuster")}
    changed = of_kind(operands(config(**off)), "Deployment")
    assert set(changed) == set(made) - {"pod-grouper"} | {"node-scale-adjuster"}


def test_a_component_takes_image_placement_and_replicas_from_the_config() -> None:
    made = of_kind(operands(config(binder=service("binder", resources={"limits": {"memory": "1Gi"}}))), "Deployment")
    spec = made["binder"]["spec"]
    pod = spec["template"]["spec"]
    assert (spec["replicas"], pod["nodeSelector"], pod["priorityClassName"]) == (2, {"agentpool": "cpu"}, "high")
    (container,) = pod["containers"]
    assert container["image"] == "registry.example/binder:v1"
    assert container["resources"] == {"limits": {"memory": "1Gi"}}
    assert {"binder", "scheduler"} <= set(of_kind(operands(config()), "ServiceAccount"))


def test_what_the_operator_creates_is_deleted_with_its_owner() -> None:
    for item in (*operands(config()), *shard_operands(config(), shard())):
        (owner,) = item["metadata"]["ownerReferences"]
        assert owner["kind"] == ("SchedulingShard" if item["metadata"]["name"] == osmo.KAI_SCHEDULER else "Config")
        assert item["metadata"]["namespace"] == "kai"


def test_each_shard_has_its_own_scheduler() -> None:
    assert scheduler_name(config(), shard()) == osmo.KAI_SCHEDULER
    kinds = {item["kind"] for item in shard_operands(config(), shard("night"))}
    assert kinds == {"Deployment", "ConfigMap", "Service"}
    assert scheduler_name(config(), shard("night")) == "kai-scheduler-night"
    assert shard_operands(config(scheduler={"service": {"enabled": False}}), shard()) == []


def ports(spec: Json) -> list[tuple[str, int, int]]:
    return [(each["name"], each["port"], each["targetPort"]) for each in spec["ports"]]


def test_services_are_those_that_upstreams_operator_makes() -> None:
    """pkg/operator/operands of kai-scheduler/KAI-Scheduler v0.17.0."""
    made = {key: each["spec"] for key, each in of_kind(operands(config()), "Service").items()}
    assert {key: ports(spec) for key, spec in made.items()} == {
        "admission": [("webhook", 443, 9443), ("http-metrics", 8080, 8080)],
        "binder": [("http-metrics", 8080, 8080)],
        "queue-controller": [("webhook", 443, 9443), ("metrics", 8080, 8080)],
        "podgroup-controller": [("webhook", 443, 9443)],
    }
    assert all(spec["selector"] == {"app": key} for key, spec in made.items())
    moved = {"controllerService": {"metrics": {"name": "m", "port": 1, "targetPort": 2}}}
    (_, metrics) = ports(of_kind(operands(config(queueController=moved)), "Service")["queue-controller"]["spec"])
    assert metrics == ("m", 1, 2)


def test_the_service_of_one_scheduler_selects_it_and_that_of_several_nothing() -> None:
    (one,) = of_kind(shard_operands(config(scheduler={"replicas": 1}), shard()), "Service").values()
    assert one["metadata"]["annotations"] == {"prometheus.io/scrape": "true"}
    assert (one["spec"]["clusterIP"], one["spec"]["selector"]) == ("None", {"app": osmo.KAI_SCHEDULER})
    assert ports(one["spec"]) == [("http-metrics", 8080, 8080)]
    (several,) = of_kind(shard_operands(config(scheduler={"replicas": 2}), shard()), "Service").values()
    assert "selector" not in several["spec"]


def test_flags_that_the_scheduler_does_not_know_are_ignored_silently() -> None:
    args = arguments(config(), shard(args={"v": "6", "default-staleness-grace-period": "-1s", "no-such-flag": "x"}))
    assert args[-2:] == ["--default-staleness-grace-period=-1s", "--v=6"]
    assert not [each for each in args if "no-such-flag" in each]


def test_a_shard_reorders_actions_and_switches_plugins() -> None:
    given = configuration(shard(actions={"reclaim": {"priority": 450}, "preempt": {"enabled": False}}))
    assert given["actions"] == "allocate, reclaim, consolidation, stalegangeviction"
    spread = configuration(shard(placementStrategy={"gpu": "spread"}, plugins={"elastic": {"enabled": False}}))
    (tier,) = spread["tiers"]
    plugins = [each["name"] for each in tier["plugins"]]
    assert plugins[0] == "predicates"
    assert ("gpuspread" in plugins, "gpupack" in plugins, "elastic" in plugins) == (True, False, False)


def statuses(item: Json, wanted: list[Json], there: dict[str, Json]) -> dict[str, str]:
    return {each["type"]: each["status"] for each in conditions(item, wanted, there, NOW)}


def test_a_shard_keeps_reconciling_when_everything_is_there_and_a_config_does_not() -> None:
    made, own = operands(config()), shard_operands(config(), shard())
    done = {"Deployed": "True", "Available": "True", "DependenciesFulfilled": "True", "Ready": "True"}
    assert statuses(config(), made, live(made)) == {**done, "Reconciling": "False"}
    assert statuses(shard(), own, live(own)) == {**done, "Reconciling": "True"}


def test_availability_waits_for_every_replica_of_the_newest_template() -> None:
    made = operands(config())
    assert statuses(config(), made, live(made, updated=1))["Available"] == "False"
    assert statuses(config(), made, {})["Deployed"] == "False"
    there = live(made)
    del there["binder"]
    (missing,) = [each for each in conditions(config(), made, there, NOW) if each["type"] == "Available"]
    assert missing["message"] == "Deployment [binder] is not available"


def test_a_condition_that_did_not_change_keeps_its_time() -> None:
    made = operands(config())
    first = conditions(config(), made, {}, EARLIER)
    later = conditions({**config(), "status": {"conditions": first}}, made, live(made), NOW)
    times = {each["type"]: each["lastTransitionTime"] for each in later}
    assert (times["Available"], times["DependenciesFulfilled"]) == (NOW, EARLIER)
    assert {each["observedGeneration"] for each in later} == {3}


# Mounts


def pod(**spec: Any) -> Json:
    containers = spec.pop("containers", [{"name": "agent", "image": "i"}])
    metadata = {"name": "p", "namespace": "n", "uid": "u"}
    return {"kind": "Pod", "metadata": metadata, "spec": {"nodeName": "cpu-0", "containers": containers, **spec}}


def with_secret(**given: Any) -> Json:
    return pod(volumes=[{"name": "v", "secret": {"secretName": "s", **given}}])


def finder(*found: tuple[str, str, Json]) -> mounts.Find:
    held = {(kind, name): {"data": data} for kind, name, data in found}
    return lambda kind, namespace, name: held.get((kind, name)) if namespace == "n" else None


def variable(**ref: Any) -> Json:
    return pod(containers=[{"name": "agent", "image": "i", "env": [{"name": "A", "valueFrom": {"secretKeyRef": ref}}]}])


@pytest.mark.parametrize(
    ("given", "found", "waiting", "message"),
    [
        (with_secret(), [], "ContainerCreating", 'volume "v" : secret "s" not found'),
        (
            with_secret(items=[{"key": "token", "path": "t"}]),
            [("Secret", "s", {"other": "eA=="})],
            "ContainerCreating",
            "references non-existent secret key: token",
        ),
        (
            pod(volumes=[{"name": "v", "configMap": {"name": "c"}}]),
            [("Secret", "c", {})],
            "ContainerCreating",
            'configmap "c" not found',
        ),
        (variable(name="s", key="k"), [], "CreateContainerConfigError", 'secret "s" not found'),
        (
            variable(name="s", key="k"),
            [("Secret", "s", {"other": ""})],
            "CreateContainerConfigError",
            "couldn't find key k in Secret n/s",
        ),
    ],
)
def test_a_pod_waits_for_what_is_missing_and_names_it(
    given: Json, found: list[tuple[str, str, Json]], waiting: str, message: str
) -> None:
    why = mounts.start_problem(given, finder(*found))
    assert why is not None
    assert why.waiting == waiting
    assert message in why.message
    status = mounts.status(given, why, NOW)
    assert status["phase"] == "Pending"
    assert status["containerStatuses"][0]["state"]["waiting"]["reason"] == waiting
    assert mounts.event(given, why, NOW)["message"] == why.message


@pytest.mark.parametrize(
    "given",
    [
        pod(volumes=[{"name": "v", "emptyDir": {}}]),
        with_secret(optional=True),
        variable(name="gone", key="k", optional=True),
    ],
)
def test_what_is_optional_or_no_object_holds_nothing_up(given: Json) -> None:
    assert mounts.start_problem(given, finder()) is None


def test_with_everything_there_a_pod_continues() -> None:
    given = with_secret(items=[{"key": "token", "path": "t"}])
    assert mounts.start_problem(given, finder(("Secret", "s", {"token": "eA=="}))) is None


# Definitions and keys


def schema_of(kind: str) -> Json:
    (found,) = [item for item in crds(osmo.KAI_CHART, osmo.KAI_VERSION) if item["spec"]["names"]["kind"] == kind]
    return found


@pytest.mark.parametrize(
    ("kind", "group", "version", "scope"),
    [
        ("Config", "kai.scheduler", "v1", "Cluster"),
        ("SchedulingShard", "kai.scheduler", "v1", "Cluster"),
        ("Topology", "kai.scheduler", "v1alpha1", "Cluster"),
        ("Queue", "scheduling.run.ai", "v2", "Cluster"),
        ("PodGroup", "scheduling.run.ai", "v2alpha2", "Namespaced"),
        ("BindRequest", "scheduling.run.ai", "v1alpha2", "Namespaced"),
    ],
)
def test_kais_kinds_have_their_groups_and_versions(kind: str, group: str, version: str, scope: str) -> None:
    spec = schema_of(kind)["spec"]
    assert (spec["group"], spec["versions"][0]["name"], spec["scope"]) == (group, version, scope)


def test_bounds_of_a_list_are_on_the_list_and_those_of_its_items_on_them() -> None:
    topology = schema_of("Topology")["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    levels = topology["properties"]["spec"]["properties"]["levels"]
    assert (levels["minItems"], levels["maxItems"], len(levels["x-kubernetes-validations"])) == (1, 16, 3)
    assert levels["items"]["properties"]["nodeLabel"]["maxLength"] == 316


@pytest.mark.parametrize("chart", ["kai-scheduler", "backend-operator"])
def test_the_schema_of_a_chart_is_closed_and_has_its_known_keys(chart: str) -> None:
    (version,) = modelled()[chart]
    schema = values_schema(chart, version)
    assert schema["additionalProperties"] is False
    assert schema["properties"]["global"]["additionalProperties"] is False
    assert {path.partition(".")[0] for path in rendered_keys(chart, version)} == set(schema["properties"])


def test_charts_without_subcharts_bring_their_own_definitions_only() -> None:
    assert crds(osmo.BACKEND_CHART, osmo.CHART_VERSION) == []
    assert len(crds(osmo.KAI_CHART, osmo.KAI_VERSION)) == 6
    kinds = {item["spec"]["names"]["kind"] for item in crds("gpu-operator", "v26.7.0")}
    assert {"ClusterPolicy", "NodeFeature"} <= kinds
