"""Every recorded vector of OSMO 6.3.1: same answer, same class of refusal, same places."""

from __future__ import annotations

import re
from typing import Any

from tests.support import osmo_recordings as recordings
from tests.support.cases import in_one_test
from tests.support.osmo_recorded_pods import pod_vectors, run_pod
from tests.support.osmo_recordings import Vector
from workbench.osmo.refusal import CRASH, Refusal


def ids(found: list[Vector]) -> list[str]:
    return [vector["id"] for vector in found]


CRASHES = {"TypeError", "AttributeError", "KeyError", "ValueError", "IndexError", "OverflowError"}
"""Classes that Python raises: OSMO did not expect the data, and answers with an internal server error."""
ACCEPTED = {"datasets", "parse", "limits", "validate"}
"""Stages of a submission after its schema."""
CAUSES = {
    "UndefinedError": "is undefined|has no",
    "SecurityError": "unsafe",
    "TemplateSyntaxError": "unexpected|expected|unknown|missing",
    "TimeoutError": "takes longer than",
    "TypeError": "map",
}
"""What the message of a refusal says of the library's error below it."""


def assert_same_refusal(refusal: Refusal | None, error: dict[str, Any]) -> None:
    assert refusal is not None, f"accepted; OSMO: {error['gist']}"
    assert refusal.kind == (CRASH if error["class"] in CRASHES else error["class"]), refusal.message
    if "cause" in error:
        assert re.search(CAUSES[error["cause"]], refusal.message, re.IGNORECASE)
    stage = error.get("stage")
    if stage not in (None, "pod"):
        assert refusal.__notes__ == ["accepted" if stage in ACCEPTED else stage], refusal.message
    if "paths" in error:
        recorded = [tuple(path) for path in error["paths"]]
        found = [(problem.path, problem.kind) for problem in refusal.problems]
        assert found[: len(recorded)] == recorded
        assert len(found) == len(recorded) + error.get("more_paths", 0)


SMALL = [(file, vector) for file in recordings.KINDS for vector in recordings.vectors(file)]


@in_one_test(("file", "vector"), SMALL, ids=[f"{file}-{vector['id']}" for file, vector in SMALL])
def test_functions_return_what_is_recorded(file: str, vector: Vector) -> None:
    answer, refusal = recordings.run(file, vector)
    if "error" in vector:
        assert_same_refusal(refusal, vector["error"])
    else:
        assert refusal is None, refusal
        assert answer == vector["expected"]


WORKFLOWS = recordings.vectors("workflows")


@in_one_test("vector", WORKFLOWS, ids=ids(WORKFLOWS))
def test_workflow_files_are_accepted_or_refused_as_recorded(vector: Vector) -> None:
    answer, refusal = recordings.run_workflow(vector)
    if "error" in vector:
        assert_same_refusal(refusal, vector["error"])
    else:
        assert refusal is None, refusal
        assert answer == recordings.expected_spec(vector)


PODS = pod_vectors()


@in_one_test("vector", PODS, ids=ids(PODS))
def test_pods_are_the_recorded_ones(vector: Vector) -> None:
    answer, refusal = run_pod(vector)
    if "error" in vector:
        assert_same_refusal(refusal, vector["error"])
        return
    assert refusal is None, refusal
    assert answer["timeout"] == vector["expected"]["timeout"]
    groups = vector["expected"]["groups"]
    assert [group.group for group in answer["groups"]] == [group["group"] for group in groups]
    for made, recorded in zip(answer["groups"], groups, strict=True):
        if "user_container" in recorded:
            container = made.pods[0]["spec"]["containers"][0]
            assert {key: container[key] for key in recorded["user_container"]} == recorded["user_container"]
            continue
        shown = [
            _short(item) if "keys" in seen else item
            for item, seen in zip(made.objects, recorded["objects"], strict=True)
        ]
        assert [_by_name(item) for item in shown] == [_by_name(item) for item in recorded["objects"]]


def _short(item: dict[str, Any]) -> dict[str, Any]:
    keys = [*item.get("data", {}), *item.get("stringData", {})]
    return {"kind": item["kind"], "name": item["metadata"]["name"], "type": item["type"], "keys": keys}


def _by_name(item: Any) -> Any:
    """A Pod with variables sorted by name: the recording was made without the database, which has an order of its own
    (`test_variables_come_in_the_order_in_which_the_database_has_them`)."""
    if item.get("kind") != "Pod" or "spec" not in item:
        return item
    containers = [
        {**each, "env": sorted(each.get("env", []), key=lambda variable: variable["name"])}
        for each in item["spec"]["containers"]
    ]
    return {**item, "spec": {**item["spec"], "containers": containers}}
