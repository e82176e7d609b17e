"""Answers that look right and are not inside: whatever field is changed to whatever, no reader ends in a traceback."""

from __future__ import annotations

import copy
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from physical_ai.readiness import Unreachable
from physical_ai.readiness.paths import api_path
from physical_ai.readiness.reader import Missing
from physical_ai.readiness.shapes import Malformed, checked
from physical_ai.readiness.workloads.read import STATUS
from tests.support.cases import in_one_test
from tests.support.hostile_answers import GONE, READERS, WRONG, Steps, asked, changed, cluster, places, serving
from workbench.health.acceptance.choosing import NoNodes

NODES = "/api/v1/nodes"
ENDS = (Missing, Unreachable, Malformed, NoNodes)
"""How a reader may end."""
Case = tuple[str, Steps, Any]


def node(**parts: Any) -> dict[str, Any]:
    return {"items": [{"metadata": {"name": "a"}, **parts}]}


@in_one_test(
    ("answer", "expected"),
    [
        ([], "a list, and not an object"),
        ("nodes", "the text 'nodes', and not an object"),
        ({}, "without the list `items`"),
        ({"items": {}}, "without the list `items`"),
        ({"items": [None]}, r"items\[0\] that is null, and not an object"),
        ({"items": [{"spec": {}}]}, r"items\[0\]\.metadata that is missing or null"),
        ({"items": [{"metadata": {}}]}, r"items\[0\]\.metadata\.name that is missing"),
        ({"items": [{"metadata": {"name": "a", "labels": [1]}}]}, r"labels that is a list, and not an object"),
        (node(spec=[]), "spec that is a list"),
        (node(spec={"taints": [{"key": "a"}]}), r"taints\[0\]\.effect that is missing"),
        (node(status={"conditions": [{"type": 1, "status": "True"}]}), "type that is the number 1, and not a text"),
        (node(status={"allocatable": {"nvidia.com/gpu": "many"}}), "gpu that is the text 'many', and not a quantity"),
        (node(status={"allocatable": {"nvidia.com/gpu": "1.5"}}), "and not a whole number"),
        (node(status={"allocatable": {"cpu": "1e999999999"}}), "and not a quantity"),
        ({"items": [], "metadata": {"continue": 1}}, "metadata.continue that is the number 1"),
    ],
)
def test_what_is_no_answer_of_an_api_server_is_named(answer: object, expected: str) -> None:
    with pytest.raises(Malformed, match=expected):
        checked(answer, NODES)


def test_null_is_absent_and_shares_are_digits() -> None:
    given_node = node(spec=None, status={"conditions": None, "allocatable": {"nvidia.com/gpu": "1k", "cpu": "3920m"}})
    (found,) = checked(given_node, NODES)["items"]
    assert found == {
        "metadata": {"name": "a"}, "status": {"allocatable": {"nvidia.com/gpu": "1000", "cpu": "3920m"}},
    }  # fmt: skip
    assert checked({"metadata": {}, "items": None}, NODES)["items"] == []


def test_the_groups_of_an_api_server_are_groups() -> None:
    for answer in ({"groups": None}, {"groups": [{"name": "a"}]}, {}):
        with pytest.raises(Malformed):
            checked(answer, "/apis")
    with pytest.raises(Malformed):
        checked({"resources": [1]}, "/apis/kai.scheduler/v1")


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/api/v1/nodes", ("nodes", "", "")),
        ("/api/v1/namespaces", ("namespaces", "", "")),
        ("/api/v1/namespaces/x", ("namespaces", "x", "")),
        ("/api/v1/namespaces/x/pods/y/log", ("pods", "y", "log")),
        ("/apis/apps/v1/namespaces/x/deployments", ("deployments", "", "")),
        ("/apis/policy/v1/poddisruptionbudgets?limit=1", ("poddisruptionbudgets", "", "")),
        ("/apis/apps/v1", ("", "", "")),
        ("/version", ("", "", "")),
    ],
)
def test_paths(path: str, expected: tuple[str, str, str]) -> None:
    found = api_path(path)
    assert (found.resource, found.name, found.sub) == expected


def test_the_cluster_of_these_tests_is_read_by_all() -> None:
    found = {path for reader in READERS for path in asked(reader)}
    assert len(cluster().keys() & found) > 30


@cache
def cases() -> list[Case]:
    return [
        (path, steps, instead)
        for path, document in cluster().items()
        for steps in places(document)
        for instead in (*WRONG, GONE)
        if steps or instead is not GONE
    ]


def reads(case: Case) -> None:
    path, steps, instead = case
    document = changed(cluster()[path], steps, instead)
    try:
        checked(copy.deepcopy(document), path)
    except Malformed as problem:
        assert str(problem).isprintable()  # noqa: PT017 - most cases end here
        return
    for name, read in READERS.items():
        if path not in asked(name):
            continue
        try:
            read(serving({**cluster(), path: document}))
        except ENDS:
            continue


@given(some.sampled_from(cases()))
def test_no_reader_ends_in_a_traceback(case: Case) -> None:
    reads(case)


def test_half_a_surrogate_pair_in_an_autoscalers_status_ends_no_reader() -> None:
    """Libyaml, which reads it, has no error of its own for that."""
    case: Case = (STATUS, ("data", "status"), "\ud800")
    assert case in cases()
    reads(case)


@pytest.mark.deep
@pytest.mark.parametrize("path", cluster())
def test_no_field_of_a_cluster_ends_a_reader_in_a_traceback(path: str) -> None:
    """All that the sample above draws from."""
    for case in cases():
        if case[0] == path:
            reads(case)
