"""Which pod fits which node, and the words for it. That the real scheduler agrees is shown in tests/simulator."""

from __future__ import annotations

from typing import Any

import pytest

from physical_ai.kubernetes.fit import Offer, fitting, refusal, requests, why_not
from simulator.azure.nodes import taint
from tests.support.cases import in_one_test


def node(name: str = "one", *taints: str, **extra: Any) -> dict[str, Any]:
    spec = {"taints": [taint(text) for text in taints]}
    labels = {"agentpool": name, "cores": "40", **extra.pop("labels", {})}
    allocatable = {"cpu": "3860m", "memory": "10Gi", "pods": "3", "nvidia.com/gpu": "1", **extra.pop("allocatable", {})}
    metadata = {"name": name, "labels": labels}
    return {"metadata": metadata, "spec": spec | extra, "status": {"allocatable": allocatable}}


def pod(requests: dict[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    return {"spec": {"containers": [{"resources": {"requests": requests or {}}}], **spec}}


def on(host: str, requests: dict[str, str] | None = None, phase: str = "Running") -> dict[str, Any]:
    return {**pod(requests, nodeName=host), "status": {"phase": phase}}


def affinity(*terms: dict[str, Any]) -> dict[str, Any]:
    required = {"nodeSelectorTerms": list(terms)}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}


def expression(key: str, operator: str, *values: str) -> dict[str, Any]:
    return {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}


@pytest.mark.parametrize(
    ("asked", "missing"),
    [
        ({"cpu": "3860m"}, ()),
        ({"cpu": "3861m"}, ("Insufficient cpu",)),
        ({"memory": "10Gi"}, ()),
        ({"memory": "10737418241"}, ("Insufficient memory",)),
        ({"nvidia.com/gpu": "2", "cpu": "4"}, ("Insufficient nvidia.com/gpu", "Insufficient cpu")),
        ({"nvidia.com/gpu.shared": "1"}, ("Insufficient nvidia.com/gpu.shared",)),
        ({"nvidia.com/mig-1g.12gb": "0"}, ()),
    ],
)
def test_a_pod_fits_while_everything_it_requests_is_left(asked: dict[str, str], missing: tuple[str, ...]) -> None:
    assert why_not(pod(asked), Offer.of(node())) == missing


def test_what_pods_hold_is_not_free_until_they_have_ended() -> None:
    held = [on("one", {"cpu": "3", "nvidia.com/gpu": "1"}), on("other", {"cpu": "3"}), pod({"cpu": "3"})]
    assert why_not(pod({"cpu": "1"}), Offer.of(node(), held)) == ("Insufficient cpu",)
    ended = [on("one", {"cpu": "3", "nvidia.com/gpu": "1"}, phase) for phase in ("Succeeded", "Failed")]
    assert why_not(pod({"cpu": "1", "nvidia.com/gpu": "1"}), Offer.of(node(), ended)) == ()


def test_a_node_takes_so_many_pods_even_of_those_that_ask_for_nothing() -> None:
    offer = Offer.of(node(), [on("one"), on("one")])
    assert why_not(pod(), offer) == ()
    assert why_not(pod(), offer.with_pod(pod())) == ("Too many pods",)


def test_an_init_container_counts_only_where_it_needs_more_and_a_sidecar_always() -> None:
    small, big = ({"resources": {"requests": {"cpu": amount}}} for amount in ("1", "2500m"))
    sidecar = {**small, "restartPolicy": "Always"}
    assert requests({"spec": {"containers": [small, small], "initContainers": [big]}}) == {"cpu": 2500}
    assert requests({"spec": {"containers": [small, small], "initContainers": [small]}}) == {"cpu": 2000}
    assert requests({"spec": {"containers": [small, small], "initContainers": [sidecar, big]}}) == {"cpu": 3500}
    assert requests({"spec": {"containers": [small, small], "initContainers": [big, sidecar]}}) == {"cpu": 3000}


def test_requests_of_the_pod_replace_the_containers_sum_and_overhead_is_added() -> None:
    container = {"resources": {"requests": {"cpu": "1", "nvidia.com/gpu": "1"}}}
    spec = {"containers": [container], "resources": {"requests": {"cpu": "3"}}, "overhead": {"cpu": "250m"}}
    assert requests({"spec": spec}) == {"cpu": 3250, "nvidia.com/gpu": 1}


TAINT = "nvidia.com/gpu=present:NoSchedule"


@in_one_test(
    ("text", "toleration", "fits"),
    [
        (TAINT, None, False),
        ("nvidia.com/gpu=present:NoExecute", None, False),
        ("nvidia.com/gpu=present:PreferNoSchedule", None, True),
        (TAINT, {"key": "nvidia.com/gpu", "operator": "Exists"}, True),
        (TAINT, {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoExecute"}, False),
        (TAINT, {"operator": "Exists"}, True),
        (TAINT, {"key": "nvidia.com/gpu", "operator": "Equal", "value": "present", "effect": "NoSchedule"}, True),
        (TAINT, {"key": "nvidia.com/gpu", "value": "present"}, True),
        (TAINT, {"key": "nvidia.com/gpu", "operator": "Equal"}, False),
        (TAINT, {"key": "nvidia.com/gpu", "operator": "Lt", "value": "present"}, False),
        ("nvidia.com/gpu:NoSchedule", {"key": "nvidia.com/gpu", "operator": "Equal"}, True),
        (TAINT, {"key": "sku", "operator": "Exists"}, False),
    ],
)
def test_a_taint_keeps_a_pod_off_unless_it_tolerates_it(
    text: str, toleration: dict[str, str] | None, fits: bool
) -> None:
    given = pod(tolerations=[toleration] if toleration else [])
    assert why_not(given, Offer.of(node("one", text))) == (() if fits else ("node(s) had untolerated taint(s)",))


@in_one_test(
    ("term", "fits"),
    [
        (expression("agentpool", "In", "other", "one"), True),
        (expression("agentpool", "In", "other"), False),
        (expression("nothing", "In", "one"), False),
        (expression("agentpool", "NotIn", "other"), True),
        (expression("nothing", "NotIn", "one"), True),
        (expression("agentpool", "NotIn", "one"), False),
        (expression("agentpool", "Exists"), True),
        (expression("nothing", "Exists"), False),
        (expression("nothing", "DoesNotExist"), True),
        (expression("agentpool", "DoesNotExist"), False),
        (expression("cores", "Gt", "39"), True),
        (expression("cores", "Gt", "40"), False),
        (expression("cores", "Lt", "41"), True),
        (expression("agentpool", "Lt", "41"), False),
        (expression("nothing", "Gt", "1"), False),
        ({}, False),
    ],
)
def test_required_affinity_has_six_operators(term: dict[str, Any], fits: bool) -> None:
    reason = () if fits else ("node(s) didn't match Pod's node affinity/selector",)
    assert why_not(pod(affinity=affinity(term)), Offer.of(node())) == reason


def test_terms_are_alternatives_and_a_selector_holds_beside_them() -> None:
    either = affinity(expression("agentpool", "In", "other"), expression("cores", "Exists"))
    assert why_not(pod(affinity=either), Offer.of(node())) == ()
    chosen = pod(affinity=either, nodeSelector={"agentpool": "other"})
    assert why_not(chosen, Offer.of(node())) == ("node(s) didn't match Pod's node affinity/selector",)


def test_a_daemonsets_pod_looks_at_its_own_node_only() -> None:
    field = {"key": "metadata.name", "operator": "In", "values": ["two"]}
    bound = pod({"cpu": "9"}, affinity=affinity({"matchFields": [field]}))
    words = "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) didn't satisfy plugin(s) [NodeAffinity]."
    assert refusal(bound, [Offer.of(node("one")), Offer.of(node("two"))]) == words


def test_a_cordoned_node_takes_only_those_that_tolerate_it() -> None:
    cordoned = Offer.of(node(unschedulable=True))
    assert why_not(pod(), cordoned) == ("node(s) were unschedulable",)
    assert why_not(pod(tolerations=[{"key": "node.kubernetes.io/unschedulable", "operator": "Exists"}]), cordoned) == ()


def test_the_refusal_counts_reasons_and_each_node_gives_its_first() -> None:
    offers = [
        Offer.of(node("a", TAINT, unschedulable=True)),
        Offer.of(node("b", TAINT)),
        Offer.of(node("c", TAINT, allocatable={"cpu": "0"})),
        Offer.of(node("d", allocatable={"nvidia.com/gpu": "0", "cpu": "1"})),
    ]
    assert refusal(pod({"nvidia.com/gpu": "1", "cpu": "2"}), offers) == (
        "0/4 nodes are available: 1 Insufficient cpu, 1 Insufficient nvidia.com/gpu, 1 node(s) were unschedulable,"
        " 2 node(s) had untolerated taint(s)."
    )


def test_nothing_is_refused_where_one_node_fits_and_all_is_without_nodes() -> None:
    offers = [Offer.of(node("a", TAINT)), Offer.of(node("b"))]
    assert [offer.name for offer in fitting(pod(), offers)] == ["b"]
    assert refusal(pod(), offers) == ""
    assert refusal(pod(), []) == "no nodes available to schedule pods"
