"""What speaks against a repaired node: the causes of now, and none of before its repair."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from physical_ai.catalog.acceptance import LEVELS
from physical_ai.catalog.node_causes import node_causes
from physical_ai.readiness.nodes.findings import findings_of
from physical_ai.readiness.nodes.signs import Alert, NodeSigns, Seen
from physical_ai.readiness.reader import Missing
from workbench.health.evidence.node_evidence import NodeEvidence
from workbench.health.evidence.read import read_node_evidence
from workbench.health.evidence.standing import standing_of

NOW = datetime(2026, 11, 27, 12, tzinfo=UTC)
NODE: dict[str, Any] = {
    "metadata": {"name": "n", "uid": "u", "labels": {"agentpool": "h100gpu"}},
    "status": {"conditions": [{"type": "Ready", "status": "True"}]},
}


def evidence(
    *alerts: Alert, events: Sequence[Mapping[str, Any]] = (), since: datetime | None = None, unread: Sequence[str] = ()
) -> NodeEvidence:
    def get(path: str, _: Mapping[str, str]) -> Any:
        if path == "/api/v1/nodes/n":
            return NODE
        if "acceptance-" in path:
            raise Missing(path)
        return {"items": list(events) if path.endswith("events") else []}

    return read_node_evidence(get, "n", alerts, since=since, unread=unread)


def xid_event(when: datetime) -> dict[str, Any]:
    text = "NVRM: Xid (PCI:0001:00:00): 79, GPU has fallen off the bus"
    time = when.strftime("%Y-%m-%dT%H:%M:%SZ")
    return {"metadata": {"name": "e"}, "reason": "XIDError", "message": text, "lastTimestamp": time}


def test_an_alert_about_the_node_stands() -> None:
    found = standing_of(evidence(Alert("GPURowRemapFailed", {"node": "n", "gpu": "0"})), None, None)
    (cause,) = found.causes
    assert cause.startswith("row-remap-failed: No spare row of memory")


def test_what_concerns_speed_or_ends_by_itself_does_not_stand() -> None:
    found = standing_of(evidence(Alert("GPUPowerCapped", {"node": "n"}), unread=("alerts",)), None, None)
    assert (found.causes, found.unread) == ((), ("alerts",))


def test_an_xid_of_before_the_restart_does_not_stand_and_one_since_does() -> None:
    old = xid_event(NOW - timedelta(minutes=5))
    assert standing_of(evidence(events=[old], since=NOW), None, None).causes == ()
    assert standing_of(evidence(events=[old]), None, None).causes
    new = xid_event(NOW + timedelta(minutes=5))
    assert "xid-79" in standing_of(evidence(events=[new], since=NOW), None, None).causes[0]


def test_metrics_from_before_an_alert_could_fire_prove_nothing() -> None:
    offered = NOW
    early = standing_of(evidence(), offered, {"n": NOW.timestamp() + 60})
    assert early.causes == ("metrics: no alert about n can have fired before 12:02:00 UTC",)
    assert standing_of(evidence(), offered, {"n": NOW.timestamp() + 120}).causes == ()
    assert standing_of(evidence(), offered, {"m": NOW.timestamp()}).causes, "the node's own exporter is silent"
    assert standing_of(evidence(), offered, None).causes == (), "no Prometheus was read, which is said elsewhere"


def test_faults_of_memory_and_links_ask_for_the_diagnostic_and_a_licence_does_not() -> None:
    of_machine = {each.id: each.proof for each in node_causes().values() if each.group == "machine"}
    assert set(of_machine.values()) == {"full"}
    assert node_causes()["licence-missing"].proof == "quick"
    assert LEVELS.index("full") > LEVELS.index("quick")
    (xid,) = findings_of(NodeSigns("n", NODE, seen=[Seen(48, "event")]))
    assert xid.proof == "full"
    (job,) = findings_of(NodeSigns("n", NODE, seen=[Seen(31, "event")]))
    assert job.proof is None


def test_the_highest_level_of_all_signs_of_a_cause_counts() -> None:
    alerts = [Alert("GridLicenseMissing", {"node": "n"}), Alert("GPURowRemapPending", {"node": "n", "gpu": "0"})]
    found = findings_of(NodeSigns("n", NODE, alerts=alerts))
    assert {each.cause: each.proof for each in found} == {"licence-missing": "quick", "row-remap-pending": "full"}
