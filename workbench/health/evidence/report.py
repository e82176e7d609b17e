"""Report to Azure about a faulty machine: its content, and sending it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from physical_ai.catalog.impact import impact
from physical_ai.kubernetes.objects import at
from workbench.health.arm import Arm, Refused, Request, sent
from workbench.health.evidence.node_evidence import NodeEvidence
from workbench.health.replacement.machines import machine_id

_NAME = re.compile(r"[^A-Za-z0-9-]+")


class NotReportable(Exception):
    """Error if Azure would refuse a report about the machine; the text says what is missing."""


def body(evidence: NodeEvidence, *, general: bool = False) -> dict[str, Any]:
    """Content of the report: the machine, its physical host, and which GPU has which fault. It has nothing about
    workloads.

    Args:
        general: True for a subscription that is not admitted to Guest Health Reporting.

    Raises:
        NotReportable: something that Azure requires is missing.
    """
    facts: Mapping[str, Any] = evidence.machine.facts if evidence.machine else {}
    provider = str(at(evidence.node, "spec.providerID", "") if evidence.node else "") or str(
        facts.get("providerId", "")
    )
    resource = machine_id(provider)
    if not resource:
        raise NotReportable(f"the machine of {evidence.name} is not known: no provider id of a scale set was recorded")
    properties: dict[str, Any] = {
        "startDateTime": _start(evidence),
        "impactCategory": impact().general if general else evidence.category.name,
        "impactDescription": _description(evidence),
        "impactedResourceId": resource,
    }
    if general:
        return {"properties": properties}
    host = evidence.machine.physical_host if evidence.machine else ""
    if not host.isalnum():
        raise NotReportable(
            f"the physical host of {evidence.name} is not known, which a report of the category "
            f"{evidence.category.name} needs; add --general for a report without it"
        )
    return {"properties": {**properties, "additionalProperties": {"PhysicalHostName": host, **_card(evidence)}}}


def name_of(evidence: NodeEvidence, purpose: str) -> str:
    """Name of the report about a machine for a purpose. A repeated report has the same name, and Azure accepts each
    name only once.
    """
    return _NAME.sub("-", f"physai-{evidence.name}-{purpose}")[:90].strip("-")


def send(arm: Arm, subscription: str, report: str, document: Mapping[str, Any]) -> bool:
    """Sends a report unless Azure already has it. Returns True if it was sent now.

    Raises:
        Refused: Azure does not accept a request.
        NoAnswer: Azure does not answer.
    """
    path = f"/subscriptions/{subscription}/providers/Microsoft.Impact/workloadImpacts/{report}"
    version = impact().api_version
    try:
        sent(arm, Request("read the report", "GET", path, version))
    except Refused as refusal:
        if refusal.status != 404:
            raise
    else:
        return False
    sent(arm, Request("take the report", "PUT", path, version, dict(document)))
    return True


def subscription_of(provider_id: str) -> str:
    """The subscription of a machine, from its node's provider id; empty if the id has none."""
    found = re.search(r"/subscriptions/([^/]+)/", provider_id)
    return found[1] if found else ""


def _start(evidence: NodeEvidence) -> str:
    return min((each.when for each in evidence.seen if each.when), default="") or evidence.now


def _description(evidence: NodeEvidence) -> str:
    found = [f"Xid {each.code}: {each.meaning}." for each in evidence.known_xids if each.xid_class == "node"]
    found += [f"Acceptance check {each} does not pass." for each in evidence.failed_checks]
    if evidence.missing:
        found.append(f"{evidence.missing} GPU(s) of the VM size are not on the PCI bus.")
    found += [f"{each.name}: {each.summary or 'alert'}." for each in evidence.alerts if not each.labels.get("xid")]
    if evidence.machine is not None:
        facts = evidence.machine.facts
        known = (("VM unique id", "vmUniqueId"), ("kernel", "kernel"), ("driver", "driver"), ("image", "image"))
        found.append(", ".join(f"{label} {facts[key]}" for label, key in known if facts.get(key)) + ".")
    return " ".join(dict.fromkeys(found)) or f"{evidence.category.meaning}."


def _card(evidence: NodeEvidence) -> dict[str, str]:
    """Fields of the report about the faulty GPU: the GPU that an Xid names, else the machine's only GPU. Empty if the
    GPU is not known.
    """
    cards = evidence.machine.cards() if evidence.machine else []
    named = {each.gpu for each in evidence.seen if each.gpu}
    found = [each for each in cards if each.get("uuid") in named or str(each.get("index")) in named]
    card = next(iter(found), cards[0] if len(cards) == 1 else {})
    fields = {"SerialNumber": "serial", "ModelNumber": "model", "Location": "pci"}
    values = {key: str(card[own]) for key, own in fields.items() if card.get(own)}
    return {"Manufacturer": "Nvidia", **values} if values else {}
