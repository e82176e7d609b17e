"""Alerts and Xids of a Prometheus as signs, and what is said where none was asked."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from physical_ai.readiness.nodes.findings import findings_of
from physical_ai.readiness.nodes.signs import NodeSigns
from physical_ai.telemetry.usage import Sample
from workbench.cli import prometheus
from workbench.cli.prometheus import PrometheusFailed
from workbench.cli.prometheus_signs import RECENT, read_signals

ADDRESS = "http://127.0.0.1:9090"
XID = {"node": "n", "UUID": "GPU-1", "gpu": "0", "xid": "79"}


def firing(name: str, **labels: str) -> Sample:
    return Sample({"__name__": "ALERTS", "alertname": name, "alertstate": "firing", **labels}, 1.0)


def answers(
    monkeypatch: pytest.MonkeyPatch, *alerts: Sample, recent: bool = True, age: float | None = 10.0, node: str = "n"
) -> None:
    """`age` is that of the newest scrape; None where there is none."""

    def ask(_: str, queries: Mapping[str, str]) -> dict[str, list[Sample]]:
        assert f"[{RECENT}]" in queries["recent"]
        found = {"alerts": list(alerts), "recent": [Sample(XID, 1.0)] if recent else [], "all": [Sample(XID, 1.0)]}
        newest = [] if age is None else [Sample({}, time.time() - age)]
        pending = [Sample({"alertname": "GPUHealthFailure", "alertstate": "pending", "node": "n"}, 1.0)]
        assert 'alertstate="pending"' in queries["pending"]
        return {**found, "newest": newest, "reported": [Sample({"node": node}, time.time())], "pending": pending}

    def fires(_: str) -> list[Mapping[str, Any]]:
        words = {"summary": "The fan of rack 3 stands", "action": "Call the lab"}
        return [{"labels": {"alertname": "LabFanBroken", "node": "n"}, "annotations": words, "state": "firing"}]

    monkeypatch.setattr(prometheus, "ask", ask)
    monkeypatch.setattr(prometheus, "firing", fires)


def test_an_alert_of_ours_has_its_summary_and_one_of_the_user_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    answers(monkeypatch, firing("GPURowRemapFailed", node="n", gpu="0"), firing("LabFanBroken", node="n"))
    ours, theirs = read_signals("dev-westus2", Path("k"), ADDRESS).of("n")[0]
    assert ours.summary == "GPU 0 of n has no spare memory rows left"
    assert "physai node replace" in ours.action
    assert (theirs.name, theirs.summary) == ("LabFanBroken", "The fan of rack 3 stands")
    assert (theirs.action, theirs.labels) == ("Call the lab", {"node": "n"})


@pytest.mark.parametrize(("recent", "cause"), [(True, "xid-79"), (False, "gpu-unhealthy")])
def test_an_xid_explains_what_is_seen_now_unless_it_is_weeks_old(
    recent: bool, cause: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers(monkeypatch, firing("GPUAllocatableBelowCapacity", node="n"), recent=recent)
    alerts, seen = read_signals("dev-westus2", Path("k"), ADDRESS).of("n")
    (found,) = findings_of(NodeSigns("n", alerts=alerts, seen=seen))
    assert (found.cause, found.remedy) == (cause, "reboot")
    assert findings_of(NodeSigns("n", seen=seen)) == (), "an Xid that may be over is no fault of now"


def test_what_was_not_read_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    not_asked = read_signals("dev-westus2", Path("k"), None)
    assert not_asked.alerts is None
    assert "--prometheus URL" in not_asked.unread[0]

    def ask(*_: object) -> None:
        raise PrometheusFailed("--prometheus x: no Prometheus can be read there: refused.\n  In the cluster: …")

    monkeypatch.setattr(prometheus, "ask", ask)
    failed = read_signals("dev-westus2", Path("k"), ADDRESS)
    assert failed.alerts is None
    assert failed.unread[0].endswith("refused.")


@pytest.mark.parametrize(
    ("age", "because"),
    [
        (3600.0, "the Prometheus at http://127.0.0.1:9090 is 60 minutes behind"),
        (None, "the Prometheus at http://127.0.0.1:9090 has scraped nothing"),
    ],
)
def test_a_prometheus_that_knows_nothing_of_now_is_not_taken_for_one_without_alerts(
    age: float | None, because: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers(monkeypatch, firing("GPURowRemapFailed", node="n"), age=age)
    found = read_signals("dev-westus2", Path("k"), ADDRESS)
    assert (found.alerts, found.of("n")) == (None, ([], []))
    assert found.not_read("n") == found.unread
    assert because in found.unread[0]


def test_a_node_whose_exporters_report_nothing_is_not_taken_for_one_without_alerts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answers(monkeypatch, node="another")
    found = read_signals("dev-westus2", Path("k"), ADDRESS)
    assert found.not_read("another") == ()
    assert "the Prometheus has no series of its GPUs" in found.not_read("n")[0]


def test_alerts_whose_hold_has_not_passed_are_known_beside_those_that_fire(monkeypatch: pytest.MonkeyPatch) -> None:
    answers(monkeypatch)
    found = read_signals("dev-westus2", Path("k"), ADDRESS)
    assert found.of("n")[0] == []
    assert [each.name for each in found.pending] == ["GPUHealthFailure"]
