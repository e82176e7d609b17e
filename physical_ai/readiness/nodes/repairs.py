"""Which machines a repair has restarted already, by the records that `physai node replace` keeps. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from physical_ai.catalog.own_names import REPAIR_LABEL
from physical_ai.kubernetes.objects import at, labels
from physical_ai.nested import is_mapping, parsed

KEY = "repair.json"


def restarted(config_maps: Iterable[Mapping[str, Any]]) -> frozenset[str]:
    """The nodes whose machine was restarted by a repair that has ended."""
    found: set[str] = set()
    for each in config_maps:
        if REPAIR_LABEL not in labels(each):
            continue
        record = parsed(at(each, "data", {}).get(KEY))
        if is_mapping(record) and (record.get("action"), record.get("step")) == ("reboot", "done"):
            found.add(str(record.get("node", "")))
    return frozenset(found)
