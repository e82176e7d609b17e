"""Errors that NVSentinel's monitors report, each with the decision whether a node leaves service because of it."""

from __future__ import annotations

import datetime
from functools import lru_cache
from typing import Literal

from physical_ai.catalog.gpu_load import GPU
from physical_ai.catalog.load import CatalogError, read_rows, row
from physical_ai.catalog.rows import Row, Text

XID_CHECK = "SysLogsXIDError"
"""Type of the node condition that reports an Xid in the kernel log."""

Action = Literal["NONE", "COMPONENT_RESET", "CONTACT_SUPPORT", "RESTART_VM", "RESTART_BM"]


class DcgmError(Row):
    """An error that NVSentinel's GPU health monitor reports."""

    code: Text
    check: Text
    """Type of the node condition that reports the error."""
    action: Action
    quarantine: bool
    why: str = ""
    """Reason why a node stays in service although NVSentinel counts the error as fatal."""
    believed: bool = False
    """True where no source says for which fault DCGM reports the error."""
    source: Text
    date: datetime.date


@lru_cache(maxsize=1)
def dcgm_errors() -> dict[str, DcgmError]:
    """Errors of DCGM by code, in the order of the data."""
    found: dict[str, DcgmError] = {}
    for group in read_rows(GPU / "health_events.yaml"):
        shared = {"source": group["source"], "date": group["date"]}
        for own in group["events"]:
            where = f"health_events.yaml: {own.get('code')}"
            item = row(DcgmError, {**shared, **own}, where)
            if item.code in found:
                raise CatalogError(f"{where} is a duplicate")
            if item.quarantine and item.action == "NONE":
                raise CatalogError(f"{where} is not fatal, so no node is quarantined for it")
            if not item.quarantine and item.action != "NONE" and not item.why:
                raise CatalogError(f"{where} is fatal; say why a node stays in service with it")
            found[item.code] = item
    return found
