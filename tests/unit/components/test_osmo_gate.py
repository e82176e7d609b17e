"""What a deployment waits for of OSMO, and how it sees workflows off."""

from __future__ import annotations

import asyncio
import datetime
from collections.abc import Mapping
from typing import Any

import pytest

from physical_ai.catalog import osmo as names
from physical_ai.readiness import osmo
from physical_ai.readiness.reader import Missing, Unreachable
from physical_ai.readiness.waiting import wait_until_empty
from physical_ai.settings.facts.osmo import MANAGED_LABEL
from physical_ai.settings.facts.osmo_token import TOKEN_ANNOTATION

Json = dict[str, Any]
SHARDS = "/apis/kai.scheduler/v1/schedulingshards"
PODS = f"/api/v1/namespaces/{names.WORKFLOWS_NAMESPACE}/pods"
TOKEN = f"/api/v1/namespaces/{names.OPERATOR_NAMESPACE}/secrets/{names.TOKEN_SECRET}"


def deployments(namespace: str) -> str:
    return f"/apis/apps/v1/namespaces/{namespace}/deployments"


def deployment(name: str, available: int = 1) -> Json:
    return {"metadata": {"name": name}, "spec": {"replicas": 1}, "status": {"availableReplicas": available}}


def shard(**conditions: str) -> Json:
    reported = [{"type": kind, "status": status} for kind, status in conditions.items()]
    return {"metadata": {"name": "default"}, "status": {"conditions": reported}}


def pod(name: str, *, going: bool = True, finalizers: tuple[str, ...] = (names.FINALIZER,)) -> Json:
    metadata: Json = {"name": name, "finalizers": list(finalizers), "resourceVersion": "7"}
    return {"metadata": metadata | ({"deletionTimestamp": "2026-11-21T00:00:00Z"} if going else {})}


UP = {
    SHARDS: [shard(Available="True", Reconciling="True")],
    deployments(names.KAI_NAMESPACE): [deployment("kai-operator"), deployment(names.KAI_SCHEDULER)],
    deployments(names.OPERATOR_NAMESPACE): [deployment("listener"), deployment("worker")],
}


class Api:
    """Lists by path, and what was changed."""

    def __init__(self, lists: Mapping[str, list[Json]], objects: Mapping[str, Json] | None = None) -> None:
        self.lists, self.objects = dict(lists), dict(objects or {})
        self.sent: list[tuple[str, str, Any]] = []

    def get(self, path: str, parameters: Mapping[str, str]) -> Any:
        return self("GET", path, parameters)

    def __call__(self, method: str, path: str, parameters: Mapping[str, str], body: Any = None) -> Any:
        if method != "GET":
            self.sent.append((method, path, body))
        if path in self.objects:
            return self.objects[path]
        if path in self.lists:
            return {"items": self.lists[path]}
        if method == "PATCH":
            return {}
        raise Missing(path)


def test_all_is_ready_although_the_shard_reconciles_for_ever() -> None:
    assert osmo.not_ready(Api(UP).get) == []


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({SHARDS: []}, "not created a SchedulingShard"),
        ({SHARDS: [shard(Reconciling="True")]}, "SchedulingShard default is not Available"),
        ({deployments(names.KAI_NAMESPACE): []}, "no Deployment in kai-scheduler"),
        ({deployments(names.OPERATOR_NAMESPACE): [deployment("worker", 0)]}, "osmo-operator/worker: 0 of 1 available"),
    ],
)
def test_what_is_not_ready_is_reported(change: dict[str, list[Json]], line: str) -> None:
    reported = osmo.not_ready(Api({**UP, **change}).get)
    assert len(reported) == 1
    assert line in reported[0]


@pytest.mark.parametrize(
    ("observed", "lines"),
    [(3, []), (2, ["SchedulingShard default is not Available", "Config kai-config is not Available"])],
)
def test_what_the_operator_said_before_an_upgrade_does_not_count(observed: int, lines: list[str]) -> None:
    available = {"type": "Available", "status": "True", "observedGeneration": observed}
    status = {"conditions": [available]}
    own = [{"metadata": {"name": name, "generation": 3}, "status": status} for name in ("default", "kai-config")]
    change = {SHARDS: own[:1], "/apis/kai.scheduler/v1/configs": own[1:]}
    assert osmo.not_ready(Api({**UP, **change}).get) == lines


@pytest.mark.parametrize("status", [{"observedGeneration": 1}, {"observedGeneration": 2, "updatedReplicas": 0}])
def test_pods_of_the_template_before_do_not_count(status: Json) -> None:
    old = deployment(names.KAI_SCHEDULER)
    old["metadata"]["generation"] = 2
    old["status"] |= status
    (line,) = osmo.not_ready(Api({**UP, deployments(names.KAI_NAMESPACE): [old]}).get)
    assert line.endswith("its newest template does not run yet")


def test_without_the_schedulers_kinds_nothing_is_ready() -> None:
    assert len(osmo.not_ready(Api({}).get)) == 3


@pytest.mark.parametrize(
    ("secret", "ours"),
    [({"metadata": {"labels": {MANAGED_LABEL: "true"}}}, True), ({"metadata": {}}, False), (None, False)],
)
def test_agents_of_others_are_left_alone(secret: Json | None, ours: bool) -> None:
    assert osmo.is_managed(Api({}, {TOKEN: secret} if secret else {}).get) is ours


@pytest.mark.parametrize(
    ("notes", "problem"),
    [
        ({"name": "default-1", "state": "valid", "expires": "2027-05-22"}, ""),
        ({"name": "default-1", "state": "valid", "expires": "2026-12-23"}, "default-1 of OSMO's agents expires on"),
        ({"name": "default-1", "state": "valid", "expires": "2026-11-23"}, "default-1 of OSMO's agents expired on"),
        ({"name": "default-1", "state": "Access Token is invalid", "expires": "2027-05-22"}, "Access Token is invalid"),
        ({}, ""),
        (None, ""),
    ],
)
def test_a_token_that_ends_or_is_refused_is_reported(notes: Json | None, problem: str) -> None:
    annotations = {f"{TOKEN_ANNOTATION}{key}": value for key, value in (notes or {}).items()}
    secret: Json = {"metadata": {"annotations": annotations}}
    api = Api({}, {} if notes is None else {TOKEN: secret})
    found = osmo.token_problem(api.get, datetime.date(2026, 11, 23))
    assert problem in found
    assert bool(found) is bool(problem)


def test_workflows_are_deleted_groups_first_even_without_a_scheduler() -> None:
    api = Api({PODS: []})
    osmo.delete_workflows(api)
    assert [(method, path.rpartition("/")[2]) for method, path, _ in api.sent] == [
        ("DELETE", "podgroups"),
        ("DELETE", "pods"),
    ]


def test_only_a_pod_that_leaves_loses_its_finalizer_and_keeps_others() -> None:
    other = "example.com/audit"
    found = [pod("a", finalizers=(names.FINALIZER, other)), pod("b", going=False), pod("c", finalizers=(other,))]
    api = Api({PODS: found})
    assert osmo.remove_finalizers(api) == ["a"]
    ((method, path, body),) = api.sent
    assert (method, path) == ("PATCH", f"{PODS}/a")
    assert body == {"metadata": {"finalizers": [other], "resourceVersion": "7"}}


def test_a_pod_without_a_version_keeps_its_finalizers() -> None:
    """Whoever added another one meanwhile would lose it: what answers so is no API server."""
    (given,) = [pod("a", finalizers=(names.FINALIZER,))]
    del given["metadata"]["resourceVersion"]
    api = Api({PODS: [given]})
    with pytest.raises(Unreachable, match="Pod a that has no resourceVersion"):
        osmo.remove_finalizers(api)
    assert api.sent == []


def test_waiting_logs_each_line_once_and_ends_with_nothing_left() -> None:
    looks = [["a", "b"], ["a", "b"], ["b"], []]
    reported: list[str] = []
    assert asyncio.run(wait_until_empty(lambda: looks.pop(0), 60, reported.append, sleep=_no_sleep)) == []
    assert reported == ["a", "b"]


def test_waiting_ends_at_its_bound_with_what_is_left() -> None:
    clock = iter(range(100))
    reported: list[str] = []
    left = asyncio.run(wait_until_empty(lambda: ["x"], 3, reported.append, sleep=_no_sleep, clock=lambda: next(clock)))
    assert (left, reported) == (["x"], ["x"])


def test_an_api_server_that_does_not_answer_counts_as_something_left() -> None:
    answers = iter([Unreachable("503"), None])

    def look() -> list[str]:
        problem = next(answers)
        if problem is not None:
            raise problem
        return []

    reported: list[str] = []
    assert asyncio.run(wait_until_empty(look, 60, reported.append, sleep=_no_sleep)) == []
    assert reported == ["the API server does not answer: 503"]


async def _no_sleep(seconds: float) -> None:
    del seconds
