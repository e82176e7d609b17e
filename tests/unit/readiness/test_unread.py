"""What the login may not read, or there is too much of: the answer says so, in text, JSON and exit code."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from physical_ai.readiness import client, read_reports
from physical_ai.readiness import waiting as waits
from physical_ai.readiness.answers import Get, Missing, Unreachable
from physical_ai.readiness.events import LEFT_OUT, MOST, read_events
from physical_ai.readiness.workloads import node_workloads
from tests.support import workload_objects as make
from tests.support.readiness_objects import Situation
from workbench.cli.main import run

Json = dict[str, Any]
FORBIDDEN = 'events is forbidden: User "x" cannot list resource "events"'


def api(situation: Situation, forbidden: tuple[str, ...] = (), events: int = 0) -> Get:
    """A cluster with one node, as an API server that lists events page by page."""
    scope = "/api/v1/namespaces/gpu-operator"
    lists: Mapping[str, list[Json]] = {
        "/api/v1/nodes": [situation.node],
        "/apis/nvidia.com/v1/clusterpolicies": situation.policies,
        "/apis/nvidia.com/v1alpha1/nvidiadrivers": situation.drivers,
        "/apis/apps/v1/namespaces/gpu-operator/daemonsets": list(situation.daemonsets.values()),
        "/apis/apps/v1/namespaces/gpu-operator/deployments": list(situation.deployments.values()),
        f"{scope}/pods": list(situation.pods.values()),
        "/apis/scheduling.run.ai/v2/queues": [make.queue("default-queue")],
    }

    def get(path: str, parameters: Mapping[str, str]) -> Any:
        if path.rpartition("/")[2] in forbidden:
            raise Unreachable(f"403 {FORBIDDEN}", 403)
        if path.endswith("/log"):
            raise Missing("no log")
        if path.endswith("/events"):
            first = int(parameters.get("continue") or 0)
            last = min(first + int(parameters.get("limit") or events), events)
            items = [
                make.event({"metadata": {"name": f"pod-{n}", "namespace": "x"}}, "BackOff", "again")
                for n in range(first, last)
            ]
            for number, each in enumerate(items, first):
                each["metadata"] = {"name": f"e{number}", "namespace": "x"}
            return {"items": items, "metadata": {"continue": str(last) if last < events else ""}}
        return {"items": lists.get(path, [])}

    return get


@pytest.fixture
def kubeconfig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Get], list[str]]:
    def behind(get: Get) -> list[str]:
        file = tmp_path / "kubeconfig"
        file.write_text("a kubeconfig")
        monkeypatch.setattr(client, "connect", lambda _: get)
        return ["dev-westus2", "--kubeconfig", str(file)]

    return behind


def test_a_closed_gate_is_named_without_the_right_to_events() -> None:
    broken = Situation().fails("toolkit", "no driver")
    [report] = read_reports(api(broken, ("events",)), [broken.expected])
    [gate] = report.closed
    assert (gate.gate, gate.message) == ("toolkit", "no driver")
    assert report.unread == (f"events (403 {FORBIDDEN})",)
    assert report.document()["unread"] == list(report.unread)


def test_a_closed_gate_is_named_without_the_right_to_logs() -> None:
    broken = Situation().fails("toolkit", "")
    [report] = read_reports(api(broken, ("log",)), [broken.expected])
    assert [gate.gate for gate in report.closed] == ["toolkit"]
    assert report.unread == (f"logs of containers (403 {FORBIDDEN})",)


LISTS = ("clusterpolicies", "nvidiadrivers", "daemonsets", "pods", "deployments")


@pytest.mark.parametrize("refused", LISTS)
def test_gates_are_counted_by_the_nodes_without_a_right_to_the_rest(refused: str) -> None:
    [report] = read_reports(api(Situation(), (refused,)), [Situation().expected])
    assert report.state == "ready"
    assert bool(report.unread) == (refused in LISTS[:3])  # the others are read only for a closed gate
    closed = Situation().gpus({"nvidia.com/gpu": 0}).fails("toolkit", "no driver")
    [report] = read_reports(api(closed, (refused,)), [closed.expected])
    [gate] = report.closed
    assert (gate.cause, gate.may_recover) == ("", False)
    assert "why is not known: 403" in gate.reason
    assert gate.gate in {"allocatable", "node"}
    assert any("why gates are closed" in each for each in report.unread)


def test_without_the_nodes_no_gate_is_known() -> None:
    with pytest.raises(Unreachable):
        read_reports(api(Situation(), ("nodes",)), [Situation().expected])


@pytest.mark.parametrize("command", ["gates", "doctor"])
def test_what_could_not_be_read_is_in_text_json_and_exit_code(
    command: str, kubeconfig: Callable[[Get], list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    get = api(Situation().fails("toolkit", "no driver"), ("events",))
    assert run([command, *kubeconfig(get)]) in (1, 3)
    printed = capsys.readouterr()
    assert f"not read: events (403 {FORBIDDEN})" in printed.out + printed.err
    run([command, *kubeconfig(get), "--json"])
    assert f"events (403 {FORBIDDEN})" in json.loads(capsys.readouterr().out)["unread"]


def test_what_two_parts_of_the_diagnosis_need_is_refused_once(
    kubeconfig: Callable[[Get], list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    answers = api(Situation(), ("queues", "deployments"))

    def get(path: str, parameters: Mapping[str, str]) -> Any:
        return {"items": [{"metadata": {"name": "x"}}]} if path == "/api/v1/namespaces" else answers(path, parameters)

    run(["doctor", *kubeconfig(get), "--json"])
    unread = json.loads(capsys.readouterr().out)["unread"]
    assert sum("queues" in each for each in unread) == 1
    assert sum("Deployments" in each for each in unread) == 1


def test_nothing_wrong_in_a_part_of_the_cluster_is_not_success(
    kubeconfig: Callable[[Get], list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["doctor", *kubeconfig(api(Situation(), ("events",)))]) == 1
    assert "nothing is wrong in what could be read" in capsys.readouterr().out


def test_a_storm_of_events_is_read_up_to_a_number_which_is_said() -> None:
    unread: list[str] = []
    asked: list[Mapping[str, str]] = []
    storm = api(Situation(), events=100_000)

    def get(path: str, parameters: Mapping[str, str]) -> Any:
        asked.append(parameters)
        return storm(path, parameters)

    found = read_events(get, "/api/v1/events", unread, most=2000)
    assert 2000 <= len(found) < 4500
    assert len(asked) == 4 + 3 * 2  # pages
    assert "events beyond the first 2,000" in unread[0]
    assert all(f"reason!={each}" in asked[0]["fieldSelector"] for each in LEFT_OUT)
    rest: list[str] = []
    assert len(read_events(api(Situation(), events=MOST // 10), "/api/v1/events", rest)) == MOST // 10
    assert rest == []


def test_commands_of_nodes_name_the_evidence_that_they_could_not_read() -> None:
    """`gates` and `alerts` name the causes of nodes, with the same bounds and refusals as `why`."""
    node = Situation()
    given = node_workloads(api(node, ("events", "configmaps")), "dev-westus2", existing=False)
    assert [each["metadata"]["name"] for each in given.nodes] == [node.node["metadata"]["name"]]
    assert given.unread == (f"records of machines (403 {FORBIDDEN})", f"events of nodes (403 {FORBIDDEN})")
    storm = node_workloads(api(node, events=100_000), "dev-westus2", existing=False)
    assert len(storm.events) <= MOST
    assert "events of nodes beyond the first 20,000" in storm.unread[0]


def test_gates_say_what_else_of_a_node_is_not_known(
    kubeconfig: Callable[[Get], list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    closed = Situation().fails("toolkit", "no driver")
    assert run(["gates", *kubeconfig(api(closed, ("configmaps",))), "--json"]) == 1
    unread = json.loads(capsys.readouterr().out)["unread"]
    assert f"records of machines (403 {FORBIDDEN})" in unread

    def breaks(path: str, parameters: Mapping[str, str]) -> Any:
        if path == "/api/v1/events":
            raise Unreachable("connection reset by peer")
        return api(closed)(path, parameters)

    assert run(["gates", *kubeconfig(breaks)]) == 1
    printed = capsys.readouterr()
    assert "gate 'toolkit' is closed" in printed.out
    assert "not read: what else is known of the nodes (connection reset by peer)" in printed.err


def test_a_gate_keeps_its_bound_while_a_reading_has_no_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """As of a server each of whose answers arrives just within its own bound."""
    monkeypatch.setattr(waits, "LAST_SECONDS", 0.05)
    monkeypatch.setattr(waits, "ONCE_SECONDS", 0.05)
    ends = threading.Event()

    def read() -> list[Any]:
        ends.wait(60)
        return []

    try:
        for bound in (0, 0.1):
            outcome = asyncio.run(waits.wait(read, bound, lambda _: None))
            assert "was not read within" in outcome.problem
            assert not outcome.is_open
            left = asyncio.run(waits.wait_until_empty(read, bound, lambda _: None))
            assert "was not read within" in left[0]
    finally:
        ends.set()
