"""A replay: a real API server with the objects of a recording, which the reader cannot change."""

from __future__ import annotations

import copy
import json
import re
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
from workbench.recordings.reading import read
from workbench.recordings.writing import write

KINDS = {"nodes": ("Node", False), "pods": ("Pod", True), "namespaces": ("Namespace", False),
         "configmaps": ("ConfigMap", True), "events": ("Event", True), "deployments": ("Deployment", True),
         "jobs": ("Job", True), "customresourcedefinitions": ("CustomResourceDefinition", False),
         "things": ("Thing", True)}  # fmt: skip
JOBS, THINGS = "/apis/batch/v1/jobs", "/apis/example.com/v1/things"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
UID = "3f2b8c1e-9a4d-4f6e-8b7a-665544332211"


def job() -> dict[str, Any]:
    """A finished Job as the API server returns it, with the id of the Job in its selector."""
    marks = {"batch.kubernetes.io/controller-uid": UID, "controller-uid": UID,
             "batch.kubernetes.io/job-name": "token", "job-name": "token"}  # fmt: skip
    times = {"startTime": "2026-11-28T03:00:00Z", "completionTime": "2026-11-28T03:01:00Z"}
    at = {"status": "True", "lastProbeTime": times["completionTime"], "lastTransitionTime": times["completionTime"]}
    conditions = [{"type": each, **at} for each in ("SuccessCriteriaMet", "Complete")]
    template = {"restartPolicy": "Never", "containers": [{"name": "c", "image": "img:1.2.3"}]}
    spec = {"manualSelector": False, "selector": {"matchLabels": {"batch.kubernetes.io/controller-uid": UID}},
            "template": {"metadata": {"labels": marks}, "spec": template}}  # fmt: skip
    return {"metadata": {"name": "token", "namespace": "osmo-workflows", "uid": UID}, "spec": spec,
            "status": {"succeeded": 1, **times, "conditions": conditions}}  # fmt: skip


def definition() -> dict[str, Any]:
    """The definition of a kind whose status is no subresource."""
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    names = {"kind": "Thing", "plural": "things", "singular": "thing", "listKind": "ThingList"}
    return {"metadata": {"name": "things.example.com"},
            "spec": {"group": "example.com", "scope": "Namespaced", "names": names, "versions": [version]}}  # fmt: skip


class Described(World):
    """A cluster whose discovery has the kinds, as that of a real API server."""

    def __call__(self, path: str, parameters: Mapping[str, str]) -> Any:
        versions = {each.rpartition("/")[0] for each in self.lists}
        if path == "/apis":
            found = sorted(each.removeprefix("/apis/") for each in versions - {"/api/v1"})
            shown = [(each.partition("/")[0], {"groupVersion": each}) for each in found]
            return {"groups": [{"name": name, "preferredVersion": it, "versions": [it]} for name, it in shown]}
        if path not in versions:
            return super().__call__(path, parameters)
        names = [each.rpartition("/")[2] for each in self.lists if each.rpartition("/")[0] == path]
        kinds = [(each, *KINDS[each]) for each in names]
        served = [{"name": name, "kind": kind, "namespaced": spaced, "verbs": ["list"]} for name, kind, spaced in kinds]
        return {"resources": served}


@pytest.fixture
def file(home: Home, tmp_path: Path) -> Iterator[Path]:
    given = copy.deepcopy(lists())
    given["/api/v1/namespaces"].append({"metadata": {"name": "kube-system", "labels": {"control-plane": "true"}}})
    given[JOBS], given[DEFINITIONS] = [job()], [definition()]
    thing = {"name": "mounted", "namespace": "osmo-workflows"}
    owner = {"apiVersion": "v1", "kind": "Namespace", "name": "kube-system", "uid": "of kube-system"}
    given["/api/v1/namespaces"][-1]["metadata"]["uid"] = owner["uid"]
    given[THINGS] = [{"metadata": {**thing, "ownerReferences": [owner]}, "status": {"mounted": True}}]
    ends = {"deletionTimestamp": "2026-11-28T04:00:20Z", "deletionGracePeriodSeconds": 30}
    given["/api/v1/pods"].append({**copy.deepcopy(given["/api/v1/pods"][-1]), "status": {"phase": "Running"}})
    given["/api/v1/pods"][-1]["metadata"] |= {"name": "leaves", **ends}
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
    [leaves] = [each["metadata"] for each in pods if each["metadata"].get("deletionTimestamp")]
    assert (leaves["name"], leaves["deletionGracePeriodSeconds"]) == ("leaves", 30)
    [made] = client.get(JOBS)["items"]
    [wanted] = read(file).lists[JOBS]
    assert made["spec"]["selector"] == wanted["spec"]["selector"]
    assert made["spec"]["template"]["metadata"]["labels"] == wanted["spec"]["template"]["metadata"]["labels"]
    assert made["status"]["succeeded"] == 1
    system = client.get("/api/v1/namespaces/kube-system")["metadata"]
    assert system["labels"]["control-plane"] == "true"
    [thing] = client.get(THINGS)["items"]
    assert thing["status"] == {"mounted": True}
    assert [each["uid"] for each in thing["metadata"]["ownerReferences"]] == [system["uid"]]

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
    """Causes and reasons of the findings, without the new times of deletions."""
    found = sorted(json.dumps([each.get("cause"), each.get("reason")]) for each in document["findings"])
    return [re.sub(r"\d{4}-\d\d-\d\dT[\d:]+Z", "TIME", each) for each in found]


def test_other_options_are_refused(file: Path) -> None:
    assert "the recording is the only source" in physai("up", "--from", str(file), "--refresh", expect=2).err
    assert isinstance(plane_of(STACK), ControlPlane)
    assert not plane_of(STACK).folder.exists()
