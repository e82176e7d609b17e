"""The KAI scheduler and OSMO's agents, installed by the real helm from their models on a real API server.

`kai` is that of the default stack, which leaves it as it is; `installed` is on an API server of its own.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

import pytest
import yaml

from physical_ai.catalog import osmo
from physical_ai.planning.osmo import OsmoRelease
from physical_ai.planning.plan import make_plan
from simulator.charts import chart_source, crds
from simulator.cluster.objects import at
from simulator.kubernetes import ApiError, Client
from simulator.kubernetes.client import MERGE_PATCH
from simulator.kubernetes.definitions import DEFINITIONS
from simulator.simulation import Simulation
from simulator.tools import toolbox
from tests.simulator.killed_install import administrator
from tests.support.gpu_settings import given_settings
from tests.support.simulated_cluster import SimulatedCluster, simulated_cluster
from tests.support.waiting import LIMIT, until

Json = dict[str, Any]
SETTINGS = ("osmo.mode=backend", "osmo.serviceUrl=https://osmo.example.com")
KAI = ("admission", "binder", "kai-operator", "kai-scheduler-default", "pod-grouper", "podgroup-controller")
AGENTS = ("osmo-operator-osmo-backend-listener", "osmo-operator-osmo-backend-worker")
SHARD = "/apis/kai.scheduler/v1/schedulingshards/default"


class ApiServer(Protocol):
    kubeconfig: str
    path: Path


def release(chart: str, *assignments: str) -> OsmoRelease:
    found = make_plan(given_settings(*SETTINGS, *assignments).settings).osmo
    return next(item for item in found if item.chart.name == chart)


def source(item: OsmoRelease) -> str:
    return str(chart_source(f"{item.chart.repository}/{item.chart.name}", item.chart.version, ""))


def install(field: SimulatedCluster, item: OsmoRelease, *flags: str) -> None:
    arguments = ("upgrade", "--install", item.name, source(item), "--namespace", item.namespace, "--values", "-")
    field.helm.run(*arguments, "--timeout", f"{LIMIT:g}s", *flags, stdin=yaml.safe_dump(dict(item.values)))


def uninstall(field: SimulatedCluster, item: OsmoRelease) -> None:
    field.helm.run("uninstall", item.name, "--namespace", item.namespace, "--wait", "--timeout", f"{LIMIT:g}s")


def deployments(client: Client, namespace: str) -> dict[str, Json]:
    items = client.get(f"/apis/apps/v1/namespaces/{namespace}/deployments")["items"]
    return {item["metadata"]["name"]: item for item in items}


def available(client: Client, namespace: str) -> set[str]:
    return {key for key, item in deployments(client, namespace).items() if at(item, "status.availableReplicas", 0)}


def pods(client: Client, namespace: str) -> list[Json]:
    return list(client.get(f"/api/v1/namespaces/{namespace}/pods")["items"])


def condition(item: Json, kind: str) -> str:
    return next((str(each["status"]) for each in at(item, "status.conditions", []) if each["type"] == kind), "")


@pytest.fixture(scope="module")
def field(own_api_server: ApiServer, users_tools: Path) -> SimulatedCluster:
    """A cluster with one node of the cpu pool, and the namespaces that the platform makes."""
    found = simulated_cluster(own_api_server.kubeconfig, toolbox(users_tools).path("helm"))
    for namespace in (osmo.KAI_NAMESPACE, osmo.OPERATOR_NAMESPACE, osmo.WORKFLOWS_NAMESPACE):
        found.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
    found.join("cpu-0", "Standard_D8ds_v5", pool="cpu")
    return found


@pytest.fixture
def kai(running: Simulation) -> Client:
    """The administrator of the default stack, once everything of the scheduler is available."""
    client = administrator(running)
    until(lambda: available(client, osmo.KAI_NAMESPACE) >= set(KAI), "KAI is not complete")
    return client


@pytest.fixture(scope="module")
def installed(field: SimulatedCluster) -> SimulatedCluster:
    """The scheduler, with everything that its operator makes."""
    item = release(osmo.KAI_CHART)
    install(field, item)
    until(lambda: available(field.client, osmo.KAI_NAMESPACE) >= set(KAI), "KAI is not complete")
    return field


def test_everything_of_kai_becomes_available_on_a_node_of_the_cpu_pool(kai: Client) -> None:
    made = deployments(kai, osmo.KAI_NAMESPACE)
    assert set(made) == {*KAI, "queue-controller"}
    assert osmo.KAI_SCHEDULER in made
    assert {at(pod, "spec.nodeName").split("-")[1] for pod in pods(kai, osmo.KAI_NAMESPACE)} == {"cpu"}


def test_a_shard_is_available_and_reconciles_for_ever(kai: Client) -> None:
    until(lambda: condition(kai.get(SHARD), "Available") == "True", "the shard is not available")
    shard = kai.get(SHARD)
    assert (condition(shard, "Ready"), condition(shard, "Reconciling")) == ("True", "True")
    config = kai.get("/apis/kai.scheduler/v1/configs/kai-config")
    assert (condition(config, "Available"), condition(config, "Reconciling")) == ("True", "False")


def test_the_scheduler_runs_with_the_flags_of_the_values(kai: Client) -> None:
    scheduler = deployments(kai, osmo.KAI_NAMESPACE)[osmo.KAI_SCHEDULER]
    (container,) = at(scheduler, "spec.template.spec.containers")
    assert {"--default-staleness-grace-period=-1s", "--update-pod-eviction-condition=true"} <= set(container["args"])
    assert f"--scheduler-name={osmo.SCHEDULER}" in container["args"]
    assert container["image"] == "ghcr.io/kai-scheduler/kai-scheduler/scheduler:v0.17.0"
    assert at(scheduler, "spec.template.spec.priorityClassName") == "system-cluster-critical"


WEBHOOKS = "/apis/admissionregistration.k8s.io/v1"


def webhooks(client: Client) -> set[str]:
    kinds = ("mutatingwebhookconfigurations", "validatingwebhookconfigurations")
    found = [item for kind in kinds for item in client.get(f"{WEBHOOKS}/{kind}")["items"]]
    return {item["metadata"]["name"] for item in found if "kai" in item["metadata"]["name"]}


def kai_pod(annotations: Json | None = None, **spec: Any) -> Json:
    metadata = {"name": "train-0", "annotations": annotations or {}}
    container = {"name": "train", "image": "i", "resources": {"limits": {"nvidia.com/gpu": "1"}}}
    return {"metadata": metadata, "spec": {"schedulerName": osmo.SCHEDULER, "containers": [container], **spec}}


def dry_run(client: Client, path: str, item: Json) -> Json:
    return client.request("POST", path, item, {"dryRun": "All"})


def test_pods_groups_and_topologies_pass_through_the_operators_webhooks(kai: Client) -> None:
    expected = {"mutating-kai-admission", "validating-kai-admission"}
    expected |= {"kai-queue-validation-v2", "kai-podgroup-validation-v2alpha2"}
    until(lambda: webhooks(kai) == expected, "the webhooks are not configured")
    pods = f"/api/v1/namespaces/{osmo.WORKFLOWS_NAMESPACE}/pods"
    made = dry_run(kai, pods, kai_pod())
    assert "runtimeClassName" not in made["spec"]
    exempt = "/api/v1/namespaces/gpu-operator/pods"  # from the stack's own policy against fractions
    shares = kai_pod({"gpu-fraction": "0.5"})
    shares["spec"]["containers"][0].pop("resources")
    with pytest.raises(ApiError, match="while GPU sharing is disabled") as refusal:
        dry_run(kai, exempt, shares)
    assert 'admission webhook "admission.kai-scheduler.svc" denied the request' in str(refusal.value)
    assert dry_run(kai, exempt, {**shares, "spec": {**shares["spec"], "schedulerName": "other"}})
    queues = kai.path(QUEUE["apiVersion"], "Queue", None)
    with pytest.raises(ApiError, match="resources must be specified"):
        dry_run(kai, queues, {**QUEUE, "spec": {"parentQueue": "p"}})
    parts = [{"name": "a", "minMember": 2}, *({"name": each, "parent": "a", "minMember": 1} for each in "bc")]
    groups = kai.path(PODGROUP["apiVersion"], "PodGroup", osmo.WORKFLOWS_NAMESPACE)
    with pytest.raises(ApiError, match="mid-level SubGroup"):
        dry_run(kai, groups, {**PODGROUP, "spec": {"queue": "q", "subGroups": parts}})


def test_a_deleted_deployment_is_created_again(kai: Client) -> None:
    before = deployments(kai, osmo.KAI_NAMESPACE)["binder"]["metadata"]["uid"]
    kai.request("DELETE", f"/apis/apps/v1/namespaces/{osmo.KAI_NAMESPACE}/deployments/binder")

    def is_new() -> bool:
        found = deployments(kai, osmo.KAI_NAMESPACE).get("binder")
        return found is not None and found["metadata"]["uid"] != before

    until(is_new, "the binder is missing")
    until(lambda: "binder" in available(kai, osmo.KAI_NAMESPACE), "the binder is not available")


QUEUE: Json = {
    "apiVersion": "scheduling.run.ai/v2",
    "kind": "Queue",
    "metadata": {"name": "q"},
    "spec": {"parentQueue": "p", "resources": {"gpu": {"quota": -1, "limit": 2, "overQuotaWeight": 1}}},
}
PODGROUP: Json = {
    "apiVersion": "scheduling.run.ai/v2alpha2",
    "kind": "PodGroup",
    "metadata": {"name": "g", "namespace": osmo.WORKFLOWS_NAMESPACE},
    "spec": {"queue": "q", "minMember": 2, "priorityClassName": "osmo-normal"},
}
TOPOLOGY: Json = {
    "apiVersion": "kai.scheduler/v1alpha1",
    "kind": "Topology",
    "metadata": {"name": "t"},
    "spec": {"levels": [{"nodeLabel": "topology.kubernetes.io/zone"}, {"nodeLabel": "kubernetes.io/hostname"}]},
}


@pytest.mark.parametrize("item", [QUEUE, PODGROUP, TOPOLOGY], ids=lambda item: item["kind"])
def test_what_osmo_makes_for_kai_is_taken_as_it_is(kai: Client, item: Json) -> None:
    path = kai.path(item["apiVersion"], item["kind"], item["metadata"].get("namespace"))
    checked = {"dryRun": "All", "fieldValidation": "Strict"}
    assert kai.request("POST", path, item, checked)["spec"] == item["spec"]


@pytest.mark.parametrize(
    ("item", "spec", "words"),
    [
        (QUEUE, {"resources": {"gpu": {"quota": "all"}}}, "must be of type number"),
        (PODGROUP, {"minMember": 0}, "greater than or equal to 1"),
        (TOPOLOGY, {"levels": list(reversed(TOPOLOGY["spec"]["levels"]))}, "only be used at the lowest level"),
        (TOPOLOGY, {"levels": []}, "should have at least 1 items"),
    ],
)
def test_what_kai_would_refuse_is_refused(kai: Client, item: Json, spec: Json, words: str) -> None:
    path = kai.path(item["apiVersion"], item["kind"], item["metadata"].get("namespace"))
    with pytest.raises(ApiError, match=words):
        kai.request("POST", path, {**item, "spec": {**item["spec"], **spec}}, {"dryRun": "All"})


def secret(field: SimulatedCluster, data: Mapping[str, str]) -> None:
    encoded = {key: base64.b64encode(value.encode()).decode() for key, value in data.items()}
    metadata = {"name": osmo.TOKEN_SECRET, "namespace": osmo.OPERATOR_NAMESPACE}
    field.apply({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": encoded})


def messages(field: SimulatedCluster) -> set[str]:
    events = field.client.get(f"/api/v1/namespaces/{osmo.OPERATOR_NAMESPACE}/events")["items"]
    return {item["message"] for item in events if item["reason"] == "FailedMount"}


def waiting(field: SimulatedCluster) -> list[str]:
    """Why the agents' containers don't run, one each."""
    states = [at(pod, "status.containerStatuses", [{}])[0] for pod in pods(field.client, osmo.OPERATOR_NAMESPACE)]
    return [str(at(state, "state.waiting.reason", "")) for state in states]


@pytest.mark.deep  # in `make test`: what holds a Pod up in test_operators.py, agents that run in test_osmo.py
def test_agents_wait_for_their_token_report_it_and_then_run(installed: SimulatedCluster) -> None:
    item = release(osmo.BACKEND_CHART)
    install(installed, item)
    lost = f'MountVolume.SetUp failed for volume "osmo-secret" : secret "{osmo.TOKEN_SECRET}" not found'
    until(lambda: lost in messages(installed), "no message says what is missing")
    until(lambda: waiting(installed) == ["ContainerCreating"] * 2, "the agents don't wait")
    assert available(installed.client, osmo.OPERATOR_NAMESPACE) == set()

    secret(installed, {"other": "x"})
    until(
        lambda: any("non-existent secret key: token" in text for text in messages(installed)), "the key is not missed"
    )
    secret(installed, {osmo.TOKEN_KEY: "abc"})
    until(lambda: available(installed.client, osmo.OPERATOR_NAMESPACE) == set(AGENTS), "the agents don't run")
    assert {at(pod, "spec.nodeName") for pod in pods(installed.client, osmo.OPERATOR_NAMESPACE)} == {"cpu-0"}
    classes = installed.client.get("/apis/scheduling.k8s.io/v1/priorityclasses")["items"]
    made = {each["metadata"]["name"]: each["value"] for each in classes}
    assert made.items() >= {"osmo-high": 125, "osmo-normal": 100, "osmo-low": 50}.items()


@pytest.mark.deep  # in `make test`: what the models render in test_osmo_chart_models.py
def test_an_upgrade_keeps_the_namespace_for_reservations_and_drops_its_account(installed: SimulatedCluster) -> None:
    """The chart renders both only where they do not exist; Helm keeps what has the annotation."""
    place = f"/api/v1/namespaces/{osmo.KAI_RESERVATION_NAMESPACE}"
    account = f"{place}/serviceaccounts/{osmo.KAI_RESERVATION_NAMESPACE}"
    assert installed.client.find(account)
    # As it was before v0.17.0, whose model came without the annotation.
    installed.client.patch(place, {"metadata": {"annotations": {"helm.sh/resource-policy": None}}}, MERGE_PATCH)
    for has_account in (False, True):
        install(installed, release(osmo.KAI_CHART))
        assert (installed.client.find(account) is not None) is has_account
        kept = installed.client.get(place)
        assert at(kept, "status.phase") == "Active"
        assert at(kept, "metadata.annotations")["helm.sh/resource-policy"] == "keep"
    until(lambda: available(installed.client, osmo.KAI_NAMESPACE) >= set(KAI), "KAI does not come back")


@pytest.mark.deep  # in `make test`: `down` in test_stack.py, what goes with its owner in test_operators.py
def test_uninstalled_they_leave_the_definitions_and_the_shard(installed: SimulatedCluster) -> None:
    backend, scheduler = release(osmo.BACKEND_CHART), release(osmo.KAI_CHART)
    uninstall(installed, backend)
    uninstall(installed, scheduler)
    for namespace in (osmo.OPERATOR_NAMESPACE, osmo.KAI_NAMESPACE):
        assert deployments(installed.client, namespace) == {}
    assert installed.client.find("/apis/kai.scheduler/v1/configs/kai-config") is None
    # They refuse what they cannot judge, so left behind they would stop every Pod of KAI and every Queue for good.
    until(lambda: webhooks(installed.client) == set(), "webhooks stay behind")
    roles = installed.client.get("/apis/rbac.authorization.k8s.io/v1/clusterroles")["items"]
    assert not [item for item in roles if item["metadata"]["name"].startswith(("kai-", "osmo-", "queuecontroller"))]
    # Upstream keeps it (helm.sh/resource-policy), and a new release takes it over.
    assert installed.client.get(SHARD)["metadata"]["name"] == "default"
    for definition in crds(osmo.KAI_CHART, osmo.KAI_VERSION):
        assert installed.client.find(f"{DEFINITIONS}/{definition['metadata']['name']}")


@pytest.mark.deep  # in `make test`: the shard that stays behind, above
def test_a_release_that_is_reinstalled_adopts_the_shard(installed: SimulatedCluster) -> None:
    install(installed, release(osmo.KAI_CHART))
    until(lambda: available(installed.client, osmo.KAI_NAMESPACE) >= set(KAI), "KAI does not come back")
    until(lambda: condition(installed.client.get(SHARD), "Available") == "True", "the shard is not available")
