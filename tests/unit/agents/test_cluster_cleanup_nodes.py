"""What the program removes from nodes that a stack's classes have marked, whoever owns the marks now."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from cluster_cleanup.cleanup import DEFINITIONS, clean
from cluster_cleanup.model import Found, Wanted
from cluster_cleanup.nodes import NODES
from json_http import Refused

GPU = "nvidia.com/gpu=present:NoSchedule"
OURS = {"labels": {"agentpool": "b200", "example.com/team": "a"}, "annotations": {"pulumi.com/x": "y"}, "taints": [GPU]}
CORDON = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule", "timeAdded": "2026-11-27T20:00:00Z"}
THEIRS = {"key": "example.com/rack", "value": "7", "effect": "NoExecute"}
NAME, MANAGER = "b200-1", "cluster-cleanup"


def taint(text: str) -> dict[str, str]:
    left, _, effect = text.rpartition(":")
    key, _, value = left.partition("=")
    return {"key": key, "value": value, "effect": effect}


@dataclass
class Server:
    """One node as an API server keeps it: a merge patch makes its sender the owner of what it changes.

    `meanwhile`: what a controller makes of the node's taints before the next patch arrives.
    """

    node: dict[str, Any]
    meanwhile: list[list[dict[str, Any]]] = field(default_factory=list[list[dict[str, Any]]])
    patches: list[Any] = field(default_factory=list[Any])
    said: list[str] = field(default_factory=list[str])

    def request(self, method: str, path: str, body: Any = None) -> Any:
        if path.startswith(DEFINITIONS):
            raise Refused(f"{method} {path}", 404, "not found")
        if method == "GET":
            return {"items": [copy.deepcopy(self.node)]} if path == NODES else copy.deepcopy(self.node)
        assert (method, path) == ("PATCH", f"{NODES}/{NAME}")
        if self.meanwhile:
            self.update("kube-controller-manager", {"spec": {"taints": self.meanwhile.pop()}})
        version = body["metadata"].get("resourceVersion")
        if version not in {None, self.node["metadata"]["resourceVersion"]}:
            raise Refused(f"{method} {path}", 409, "the object has been modified")
        self.patches.append(body)
        self.update(MANAGER, body)
        return copy.deepcopy(self.node)

    def update(self, manager: str, body: Mapping[str, Any]) -> None:
        """As managers that do not apply: what they change is theirs alone."""
        metadata = self.node["metadata"]
        for part in ("labels", "annotations"):
            for key, value in body.get("metadata", {}).get(part, {}).items():
                self.owned(manager, f"{part}/{key}")
                metadata[part] = {k: v for k, v in metadata[part].items() if k != key} | ({key: value} if value else {})
        if "taints" in body.get("spec", {}):
            self.owned(manager, "taints")
            self.node["spec"] = {"taints": body["spec"]["taints"]} if body["spec"]["taints"] else {}
        metadata["resourceVersion"] = str(int(metadata["resourceVersion"]) + 1)

    def owned(self, manager: str, place: str) -> None:
        for fields in self.node["metadata"]["managedFields"]:
            fields["places"].discard(place)
        self.node["metadata"]["managedFields"].append({"manager": manager, "places": {place}})

    def release(self, manager: str = "physical-ai") -> None:
        """The deletion of the NodePatch: what only its manager owns goes."""
        owners = self.node["metadata"]["managedFields"]
        given = {place for each in owners if each["manager"] == manager for place in each["places"]}
        others = {place for each in owners if each["manager"] != manager for place in each["places"]}
        for place in given - others:
            part, _, key = place.partition("/")
            if part == "taints":
                self.node["spec"] = {}
            else:
                self.node["metadata"][part].pop(key, None)

    @property
    def left(self) -> tuple[dict[str, str], dict[str, str], list[dict[str, Any]]]:
        metadata = self.node["metadata"]
        return metadata["labels"], metadata["annotations"], self.node["spec"].get("taints", [])


def deployed(*taints: dict[str, Any]) -> Server:
    """The node as the stack's NodePatch has left it, with the taints that the list has since."""
    places = {"taints", "labels/agentpool", "labels/example.com/team", "annotations/pulumi.com/x"}
    metadata = {
        "name": NAME,
        "resourceVersion": "1",
        "labels": {**OURS["labels"], "example.com/rack": "7"},
        "annotations": dict(OURS["annotations"]),
        "managedFields": [{"manager": "physical-ai", "places": places}],
    }
    server = Server({"metadata": metadata, "spec": {"taints": [taint(GPU)]}})
    if taints:
        server.update("kube-controller-manager", {"spec": {"taints": [taint(GPU), *taints]}})
    return server


def removed(server: Server, found: Found) -> list[str]:
    wanted = Wanted([], {}, [], [], "", nodes={NAME: OURS})
    return clean(server, wanted, found, seconds=0, pause=lambda _: None, say=server.said.append)


def record(taints: Sequence[str] = (), labels: Sequence[str] = ()) -> Found:
    return Found([], {NAME: ["example.com/rack", *labels]}, {}, {NAME: list(taints)})


def test_a_taint_that_a_controller_has_rewritten_is_removed_and_nothing_else_of_the_list() -> None:
    """A cordon and its end make the list kube-controller-manager's, so that the NodePatch's deletion leaves it."""
    kept = deployed(CORDON)
    kept.release()
    assert taint(GPU) in kept.left[2]
    server = deployed(CORDON)
    server.update("kube-controller-manager", {"spec": {"taints": [taint(GPU), THEIRS, CORDON]}})
    assert removed(server, record()) == []
    server.release()
    assert server.left == ({"example.com/rack": "7"}, {}, [THEIRS, CORDON])


def test_the_last_taint_goes_with_its_list() -> None:
    server = deployed()
    server.update("kube-controller-manager", {"spec": {"taints": [taint(GPU)]}})
    assert removed(server, record()) == []
    assert server.left[2] == []
    assert any(f"node {NAME}" in line and GPU in line for line in server.said)


def test_labels_and_annotations_that_others_have_written_again_are_removed() -> None:
    server = deployed()
    for key, manager in (("agentpool", "kubectl-label"), ("example.com/team", "a-controller")):
        for value in ("other", OURS["labels"][key]):
            server.update(manager, {"metadata": {"labels": {key: value}}})
    server.update("kubectl-annotate", {"metadata": {"annotations": {"pulumi.com/x": "z"}}})
    server.update("kubectl-annotate", {"metadata": {"annotations": {"pulumi.com/x": "y"}}})
    assert removed(server, record()) == []
    server.release()
    assert server.left == ({"example.com/rack": "7"}, {}, [])


@pytest.mark.parametrize("other", ["nvidia.com/gpu=true:NoSchedule", "nvidia.com/gpu=present:NoExecute"])
def test_another_taint_of_the_same_key_stays_and_is_named(other: str) -> None:
    server = deployed()
    server.update("kubectl-taint", {"spec": {"taints": [taint(other)]}})
    assert removed(server, record()) == []
    assert server.left[2] == [taint(other)]
    assert f"node {NAME}: the taint {other} stays: it is another one than the stack's {GPU}" in server.said


def test_a_value_that_was_changed_since_stays_and_is_named() -> None:
    server = deployed()
    server.update("kubectl-label", {"metadata": {"labels": {"agentpool": "mine"}}})
    assert removed(server, record()) == []
    assert server.left[0] == {"example.com/rack": "7", "agentpool": "mine"}
    assert f"node {NAME}: the label agentpool=mine stays: the stack's value was b200" in server.said


def test_what_was_there_before_stays() -> None:
    server = deployed(CORDON)
    assert removed(server, record([GPU], ["agentpool"])) == []
    assert server.left[0] == {"example.com/rack": "7", "agentpool": "b200"}
    assert server.left[2] == [taint(GPU), CORDON]
    assert f"node {NAME}: the taint {GPU} was there before: it stays" in server.said


@pytest.mark.parametrize(
    ("found", "why"),
    [
        (Found([], {}, {}), "the record of what was there before has no taints"),
        (Found([], {}, {}, {"another": []}), "the node is not in the record of what was there before"),
    ],
)
def test_without_a_record_nothing_is_removed_that_may_be_anothers(found: Found, why: str) -> None:
    server = deployed(CORDON)
    assert removed(server, found) == []
    assert server.patches == []
    (line,) = [line for line in server.said if why in line]
    assert f"taint {GPU}" in line
    assert f"kubectl taint node {NAME} {GPU}-" in line


def test_a_taint_that_comes_meanwhile_is_kept() -> None:
    server = deployed()
    server.meanwhile = [[taint(GPU), CORDON]]
    assert removed(server, record()) == []
    assert server.left[2] == [CORDON]


def test_a_list_that_never_rests_is_a_problem() -> None:
    server = deployed()
    server.meanwhile = [[taint(GPU), CORDON]] * 50
    (problem,) = removed(server, record())
    assert "409" in problem
    assert taint(GPU) in server.left[2]


def test_a_taint_of_the_programs_own_name_goes_from_every_node() -> None:
    """Acceptance gives it, also to nodes that joined later, and nothing takes it away after the stack."""
    own = "example.com/not-accepted=present:NoSchedule"
    server = deployed(taint(own), CORDON)
    wanted = Wanted([], {}, [], [], "", own_taints=[own])
    assert clean(server, wanted, Found([], {}, {}), seconds=0, pause=lambda _: None, say=server.said.append) == []
    assert server.left[2] == [taint(GPU), CORDON]


def test_a_node_without_marks_is_not_changed() -> None:
    server = deployed()
    server.update("x", {"metadata": {"labels": dict.fromkeys(OURS["labels"]), "annotations": {"pulumi.com/x": None}}})
    server.update("x", {"spec": {"taints": None}})
    assert removed(server, record()) == []
    assert (server.patches, server.said) == ([], [])
