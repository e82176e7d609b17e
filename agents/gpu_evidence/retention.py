"""Which records of machines that are gone are removed: the oldest. Pure.

A record is removed once it is older than a number of days, or where there are more of them than a limit.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Any

from gpu_evidence.record import LABEL, SEEN, part


def expired(
    records: Sequence[dict[str, Any]], nodes: Collection[str], now: datetime, days: int, most: int
) -> list[str]:
    """Names of the ConfigMaps to remove.

    Args:
        records: ConfigMaps with LABEL.
        nodes: Names of the nodes that exist; their newest record always stays.
        days: How long a record stays after the machine was recorded last.
        most: How many records stay in all.
    """
    found = sorted(records, key=_seen, reverse=True)
    newest: set[str] = set()
    kept = 0
    gone: list[str] = []
    for each in found:
        metadata = part(each, "metadata")
        node = str(part(metadata, "labels").get(LABEL, ""))
        lives = node in {name[:63] for name in nodes} and node not in newest
        newest.add(node)
        if lives or (kept < most and _time(_seen(each), now) > now - timedelta(days=days)):
            kept += 1
        else:
            gone.append(str(metadata.get("name", "")))
    return gone


def _seen(record: dict[str, Any]) -> str:
    metadata = part(record, "metadata")
    return str(part(metadata, "annotations").get(SEEN) or metadata.get("creationTimestamp") or "")


def _time(text: str, otherwise: datetime) -> datetime:
    try:
        return datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        return otherwise
