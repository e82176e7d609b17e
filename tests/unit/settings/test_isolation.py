"""Who may reach whom in the cluster, by the NetworkPolicies that the program declares for a stack."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
import yaml

from physical_ai.catalog import osmo
from physical_ai.repository import ROOT
from tests.support.cases import in_one_test
from tests.support.network_policies import GATEWAY_LABELS, GATEWAY_PORT, Address, Entity, Party, Pod, reaches
from tests.unit.components.test_components_control_plane import PLATFORM
from tests.unit.conftest import Simulate
from tests.unit.settings.settings_faults import expect, faults_of, warned

TASK = Pod("osmo-workflows", {"osmo.workflow_id": "w"}, {})
OTHER_TASK = Pod("osmo-workflows", {"osmo.workflow_id": "v"}, {})
AGENT = Pod("osmo-operator", {"app": "worker"})
GATEWAY = Pod("osmo-control-plane", GATEWAY_LABELS, {GATEWAY_PORT: 8000, "envoy-admin": 9901})
SERVICE = Pod("osmo-control-plane", {"app": "osmo-service"})
UI, WORKER = (Pod("osmo-control-plane", {"app": f"osmo-{name}"}) for name in ("ui", "worker"))
LOGIN = Pod("osmo-control-plane", {**GATEWAY_LABELS, "app.kubernetes.io/component": "oauth2-proxy"})
KAI = Pod("kai-scheduler", {"app": "kai-admission"})
OPERATOR = Pod("gpu-operator", {"app": "gpu-operator"})
DCGM = Pod("gpu-operator", {"app": "nvidia-dcgm"})
EXPORTER = Pod("gpu-operator", {"app": "nvidia-dcgm-exporter"}, {"metrics": 9400})
PROMETHEUS = Pod("monitoring", {"app.kubernetes.io/name": "prometheus"})
SENTINEL = Pod("nvsentinel", {"app": "gpu-health-monitor"})
DNS = Pod("kube-system", {"k8s-app": "kube-dns"})
NOTEBOOK = Pod("team-vision", {"app": "notebook"})
API, NODE = Entity("api server"), Entity("node")
INTERNET, VNET, CARRIER = Address("140.82.112.3"), Address("10.40.0.4"), Address("100.64.9.9")
IMDS, WIRE, LINK_LOCAL = Address("169.254.169.254"), Address("168.63.129.16"), Address("169.254.20.10")
Json = dict[str, Any]
RESERVATION = osmo.KAI_RESERVATION_NAMESPACE
ALL: Json = {
    "network": {"isolation": {"platform": "deny"}},
    "monitoring": {"metrics": "kube-prometheus", "receivers": {}},
    "health": {"mode": "detect"},
}


def policies(simulate: Simulate, given: Mapping[str, Any]) -> list[Json]:
    return [dict(each.inputs) for each in simulate("dev-westus2", given).of_type("NetworkPolicy")]


Flow = tuple[Party, Party, int, bool]
ALWAYS: list[Flow] = [
    (TASK, OTHER_TASK, 29500, True),  # NCCL; policies cannot tell two workflows apart
    (TASK, GATEWAY, 8000, True),
    (TASK, GATEWAY, 9901, False),  # the administration of Envoy
    (TASK, SERVICE, 8000, False),
    (TASK, SERVICE, 5432, False),
    (TASK, DNS, 53, True),
    (TASK, INTERNET, 443, True),
    (TASK, VNET, 443, False),
    (TASK, VNET, 22, False),
    (TASK, CARRIER, 443, False),
    (TASK, IMDS, 80, False),
    (TASK, WIRE, 80, False),
    (TASK, WIRE, 32526, False),
    (TASK, LINK_LOCAL, 80, False),
    (TASK, API, 443, False),
    (TASK, NODE, 10250, False),
    (TASK, AGENT, 9464, False),
    (TASK, KAI, 9443, False),
    (TASK, OPERATOR, 8080, False),
    (TASK, EXPORTER, 9400, False),
    (TASK, NOTEBOOK, 8888, False),
    (NOTEBOOK, TASK, 29500, False),
    (NOTEBOOK, AGENT, 9464, False),
    (AGENT, GATEWAY, 8000, True),
    (AGENT, GATEWAY, 9901, False),
    (AGENT, SERVICE, 8000, False),
    (AGENT, API, 443, True),
    (AGENT, INTERNET, 443, True),  # Entra, and a control plane elsewhere
    (AGENT, VNET, 443, True),  # the latter in a private network
    (AGENT, VNET, 5432, False),
    (AGENT, INTERNET, 22, False),
    (AGENT, IMDS, 80, False),
    (AGENT, WIRE, 80, False),
    (AGENT, DNS, 53, True),
    (AGENT, TASK, 8080, False),
]


@in_one_test("given", [{}, ALL])
@in_one_test("flow", ALWAYS)
def test_who_reaches_whom_in_every_stack(simulate: Simulate, given: Json, flow: Flow) -> None:
    source, target, port, allowed = flow
    assert reaches(policies(simulate, given), source, target, port) is allowed


ISOLATED: list[Flow] = [
    (NOTEBOOK, GATEWAY, 8000, True),  # the gateway asks who it is
    (NODE, GATEWAY, 8000, True),  # from the load balancer
    (NOTEBOOK, GATEWAY, 9901, False),
    (NOTEBOOK, SERVICE, 8000, False),
    *((GATEWAY, behind, 8000, True) for behind in (SERVICE, UI)),
    *((pod, SERVICE, 8000, False) for pod in (UI, WORKER, LOGIN)),  # it believes who says that it is an administrator
    *((pod, GATEWAY, 8000, True) for pod in (UI, SERVICE)),
    (GATEWAY, LOGIN, 4180, True),
    (SERVICE, VNET, 5432, True),
    (SERVICE, INTERNET, 10000, True),
    (SERVICE, INTERNET, 443, True),
    (SERVICE, IMDS, 80, False),
    (SERVICE, WIRE, 80, False),
    (SERVICE, TASK, 8080, False),
    (PROMETHEUS, SERVICE, 9464, True),
    (NOTEBOOK, SERVICE, 9464, False),
    (API, KAI, 9443, True),
    (KAI, API, 443, True),
    (KAI, IMDS, 80, False),
    (KAI, INTERNET, 8443, False),
    (NOTEBOOK, KAI, 8080, False),
    (OPERATOR, API, 443, True),
    (OPERATOR, INTERNET, 80, True),
    (OPERATOR, VNET, 80, False),
    (OPERATOR, IMDS, 80, False),
    (OPERATOR, INTERNET, 22, False),
    (NOTEBOOK, OPERATOR, 8080, False),
    (PROMETHEUS, EXPORTER, 9400, True),
    (NOTEBOOK, EXPORTER, 9400, False),
    (SENTINEL, DCGM, 5555, True),
    (NOTEBOOK, DCGM, 5555, False),
    (SENTINEL, API, 443, True),
    (SENTINEL, IMDS, 80, False),
    (PROMETHEUS, SENTINEL, 2112, True),
    (PROMETHEUS, NODE, 10250, True),
    (PROMETHEUS, NODE, 22, False),
    (PROMETHEUS, AGENT, 9464, True),
    (PROMETHEUS, TASK, 9464, False),
    (PROMETHEUS, IMDS, 80, False),
    (NOTEBOOK, PROMETHEUS, 9090, False),
    (TASK, PROMETHEUS, 9090, False),
    *((pod, DNS, 53, True) for pod in (SERVICE, KAI, OPERATOR, PROMETHEUS, SENTINEL)),
]


@in_one_test("flow", ISOLATED)
def test_who_reaches_whom_where_the_platform_is_isolated(simulate: Simulate, flow: Flow) -> None:
    source, target, port, allowed = flow
    # NVSentinel's own chart opens its metrics.
    chart = {"podSelector": {}, "policyTypes": ["Ingress"], "ingress": [{"ports": [{"port": 2112}]}]}
    of_chart = {"metadata": {"namespace": "nvsentinel"}, "spec": chart}
    assert reaches([*policies(simulate, ALL), of_chart], source, target, port) is allowed


def test_every_namespace_of_an_isolated_platform_denies_what_is_not_named(simulate: Simulate) -> None:
    found = simulate("dev-westus2", ALL)
    denied = {
        each.inputs["metadata"]["namespace"]
        for each in found.of_type("NetworkPolicy")
        if each.inputs["spec"] == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}
    }
    # KAI's chart makes the last one.
    assert denied == {each.inputs["metadata"]["name"] for each in found.of_type("Namespace")} | {RESERVATION}


def test_a_stack_that_isolates_nothing_else_keeps_the_network_of_its_platform(simulate: Simulate) -> None:
    found = policies(simulate, {})
    assert {each["metadata"]["namespace"] for each in found if each["metadata"]["name"] == "default-deny"} == {
        "osmo-workflows",
        "osmo-operator",
        RESERVATION,
    }
    assert reaches(found, NOTEBOOK, KAI, 8080)


def test_a_control_plane_that_the_stack_installs_is_always_isolated(simulate: Simulate) -> None:
    found = policies(simulate, PLATFORM)
    assert reaches(found, NOTEBOOK, GATEWAY, 8000)
    assert reaches(found, AGENT, GATEWAY, 8000)
    assert reaches(found, GATEWAY, SERVICE, 8000)
    assert not reaches(found, UI, SERVICE, 8000)
    assert not reaches(found, WORKER, SERVICE, 8000)
    assert reaches(found, SERVICE, VNET, 5432)
    assert not reaches(found, NOTEBOOK, SERVICE, 8000)
    assert not reaches(found, NOTEBOOK, GATEWAY, 9901)
    assert not reaches(found, SERVICE, IMDS, 80)
    assert reaches(found, NOTEBOOK, KAI, 8080)  # the rest of the platform by the setting


IN_CLUSTER: Json = {**PLATFORM, "dataServices": {"source": "inCluster"}}
DATABASE, CACHE, STORAGE = (
    Pod("osmo-control-plane", {"physical-ai/data-service": f"osmo-{name}"}) for name in ("postgres", "cache", "storage")
)
DATA_FLOWS: list[Flow] = [
    (SERVICE, DATABASE, 5432, True),
    (SERVICE, CACHE, 6379, True),
    (SERVICE, STORAGE, 8333, True),
    (SERVICE, STORAGE, 9333, False),  # SeaweedFS' own ports ask for no key
    (SERVICE, STORAGE, 8888, False),
    (GATEWAY, DATABASE, 5432, False),
    (GATEWAY, CACHE, 6379, False),
    (GATEWAY, STORAGE, 8333, False),
    (TASK, STORAGE, 8333, True),
    (TASK, STORAGE, 8888, False),
    (TASK, DATABASE, 5432, False),
    (TASK, CACHE, 6379, False),
    (AGENT, DATABASE, 5432, False),
    (AGENT, STORAGE, 8333, False),
    (NOTEBOOK, DATABASE, 5432, False),
    (NOTEBOOK, STORAGE, 8333, False),
    (NODE, DATABASE, 5432, False),
    (DATABASE, STORAGE, 8333, False),
    (DATABASE, CACHE, 6379, False),
    (DATABASE, SERVICE, 8000, False),
    (DATABASE, INTERNET, 443, False),
    (DATABASE, IMDS, 80, False),
    (DATABASE, DNS, 53, False),
    (STORAGE, INTERNET, 443, False),
    (STORAGE, TASK, 8080, False),
    (SERVICE, GATEWAY, 8000, True),
    (GATEWAY, SERVICE, 8000, True),
    (TASK, GATEWAY, 8000, True),
    (TASK, SERVICE, 8000, False),
]


@in_one_test("flow", DATA_FLOWS)
def test_who_reaches_data_services_in_the_cluster(simulate: Simulate, flow: Flow) -> None:
    source, target, port, allowed = flow
    assert reaches(policies(simulate, IN_CLUSTER), source, target, port) is allowed


def test_ranges_of_the_settings_are_open_to_tasks_alone(simulate: Simulate) -> None:
    given = {"network": {"isolation": {"taskRanges": ["10.40.0.0/28"]}}}
    found = policies(simulate, given)
    assert reaches(found, TASK, VNET, 2049)
    assert not reaches(found, TASK, Address("10.40.0.16"), 2049)
    assert not reaches(found, AGENT, VNET, 2049)


@pytest.mark.parametrize(
    ("url", "port", "tasks", "agents"),
    [
        ("https://10.40.0.4", 443, True, True),
        ("https://10.40.0.4:8443", 8443, True, True),
        ("https://osmo.contoso.com:8443", 8443, False, True),
        ("https://osmo.contoso.com", 8443, False, False),
    ],
)
def test_a_control_plane_in_another_network_is_reached_at_its_port(
    simulate: Simulate, url: str, port: int, tasks: bool, agents: bool
) -> None:
    found = policies(simulate, {"osmo": {"serviceUrl": url}})
    assert (reaches(found, TASK, VNET, port), reaches(found, AGENT, VNET, port)) == (tasks, agents)
    assert not reaches(found, TASK, VNET, 5432)


def test_the_policies_name_the_gateway_and_its_port(simulate: Simulate) -> None:
    peers = [
        (peer["podSelector"]["matchLabels"], rule["ports"][0]["port"])
        for each in policies(simulate, {})
        for rule in each["spec"].get("egress", ())
        for peer in rule.get("to", ())
        if peer.get("namespaceSelector", {}).get("matchLabels", {}).get("kubernetes.io/metadata.name")
        == osmo.CONTROL_NAMESPACE
    ]
    assert peers == [(GATEWAY_LABELS, GATEWAY_PORT)] * 2


def test_tasks_never_get_a_metadata_service() -> None:
    for block in ("169.254.169.254/32", "168.63.129.0/24", "0.0.0.0/0"):
        path = "network.isolation.taskRanges[0]"
        expect(faults_of(f"network.isolation.taskRanges=[{block}]"), path, "metadata service", "private ranges")


@pytest.mark.parametrize(("block", "problem"), [("20.1.2.0/24", "not private"), ("10.244.8.0/24", "does not select")])
def test_ranges_without_effect_are_reported(block: str, problem: str) -> None:
    expect(warned(f"network.isolation.taskRanges=[{block}]"), "network.isolation.taskRanges[0]", problem)


def test_the_namespace_without_a_policy_runs_a_job_that_listens_nowhere() -> None:
    """docs/security.md says why the clean-up of an existing cluster needs no default-deny."""
    objects = list(yaml.safe_load_all((ROOT / "manifests" / "cluster-cleanup.yaml").read_text()))
    (job,) = (each for each in objects if each["kind"] in ("Job", "Deployment", "DaemonSet", "StatefulSet", "Pod"))
    assert job["kind"] == "Job"
    assert not any(container.get("ports") for container in job["spec"]["template"]["spec"]["containers"])
    assert not [each for each in objects if each["kind"] == "Service"]
