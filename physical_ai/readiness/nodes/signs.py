"""Signs of a fault of a GPU node: alerts, Xids, conditions. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from physical_ai.catalog.acceptance import ACCEPTED_CONDITION
from physical_ai.catalog.own_names import GRID_DRIVER_READY
from physical_ai.kubernetes.objects import Json, at

XID = re.compile(r"\bXid\b\D{0,24}?(\d{1,3})\b|\bErrorCode:(\d{1,3})\b", re.IGNORECASE)
"""In messages of the kernel log, of NVSentinel's conditions, and of AKS's node problem detector."""
USUAL = frozenset({"Ready", "MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable"})


@dataclass(frozen=True)
class Alert:
    """An alert of a Prometheus about the node."""

    name: str
    labels: Mapping[str, str]
    summary: str = ""


@dataclass(frozen=True)
class Seen:
    """An Xid, and where it was seen: `alert`, `metric`, `condition` or `event`."""

    code: int
    source: str
    gpu: str = ""
    """UUID or number of the GPU; empty where it is not known."""
    when: str = ""


def seen_in(alerts: Iterable[Alert], node: Json | None, events: Iterable[Json]) -> list[Seen]:
    """The Xids in alerts, conditions and events, each code and source once."""
    found: dict[tuple[int, str], Seen] = {}
    for alert in alerts:
        code = alert.labels.get("xid", "")
        if code.isdigit():
            gpu = alert.labels.get("UUID") or alert.labels.get("gpu", "")
            found.setdefault((int(code), "alert"), Seen(int(code), "alert", gpu))
    conditions: list[Json] = at(node, "status.conditions", []) if node else []
    for each in conditions:
        if each.get("status") == "True" and each.get("type") not in USUAL:
            text = f"{each.get('type', '')} {each.get('reason', '')} {each.get('message', '')}"
            for code in codes_in(text):
                when = str(each.get("lastTransitionTime", ""))
                found.setdefault((code, "condition"), Seen(code, "condition", when=when))
    for each in events:
        for code in codes_in(f"{each.get('reason', '')} {each.get('message', '')}"):
            when = str(each.get("firstTimestamp") or at(each, "metadata.creationTimestamp", ""))
            found.setdefault((code, "event"), Seen(code, "event", when=when))
    return list(found.values())


def codes_in(text: str) -> list[int]:
    """The Xids in a message.

    >>> codes_in("NVRM: Xid (PCI:0001:00:00): 79, pid='<unknown>', GPU has fallen off the bus.")
    [79]
    """
    # The PCI address between the word and the code has digits of its own.
    plain = re.sub(r"\(PCI:[^)]*\)", "", text)
    return list(dict.fromkeys(int(first or second) for first, second in XID.findall(plain)))


def unusual(node: Json | None) -> list[Json]:
    """Conditions that say that something is wrong."""
    found: list[Json] = at(node, "status.conditions", []) if node else []
    return [each for each in found if _is_wrong(each)]


def _is_wrong(condition: Json) -> bool:
    kind, status = condition.get("type"), condition.get("status")
    if kind in ("Ready", GRID_DRIVER_READY, ACCEPTED_CONDITION):
        return status != "True"
    return status == "True"
