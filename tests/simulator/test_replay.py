"""A replay: a real API server with the objects of a recording, which the reader cannot change."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from simulator.control_plane import ControlPlane
from simulator.home import Home
from simulator.kubernetes.client import ApiError, Client
from simulator.replay import plane_of
from tests.simulator.physai import physai
from tests.support.recorded_cluster import STACK, World, lists, recorded
from workbench.recordings.writing import write

KINDS = {"nodes": ("Node", False), "pods": ("Pod", True), "namespaces": ("Namespace", False),
         "configmaps": ("ConfigMap", True), "events": ("Event", True)}  # fmt: skip


class Described(World):
    """A cluster whose discovery has the kinds, as that of a real API server."""

    def __call__(self, path: str, parameters: Mapping[str, str]) -> Any:
        answer = super().__call__(path, parameters)
        if path == "/api/v1":
            for each in answer["resources"]:
                kind, namespaced = KINDS.get(each["name"], ("Secret", True))
                each |= {"kind": kind, "namespaced": namespaced}
        return answer


@pytest.fixture
def file(home: Home, tmp_path: Path) -> Iterator[Path]:
    given = copy.deepcopy(lists())
    given["/api/v1/namespaces"].append({"metadata": {"name": "kube-system"}})
    for each in given["/api/v1/events"]:
        each |= {"reportingComponent": "kubelet", "firstTimestamp": "2026-11-28T03:00:00Z"}
    for each in given["/api/v1/pods"]:
        for status in each["status"].get("containerStatuses", ()):
            status |= {"image": "img:1.2.3", "imageID": "", "ready": False, "restartCount": 0}
        for container in each["spec"]["containers"]:
            container.setdefault("image", "img:1.2.3")
    write(recorded(Described(given)), tmp_path / "it.gz")
    yield tmp_path / "it.gz"
    plane_of(STACK).wipe()


def test_a_recording_is_loaded_read_and_left_as_it_is(file: Path) -> None:
    answer = physai("up", "--from", str(file), "--json").json
    assert answer["refused"] == []
    assert any("no scheduler runs" in each for each in answer["notDone"])
    client = Client(Path(answer["kubeconfig"]))
    nodes, pods = (client.get(f"/api/v1/{kind}")["items"] for kind in ("nodes", "pods"))
    [train] = [each for each in pods if each["metadata"]["name"] == "train-0"]
    assert train["status"]["phase"] == "Failed"
    assert train["spec"]["nodeName"] in {each["metadata"]["name"] for each in nodes}
    assert [each["status"]["capacity"]["cpu"] for each in nodes if "capacity" in each["status"]] == ["40"]
    assert client.get("/api/v1/namespaces/osmo-workflows/events")["items"][0]["reason"] == "Failed"

    for method, path in (("DELETE", "/api/v1/namespaces/osmo-workflows/pods/train-0"), ("POST", "/api/v1/namespaces")):
        with pytest.raises(ApiError) as refusal:
            client.request(method, path, {"metadata": {"name": "new"}} if method == "POST" else None)
        assert refusal.value.code == 403

    live = physai("doctor", "--kubeconfig", answer["kubeconfig"], "--json", expect=(0, 1, 3))
    from_file = physai("doctor", "--from", str(file), "--json", expect=(0, 1, 3))
    assert causes(live.json) == causes(from_file.json)

    assert "has ended" in physai("down", "--from", str(file)).out
    assert not plane_of(STACK).folder.exists()


def causes(document: dict[str, Any]) -> list[str]:
    return sorted(json.dumps([each.get("cause"), each.get("reason")]) for each in document["findings"])


def test_other_options_are_refused(file: Path) -> None:
    assert "the recording is the only source" in physai("up", "--from", str(file), "--refresh", expect=2).err
    assert isinstance(plane_of(STACK), ControlPlane)
    assert not plane_of(STACK).folder.exists()
