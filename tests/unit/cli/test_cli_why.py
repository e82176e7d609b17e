"""`physai why` and `physai doctor`: what they print, and how they end; the causes are tested in readiness."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from physical_ai.readiness import Unreachable, client
from tests.support import workload_objects as make
from workbench.cli.main import run

LISTS = {
    "/api/v1/nodes": "nodes",
    "/api/v1/pods": "pods",
    "/apis/scheduling.run.ai/v2/queues": "queues",
    "/apis/apps/v1/deployments": "deployments",
}
Read = Callable[..., list[str]]


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Read:
    """Puts a cluster with these Pods behind a kubeconfig; the options that read it."""

    def made(*pods: dict[str, Any], problem: Exception | None = None, refused: str = "") -> list[str]:
        given = make.Scene(pods).workloads()
        file = tmp_path / "kubeconfig"
        file.write_text("a kubeconfig")

        def get(path: str, _: Mapping[str, str]) -> Any:
            if problem is not None:
                raise problem
            if refused and path.endswith(refused):
                raise Unreachable(f"403 no right to {path}")
            return {"items": list(getattr(given, LISTS[path])) if path in LISTS else []}

        monkeypatch.setattr(client, "connect", lambda _: get)
        return ["dev-westus2", "--kubeconfig", str(file)]

    return made


BLOCKED = make.unschedulable(
    make.pod(tolerations=[], nodeSelector={"agentpool": "h100gpu"}), "0/2 nodes are available: 2 [red]untolerated[/]"
)


def test_why_names_the_cause_its_evidence_and_what_to_do(cluster: Read, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["why", "train-0", *cluster(BLOCKED)]) == 3
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == "pod osmo-workflows/train-0: toleration-missing"
    assert "does not tolerate nvidia.com/gpu=present:NoSchedule and kubernetes.azure.com/scale" in printed[1]
    assert printed[2] == "  seen 0/2 nodes are available: 2 [red]untolerated[/]"
    assert printed[3] == "  in   condition PodScheduled"
    assert "physai osmo platforms dev-westus2" in printed[4]


def test_why_says_that_nothing_is_wrong(cluster: Read, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["why", "h100gpu", *cluster()]) == 0
    out = capsys.readouterr().out
    assert out.startswith("pool h100gpu: nothing is wrong in what could be read\nnot read: alerts and Xids")
    assert "--prometheus URL" in out


def test_an_unknown_name_is_wrong_input(cluster: Read, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["why", "train-1", *cluster(BLOCKED)]) == 2
    captured = capsys.readouterr()
    assert "no pool, node, workflow, Pod, Job or Deployment named train-1" in captured.err
    assert "Did you mean train-0?" in captured.err
    assert captured.out == ""


def test_the_doctor_ends_with_three_where_an_action_is_needed(
    cluster: Read, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["doctor", *cluster(BLOCKED), "--json"]) == 3
    document = json.loads(capsys.readouterr().out)
    assert (document["schemaVersion"], document["actionNeeded"]) == (1, True)
    assert [(each["cause"], each["subjects"]) for each in document["findings"]] == [
        ("toleration-missing", ["pod osmo-workflows/train-0"])
    ]
    assert run(["doctor", *cluster()]) == 0
    assert capsys.readouterr().out.startswith("nothing is wrong in what could be read\nnot read: alerts and Xids")


HEALTHY = make.on(
    "aks-cpu-0", make.pod(), phase="Running", conditions=[{"type": "Ready", "status": "True"}],
    status={"ready": True, "state": {"running": {}}},
)  # fmt: skip


def test_a_pod_in_order_is_so_without_helms_records_and_a_node_is_not_known_to_be(
    cluster: Read, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = cluster(HEALTHY)
    get = client.connect("")

    def refuses(path: str, parameters: Mapping[str, str]) -> Any:
        if path.endswith("/secrets"):
            raise Unreachable("403 secrets is forbidden", 403)
        return {"items": [{"metadata": {"name": "x"}}]} if path == "/api/v1/namespaces" else get(path, parameters)

    monkeypatch.setattr(client, "connect", lambda _: refuses)
    assert run(["why", "train-0", *arguments]) == 0
    printed = capsys.readouterr().out
    assert "nothing is wrong in what could be read" in printed
    assert "not read: Helm's records of releases (403 secrets is forbidden)" in printed
    assert run(["why", "aks-cpu-0", *arguments]) == 1


@pytest.mark.parametrize("refused", ["/events", "/jobs", "/deployments", "/podgroups", "/queues", "-status"])
def test_what_may_not_be_read_is_named_and_nothing_is_concluded_from_it(
    refused: str, cluster: Read, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without a right to Deployments no agent is missing, without one to queues no queue is."""
    assert run(["doctor", *cluster(HEALTHY, refused=refused)]) == 1
    first, *others = capsys.readouterr().out.splitlines()
    assert first == "nothing is wrong in what could be read"
    assert "403 no right" in others[0]
    assert run(["why", "train-0", *cluster(HEALTHY, refused=refused), "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert (document["actionNeeded"], document["causes"]) == (False, [])
    assert [each for each in document["unread"] if "403 no right" in each]


def test_a_cluster_that_cannot_be_read_is_not_called_healthy(cluster: Read, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["doctor", *cluster(problem=Unreachable("connection refused"))]) == 1
    captured = capsys.readouterr()
    assert "cannot be read: connection refused" in captured.err
    assert captured.out == ""
