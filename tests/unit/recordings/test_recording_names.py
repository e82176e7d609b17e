"""Replacement of names and ids in a whole recording, and what of a cluster never gets into the file."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.recorded_cluster import AT, HOST, NODE, PRIVATE, SECRETS, STACK, World, lists, recorded
from workbench.recordings.cluster import reader
from workbench.recordings.making import head, made
from workbench.recordings.reading import read
from workbench.recordings.writing import write


def test_nothing_private_and_no_secret_is_in_the_file() -> None:
    world = World()
    text = json.dumps(recorded(world))
    for each in (*PRIVATE, *SECRETS):
        assert each not in text, each
    assert not [path for path in world.asked if path.endswith("/secrets")]


def test_a_name_has_the_same_replacement_everywhere() -> None:
    found = {each["path"]: each["items"] for each in recorded(World()) if each["kind"] == "list"}
    aks, other = (each["metadata"]["name"] for each in found["/api/v1/nodes"])
    assert aks == NODE.replace("19345786", "10000001")
    proxy, train = found["/api/v1/pods"]
    assert train["spec"]["nodeName"] == aks
    assert proxy["spec"]["nodeName"] == other
    assert proxy["metadata"]["name"] == f"kube-proxy-{other}"
    assert other in found["/api/v1/events"][0]["message"]
    assert 'secret "a" not found' in found["/api/v1/events"][0]["message"]
    nodes = found["/api/v1/nodes"]
    assert train["status"]["podIP"] == nodes[0]["status"]["addresses"][0]["address"]
    assert [each["value"] for each in train["spec"]["containers"][0]["env"][:2]] == ["(removed)", "(removed)"]
    [log] = [each for each in recorded(World()) if each["kind"] == "log"]
    assert log["text"].endswith(f"of {aks}")


def test_a_replacement_that_is_a_name_already_is_not_given_twice() -> None:
    given = lists()
    given["/api/v1/nodes"].append({"metadata": {"name": "host-0001"}})
    names = [each["metadata"]["name"] for each in next(
        each["items"] for each in recorded(World(given)) if each.get("path") == "/api/v1/nodes")]  # fmt: skip
    assert len(set(names)) == 3
    assert "host-0001" in names
    assert HOST not in names


def test_a_user_of_the_name_of_a_namespace_is_not_replaced_in_every_text() -> None:
    given = lists()
    given["/api/v1/pods"][0]["metadata"]["annotations"] = {"acme.org/owner": "osmo-workflows"}
    [spaces] = [each["items"] for each in recorded(World(given)) if each.get("path") == "/api/v1/namespaces"]
    assert spaces[0]["metadata"]["name"] == "osmo-workflows"


def test_a_recording_of_a_recording_is_the_same(tmp_path: Any) -> None:
    first = tmp_path / "a.gz"
    entries = recorded(World())
    write(entries, first)
    again = recorded(reader(read(first)))
    counts = ("replaced", "removed")  # there is nothing left to replace
    assert {key: value for key, value in again[1].items() if key not in counts} == {
        key: value for key, value in entries[1].items() if key not in counts
    }
    assert (again[1]["replaced"], again[1]["removed"]) == ({}, 0)
    assert [again[0], *again[2:]] == [entries[0], *entries[2:]]


def test_the_summary_says_what_is_in_it_and_what_could_not_be_read() -> None:
    summary = recorded(World(refused=("/events",)))[1]
    assert summary["objects"]["/api/v1/pods"] == 2
    assert summary["namespaces"] == {"kube-system": 1, "osmo-workflows": 2}
    assert summary["removed"] >= 3
    assert summary["replaced"]["nodes"] == 2
    assert summary["unread"] == ["/api/v1/events (403 no right to /api/v1/events)"]


@pytest.mark.parametrize("role", ["b24988ac-6180-42a0-ab88-20f7382dd24c"])
def test_roles_that_everybody_has_are_kept(role: str) -> None:
    body = {"properties": {"roleDefinitionId": f"/providers/Microsoft.Authorization/roleDefinitions/{role}",
                           "principalId": "9a3e1f0c-1111-4222-8333-abcdefabcdef"}}  # fmt: skip
    found = made([head(STACK, AT, "t", simulated=False), {"kind": "azure", "id": "/x", "type": "t", "body": body}])
    assert role in json.dumps(found)
    assert "9a3e1f0c" not in json.dumps(found)
