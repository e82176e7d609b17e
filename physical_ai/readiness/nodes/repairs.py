"""Which machines a repair has restarted already, by the records that `physai node replace` keeps. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from physical_ai.catalog.own_names import REPAIR_LABEL
from physical_ai.kubernetes.objects import at, labels, name
from physical_ai.nested import is_mapping, parsed

KEY = "repair.json"


def restarted(config_maps: Iterable[Mapping[str, Any]], nodes: Iterable[Mapping[str, Any]]) -> frozenset[str]:
    """The nodes whose machine was restarted by a repair that has ended; of a node that has left, by its name alone."""
    uids = {name(node): uid for node in nodes if (uid := at(node, "metadata.uid"))}
    found: set[str] = set()
    for each in config_maps:
        if REPAIR_LABEL not in labels(each):
            continue
        record = parsed(at(each, "data", {}).get(KEY))
        if not is_mapping(record) or (record.get("action"), record.get("step")) != ("reboot", "done"):
            continue
        node, uid = str(record.get("node", "")), record.get("node_uid", "")
        # AKS may give a new machine the name of an old one.
        if uids.get(node, uid) == uid:
            found.add(node)
    return frozenset(found)
