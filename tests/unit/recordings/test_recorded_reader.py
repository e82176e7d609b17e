"""A recording as a cluster: the same answers as from the API server, and refusals where it has none."""

from __future__ import annotations

from pathlib import Path

import pytest

from physical_ai.readiness.answers import Missing, Unreachable
from tests.support.recorded_cluster import World, recorded
from workbench.recordings.asking import Bounded
from workbench.recordings.cluster import reader
from workbench.recordings.questions import Limits
from workbench.recordings.reading import read
from workbench.recordings.writing import write


@pytest.fixture
def file(tmp_path: Path) -> Path:
    made = tmp_path / "it.gz"
    write(recorded(World()), made)
    return made


def names(answer: dict[str, list[dict[str, dict[str, str]]]]) -> list[str]:
    return [each["metadata"]["name"].partition("-host")[0] for each in answer["items"]]


@pytest.mark.parametrize(
    ("path", "parameters", "expected"),
    [
        ("/api/v1/pods", {}, ["kube-proxy", "train-0"]),
        ("/api/v1/namespaces/osmo-workflows/pods", {}, ["train-0"]),
        ("/api/v1/namespaces/nowhere/pods", {}, []),
        ("/api/v1/pods", {"labelSelector": "app=train"}, ["train-0"]),
        ("/api/v1/pods", {"labelSelector": "app!=train"}, ["kube-proxy"]),
        ("/api/v1/pods", {"labelSelector": "app in (a, train),app"}, ["train-0"]),
        ("/api/v1/pods", {"labelSelector": "app notin (train)"}, ["kube-proxy"]),
        ("/api/v1/pods", {"labelSelector": "!app"}, ["kube-proxy"]),
        ("/api/v1/pods", {"fieldSelector": "spec.nodeName=host-0001"}, ["kube-proxy"]),
        ("/api/v1/pods", {"fieldSelector": "metadata.namespace!=kube-system,status.phase=Failed"}, ["train-0"]),
        ("/api/v1/events", {"fieldSelector": "involvedObject.name=train-0"}, ["e1"]),
        ("/apis/apps/v1/deployments", {}, []),
    ],
)
def test_lists_are_selected_as_an_api_server_does(
    file: Path, path: str, parameters: dict[str, str], expected: list[str]
) -> None:
    assert names(reader(read(file))(path, parameters)) == expected


def test_lists_come_in_pages(file: Path) -> None:
    get = reader(read(file))
    first = get("/api/v1/pods", {"limit": "1"})
    second = get("/api/v1/pods", {"limit": "1", "continue": first["metadata"]["continue"]})
    assert names(first) + names(second) == ["kube-proxy", "train-0"]
    assert "continue" not in second["metadata"]


def test_one_object_a_log_and_the_version_are_read(file: Path) -> None:
    get = reader(read(file))
    assert get("/api/v1/namespaces/osmo-workflows/pods/train-0", {})["status"]["phase"] == "Failed"
    assert get("/api/v1/namespaces/osmo-workflows", {})["metadata"]["name"] == "osmo-workflows"
    assert get("/version", {})["gitVersion"] == "v1.36.3"
    log = "/api/v1/namespaces/osmo-workflows/pods/train-0/log"
    assert get(log, {"container": "main", "tailLines": "1"}).startswith("API_TOKEN=(removed) of aks-")
    with pytest.raises(Missing):
        get(log, {"container": "other"})
    with pytest.raises(Missing):
        get("/api/v1/namespaces/osmo-workflows/pods/train-9", {})
    with pytest.raises(Missing):
        get("/apis/acme.org/v1/things", {})


def test_secrets_and_what_was_refused_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "it.gz"
    write(recorded(World(refused=("/events",))), file)
    get = reader(read(file))
    for path in ("/api/v1/secrets", "/api/v1/namespaces/a/secrets/b", "/api/v1/events", "/api/v1/namespaces/a/events"):
        with pytest.raises(Unreachable) as refusal:
            get(path, {})
        assert refusal.value.status == 403


def test_another_version_of_a_list_is_not_an_empty_one(file: Path) -> None:
    with pytest.raises(Unreachable, match="has deployments as /apis/apps/v1/deployments alone"):
        reader(read(file))("/apis/apps/v1beta2/deployments", {})


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        (Limits(requests=5), "5 requests were sent"),
        (Limits(mebibytes=0), "0 MiB are full"),
        (Limits(seconds=-1), "over"),
    ],
)
def test_a_bound_ends_the_reading_and_is_said(tmp_path: Path, limits: Limits, said: str) -> None:
    world = World()
    entries = recorded(world, limits=limits)
    assert len(world.asked) <= limits.requests
    assert any(f"not read any more: {said}" in each or said in each for each in entries[1]["unread"])
    write(entries, tmp_path / "it.gz")
    with pytest.raises(Unreachable):
        reader(read(tmp_path / "it.gz"))("/apis/apps/v1/deployments", {})


def test_a_clock_ends_the_reading() -> None:
    now = [0.0]
    get = Bounded(World(), Limits(seconds=60), lambda: now[0])
    get("/version", {})
    now[0] = 61
    with pytest.raises(Unreachable, match="60 s are over"):
        get("/version", {})
