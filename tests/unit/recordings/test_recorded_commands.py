"""`why`, `doctor`, `gates`, `alerts`, `usage` and `reach` on a recording: the same answers as on the cluster."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from physical_ai.readiness import Unreachable, client
from physical_ai.readiness.answers import Missing
from physical_ai.telemetry.usage import queries
from tests.support import workload_objects as make
from tests.support.recorded_cluster import STACK, recorded
from workbench.cli import recorded as recorded_source
from workbench.cli.main import run
from workbench.cli.prometheus_signs import signal_queries
from workbench.recordings.form import Entry
from workbench.recordings.questions import SPANS
from workbench.recordings.writing import write

BLOCKED = make.unschedulable(
    make.pod(tolerations=[], nodeSelector={"agentpool": "h100gpu"}), "0/2 nodes are available: 2 untolerated"
)
LISTS = {"/api/v1/nodes": "nodes", "/api/v1/pods": "pods", "/apis/scheduling.run.ai/v2/queues": "queues",
         "/apis/apps/v1/deployments": "deployments"}  # fmt: skip
Make = Callable[..., Path]


def answers(*pods: dict[str, Any]) -> Callable[[str, Mapping[str, str]], Any]:
    """A login without the right to read Secrets, in a cluster with these Pods."""
    given = make.Scene(pods).workloads()
    lists = {path: list(getattr(given, name)) for path, name in LISTS.items()}
    lists["/api/v1/namespaces"] = [{"metadata": {"name": each}} for each in ("gpu-operator", "osmo-workflows")]

    def get(path: str, parameters: Mapping[str, str]) -> Any:
        if "secrets" in path:
            raise Unreachable("403 a recording never has Secrets", 403)
        if path == "/version":
            return {"major": "1", "minor": "36", "gitVersion": "v1.36.3"}
        if path not in lists and (not path.startswith("/api/v1/") or path.count("/") > 3):
            raise Missing(path)
        return {"items": json.loads(json.dumps(lists.get(path, [])))}

    return get


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    def made(*pods: dict[str, Any], others: tuple[Entry, ...] = ()) -> Path:
        get = answers(*pods)
        monkeypatch.setattr(client, "connect", lambda _: get)
        (tmp_path / "kubeconfig").write_text("a kubeconfig")
        write(recorded(get, others), tmp_path / "it.gz")
        return tmp_path / "it.gz"

    return made


@pytest.mark.parametrize("command", [["why", "train-0"], ["why", "h100gpu"], ["doctor"], ["gates"]])
@pytest.mark.parametrize("pods", [(), (BLOCKED,)])
def test_the_answers_are_those_of_the_cluster(
    command: list[str], pods: tuple[Any, ...], file: Make, capsys: pytest.CaptureFixture[str]
) -> None:
    recording = file(*pods)
    live = run([*command, "--kubeconfig", str(recording.with_name("kubeconfig")), "--json"])
    first = json.loads(capsys.readouterr().out or "{}")
    assert run([*command, "--from", str(recording), "--json"]) == live
    captured = capsys.readouterr()
    second = json.loads(captured.out or "{}")
    for each in (first, second):
        each.pop("cluster", None)
        each["unread"] = [text for text in each.get("unread", ()) if "alerts and Xids" not in text]
    assert first == second
    assert f"{recording}: {STACK}, recorded at 2026-11-28T04:00:00Z (" in captured.err


def test_no_other_source_is_read(file: Make, capsys: pytest.CaptureFixture[str]) -> None:
    recording = str(file())
    for command, option in (
        (["doctor"], "--kubeconfig"), (["why", "x"], "--azure"), (["gates"], "--wait"), (["usage"], "--prometheus"),
        (["reach"], "--context"),
    ):  # fmt: skip
        value = [] if option in ("--azure", "--wait") else ["x"]
        assert run([*command, "--from", recording, option, *value]) == 2
        assert f"{option}: the recording is the only source" in capsys.readouterr().err
    assert run(["doctor", "staging-westus2", "--from", recording]) == 2
    assert f"{recording} is of dev-westus2, and not of staging-westus2" in capsys.readouterr().err


def test_the_file_is_left_as_it_is(file: Make) -> None:
    recording = file(BLOCKED)
    recording.chmod(0o400)
    before = recording.read_bytes()
    for command in (["why", "train-0"], ["doctor"], ["gates"]):
        run([*command, "--from", str(recording)])
    assert recording.read_bytes() == before
    assert {each.name for each in recording.parent.iterdir()} == {"it.gz", "kubeconfig"}


def test_without_metrics_the_reason_is_said(file: Make, capsys: pytest.CaptureFixture[str]) -> None:
    recording = file(others=({"kind": "unread", "what": "usage and metrics", "reason": "no Prometheus was named"},))
    assert run(["usage", "--from", str(recording)]) == 1
    assert "the recording has no metrics: no Prometheus was named" in capsys.readouterr().err
    assert run(["alerts", "--from", str(recording)]) == 1
    assert "the recording has no metrics" in capsys.readouterr().err


def sample(value: float, **labels: str) -> dict[str, Any]:
    return {"labels": labels, "value": value}


def metrics(at: float) -> tuple[Entry, ...]:
    """Answers of a Prometheus in which a node's alert fires, and a Pod has used GPUs."""
    alert = {"alertname": "GPUXid", "alertstate": "firing", "node": "n1", "severity": "critical"}
    answered = {"newest": [sample(at)], "alerts": [sample(1, __name__="ALERTS", **alert)]}
    entries: list[Entry] = [
        {"kind": "samples", "query": query, "samples": answered.get(name, [])}
        for name, query in signal_queries().items()
    ]
    held = [sample(12, namespace="team", pod="debug", pool="h100gpu")]
    entries += [
        {"kind": "samples", "query": query, "samples": held if name in ("asked", "held") else []}
        for span in SPANS
        for name, query in queries(span).items()
    ]
    labels = {key: value for key, value in alert.items() if key != "alertstate"}
    words = {"summary": "a GPU is lost", "action": "drain it"}
    entries.append({"kind": "alerts", "alerts": [{"state": "firing", "labels": labels, "annotations": words}]})
    return tuple(entries)


def test_alerts_and_usage_are_those_of_the_recording(file: Make, capsys: pytest.CaptureFixture[str]) -> None:
    at = datetime.datetime(2026, 11, 28, 4, tzinfo=datetime.UTC).timestamp()
    recording = str(file(others=metrics(at)))
    assert run(["alerts", "--from", recording, "--json"]) == 0
    [alert] = json.loads(capsys.readouterr().out)["alerts"]
    assert (alert["alert"], alert["summary"], alert["fix"]) == ("GPUXid", "a GPU is lost", "drain it")
    assert run(["usage", "--from", recording, "--json"]) == 0
    [row] = json.loads(capsys.readouterr().out)["usage"]
    assert (row["pod"], row["held"]) == ("debug", 12)
    assert run(["usage", "--from", recording, "--since", "3d"]) == 2
    assert "--since: a recording has 1h, 12h, 1d, 7d, 4w" in capsys.readouterr().err


def test_metrics_are_as_old_as_the_recording_and_not_as_today(file: Make) -> None:
    at = datetime.datetime(2026, 11, 28, 4, tzinfo=datetime.UTC).timestamp()
    opened = recorded_source.opened(file(others=metrics(at)), STACK)
    assert opened.signals().unread == ()
    late = recorded_source.opened(file(others=metrics(at - 3600)), STACK)
    assert "60 minutes behind" in late.signals().unread[0]


def test_reach_takes_pods_and_services_of_the_recording(file: Make, capsys: pytest.CaptureFixture[str]) -> None:
    recording = str(file())
    run(["reach", "--from", recording, "--json"])
    document = json.loads(capsys.readouterr().out)
    assert document["kubernetes"] == recording
    assert any("no Pod runs of:" in each for each in document["notes"])
