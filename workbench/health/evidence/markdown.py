"""Evidence about a machine as text: Markdown for a support request, and JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from physical_ai.kubernetes.objects import Json, time_of
from physical_ai.readiness.nodes.findings import NodeFinding
from workbench.health.acceptance.record import document as acceptance_document
from workbench.health.evidence.node_evidence import NodeEvidence
from workbench.health.replacement.record import document as repair_document

FACTS = {
    "vmUniqueId": "VM unique id",
    "size": "size",
    "region": "region",
    "zone": "zone",
    "image": "node image",
    "osImage": "system",
    "kernel": "kernel",
    "kubeletVersion": "kubelet",
    "containerRuntimeVersion": "container runtime",
    "driver": "driver",
    "bootId": "boot id",
    "providerId": "provider id",
}
CARD = {
    "index": "GPU",
    "uuid": "UUID",
    "serial": "serial",
    "model": "model",
    "vbios": "VBIOS",
    "pci": "PCI",
    "lastSeen": "last seen",
}
START = {"at": "first seen", "bootId": "boot id", "kernel": "kernel", "driver": "driver", "physicalHostName": "host"}
NO_FAULT = "Nothing that is known of the machine speaks for a restart or another machine."


def document(evidence: NodeEvidence) -> dict[str, Any]:
    """All the evidence as JSON data."""
    machine = evidence.machine
    return {
        "node": evidence.name,
        "present": evidence.node is not None,
        "time": evidence.now,
        "machine": None if machine is None else {**machine.facts, "recordedLast": machine.seen},
        "gpus": [] if machine is None else machine.cards(),
        "starts": [] if machine is None else list(machine.starts),
        "xids": [_xid(evidence, each.code) for each in evidence.known_xids],
        "seen": [asdict(each) for each in evidence.seen],
        "alerts": [
            {"alert": each.name, "labels": dict(each.labels), "summary": each.summary} for each in evidence.alerts
        ],
        "conditions": [_condition(each) for each in evidence.conditions],
        "events": [_event(each) for each in evidence.events],
        "acceptance": None if evidence.acceptance is None else acceptance_document(evidence.acceptance),
        "work": [{"namespace": a, "pod": b, "workflow": c} for a, b, c in evidence.work],
        "repairs": [repair_document(each) for each in evidence.repairs],
        "missingGpus": evidence.missing,
        "category": evidence.category.name,
        "advice": evidence.advice,
        "findings": [_finding(each) for each in evidence.findings],
        "unread": list(evidence.unread),
    }


def markdown(evidence: NodeEvidence) -> str:
    """All the evidence as Markdown for people. It begins with the verdict."""
    return "\n".join(_lines(evidence)).strip() + "\n"


def _lines(evidence: NodeEvidence) -> Iterator[str]:
    yield f"# {evidence.name}"
    yield ""
    if evidence.node is None:
        yield f"As of {evidence.now}, no longer in the cluster."
    else:
        repairs = next((each.fix for each in evidence.findings if each.remedy), "")
        yield f"As of {evidence.now}, in the cluster. {repairs or NO_FAULT}"
    yield ""
    if evidence.findings:
        rows = [(each.cause, each.reason, each.fix) for each in evidence.findings]
        yield from _table(("cause", "what", "do"), rows)
    for each in evidence.unread:
        yield f"Not read: {each}"
        yield ""
    if evidence.has_fault:
        yield f"Azure impact category: `{evidence.category.name}` ({evidence.category.meaning})."
        yield ""
    yield from _machine(evidence)
    yield from _signs(evidence)
    if evidence.acceptance is not None:
        result = evidence.acceptance
        yield from _heading(f"Acceptance, level {result.level}, {result.time:%Y-%m-%d %H:%M} UTC")
        yield from _table(("check", "verdict", "message"), [(c.check, c.verdict, c.message) for c in result.checks])
    if evidence.events:
        yield from _heading("Events")
        rows = [tuple(map(str, _event(each).values())) for each in evidence.events]
        yield from _table(("time", "reason", "count", "message"), rows)
    if evidence.work:
        yield from _heading("GPU Pods on it")
        yield from _table(("namespace", "Pod", "workflow"), evidence.work)
    if evidence.repairs:
        yield from _heading("Repairs")
        rows = [
            (f"{r.started:%Y-%m-%d %H:%M}", r.action, r.reason, r.outcome or f"at {r.step}") for r in evidence.repairs
        ]
        yield from _table(("began", "action", "reason", "outcome"), rows)


def _machine(evidence: NodeEvidence) -> Iterator[str]:
    yield from _heading("Machine")
    if evidence.machine is None:
        yield "Nothing was recorded when it joined: `health.evidence.enabled` is off, or its Pods have not run there."
        yield ""
        return
    machine = evidence.machine
    host = machine.physical_host or "not known: the node image has no Hyper-V daemon, or it does not run"
    facts = {key: str(machine.facts.get(key, "")) for key in FACTS}
    if facts["zone"].isdigit():  # for a machine without a zone the number is a fault domain
        facts["zone"] = ""
    rows = [("physical host", host), *((label, facts[key]) for key, label in FACTS.items())]
    yield from _table(("", ""), [each for each in rows if each[1]])
    if cards := machine.cards():
        yield from _table(tuple(CARD.values()), [tuple(str(each.get(key, "")) for key in CARD) for each in cards])
    elif problem := machine.gpus.get("problem"):
        yield f"GPUs: {problem}"
        yield ""
    if len(machine.starts) > 1:
        yield from _heading("Starts")
        rows = [tuple(str(each.get(key, "")) for key in START) for each in machine.starts]
        yield from _table(tuple(START.values()), rows)


def _signs(evidence: NodeEvidence) -> Iterator[str]:
    if evidence.seen:
        yield from _heading("Xids")
        rows: list[tuple[str, ...]] = []
        for each in evidence.known_xids:
            sources = [seen for seen in evidence.seen if seen.code == each.code]
            where = ", ".join(dict.fromkeys(f"{seen.source} {seen.gpu}".strip() for seen in sources))
            rows.append((str(each.code), each.meaning, each.advice, where))
        known = {each.code for each in evidence.known_xids}
        unknown = sorted({seen.code for seen in evidence.seen} - known)
        rows += [(str(code), "not in the catalogue", "See NVIDIA's Xid catalog.", "") for code in unknown]
        yield from _table(("Xid", "meaning", "advice", "seen in"), rows)
    if evidence.alerts:
        yield from _heading("Alerts")
        yield from _table(("alert", "summary"), [(each.name, each.summary) for each in evidence.alerts])
    if evidence.conditions:
        yield from _heading("Conditions")
        rows = [tuple(map(str, _condition(each).values())) for each in evidence.conditions]
        yield from _table(("condition", "status", "reason", "since", "message"), rows)


def _finding(found: NodeFinding) -> dict[str, Any]:
    shown = {"cause": found.cause, "reason": found.reason, "fix": found.fix, "waits": found.waits}
    return {
        **shown,
        "signs": list(found.signs),
        "alerts": list(found.alerts),
        "remedy": found.remedy or "",
        "proof": found.proof or "",
    }


def _xid(evidence: NodeEvidence, code: int) -> dict[str, Any]:
    row = next(each for each in evidence.known_xids if each.code == code)
    return {"code": code, "class": row.xid_class, "meaning": row.meaning, "advice": row.advice, "repair": row.remedy}


def _condition(each: Json) -> dict[str, str]:
    keys = {"type": "type", "status": "status", "reason": "reason", "since": "lastTransitionTime", "message": "message"}
    return {key: str(each.get(own, "")) for key, own in keys.items()}


def _event(each: Mapping[str, Any]) -> dict[str, str]:
    return {
        "time": time_of(each),
        "reason": str(each.get("reason", "")),
        "count": str(each.get("count", "") or ""),
        "message": str(each.get("message", "")),
    }


def _heading(text: str) -> Iterator[str]:
    yield f"## {text}"
    yield ""


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for row in rows:
        yield f"| {' | '.join(_cell(each) for each in row)} |"
    yield ""


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")[:400]
