"""Who reaches whom on a live cluster: what is there decides, and what could not be read is said."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import pytest

from physical_ai.readiness import Unreachable
from physical_ai.readiness.answers import Missing
from tests.unit.conftest import Simulate
from workbench.cli.live_reach import OTHERS, PATHS, PODS, live_world
from workbench.policies import Stack
from workbench.policies.flows.asking import ask
from workbench.policies.flows.balancers import SERVICE
from workbench.policies.flows.judging import Judgement, judge, judge_world
from workbench.policies.flows.world import NAMESPACE, NETWORK_POLICY

STACK = "dev-southeastasia"
NAME = "kubernetes.io/metadata.name"
GATEWAY = {"app.kubernetes.io/name": "osmo-gateway", "app.kubernetes.io/component": "envoy"}
Items = dict[str, Any]


def pod(space: str, name: str, labels: Mapping[str, str], **spec: Any) -> dict[str, Any]:
    return {
        "metadata": {"name": name, "namespace": space, "labels": labels},
        "spec": {"containers": [{"name": "c", **spec}]},
    }


@pytest.fixture
def declared(simulate: Simulate) -> Stack:
    return simulate(STACK).stack


@pytest.fixture
def items(declared: Stack) -> Items:
    """A cluster that has what the stack declares."""
    spaces = [each.inputs for each in declared.resources if each.type == NAMESPACE]
    service = {
        "metadata": {"name": "osmo-gateway", "namespace": "osmo-control-plane"},
        "spec": {"type": "LoadBalancer", "ports": [{"port": 443}]},
    }
    envoy = pod("osmo-control-plane", "envoy-1", GATEWAY, ports=[{"name": "envoy-http", "containerPort": 8000}])
    return {
        PATHS[NAMESPACE]: [
            {**each, "metadata": {**each["metadata"], "labels": {NAME: each["metadata"]["name"]}}} for each in spaces
        ],
        PATHS[SERVICE]: [service],
        PATHS[NETWORK_POLICY]: [
            copy.deepcopy(dict(each.inputs)) for each in declared.resources if each.type == NETWORK_POLICY
        ],
        PODS: [envoy, pod("osmo-workflows", "w-1", {"osmo.workflow_id": "sim-7", "osmo.task_name": "train"})],
    }


def reader(items: Items, refused: tuple[str, ...] = ()) -> Any:
    def get(path: str, _: Mapping[str, str]) -> Any:
        if path in refused:
            raise Unreachable("403: pods is forbidden", 403)
        if path not in items:
            raise Missing(path)
        return {"items": items[path]}

    return get


def broken(declared: Stack, get: Any) -> list[str]:
    return [str(each) for each in judge_world(live_world(declared, get)[0]) if not each.holds]


def test_a_cluster_as_declared_is_as_it_has_to_be(declared: Stack, items: Items) -> None:
    assert broken(declared, reader(items)) == []
    _, notes = live_world(declared, reader(items))
    assert notes[0] == "Azure's side is as the stack declares it; what is in the cluster was read."
    assert "no Pod runs of: agent, cert-manager" in notes[-1]
    assert "task" not in notes[-1]
    judged = judge_world(live_world(declared, reader(items))[0])
    gateways = [each.way.resource for each in judged if each.flow.target == "public-balancers"]
    assert [each.name for each in gateways if each] == ["osmo-control-plane/osmo-gateway"]
    assert "images" in {each.flow.target for each in judged}


def test_a_cluster_as_declared_gives_the_answers_of_the_declaration(declared: Stack, items: Items) -> None:
    def answers(judged: list[Judgement]) -> dict[tuple[str, int, str], bool | None]:
        return {(str(each.flow), each.way.port, each.flow.protocol): each.way.verdict.open for each in judged}

    assert answers(judge_world(live_world(declared, reader(items))[0])) == answers(judge(declared))


def test_a_policy_that_somebody_deleted_is_found(declared: Stack, items: Items) -> None:
    gone = [each for each in items[PATHS[NETWORK_POLICY]] if each["metadata"]["name"] != "tasks"]
    get = reader({**items, PATHS[NETWORK_POLICY]: gone})
    assert any(
        each.startswith("task → gateway, port 8000: closed, by NetworkPolicy default-deny")
        for each in broken(declared, get)
    )
    assert (
        "NetworkPolicies of the stack that are not in the cluster: osmo-workflows/tasks" in live_world(declared, get)[1]
    )


def test_policies_of_others_count_and_are_named(declared: Stack, items: Items) -> None:
    train = {"matchLabels": {"osmo.task_name": "train"}}
    wide = {
        "metadata": {"name": "debug", "namespace": "osmo-workflows"},
        "spec": {
            "podSelector": train,
            "policyTypes": ["Egress"],
            "egress": [{}],
        },
    }
    get = reader({**items, PATHS[NETWORK_POLICY]: [*items[PATHS[NETWORK_POLICY]], wide]})
    found = broken(declared, get)
    assert any(each.startswith("task → physical-ai-data-postgres-server, port 5432: open") for each in found)
    assert "NetworkPolicies that are not the stack's: osmo-workflows/debug" in live_world(declared, get)[1]
    # It selects by a label that only the running Pod shows.
    idle = reader({**items, PODS: [], PATHS[NETWORK_POLICY]: [*items[PATHS[NETWORK_POLICY]], wide]})
    assert broken(declared, idle) == []


def test_a_pod_with_other_ports_or_on_its_node_is_taken_as_it_is(declared: Stack, items: Items) -> None:
    moved = pod("osmo-control-plane", "envoy-1", GATEWAY, ports=[{"name": "envoy-http", "containerPort": 9000}])
    world, _ = live_world(declared, reader({**items, PODS: [moved]}))
    assert [each.way.verdict.open for each in ask(world, "task", "gateway", (8000, 9000))] == [False, True]
    host = pod("kai-scheduler", "a", {"app": "admission"})
    host["spec"]["hostNetwork"] = True
    on_host, _ = live_world(declared, reader({**items, PODS: [host]}))
    (found,) = ask(on_host, "api-server", "kai", (9443,))
    assert found.way.hops == ()


def test_policies_of_another_kind_are_said_and_not_guessed(declared: Stack, items: Items) -> None:
    get = reader({**items, OTHERS["CiliumNetworkPolicy"]: [{"metadata": {"name": "l7"}}]})
    assert "CiliumNetworkPolicy is not judged, and may open or close more: l7" in live_world(declared, get)[1]


def test_what_may_not_be_read_stays_as_declared_and_is_said(declared: Stack, items: Items) -> None:
    world, notes = live_world(declared, reader(items, (PODS,)))
    assert world.running is None
    assert "not read: pods (403: pods is forbidden); as declared instead" in notes
    with pytest.raises(Unreachable, match="neither Pods nor"):
        live_world(declared, reader(items, (PODS, *PATHS.values())))
