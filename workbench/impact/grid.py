"""Change of the GRID driver agent, by pool: whether the driver is installed again, and what becomes of Pods with GPUs.

The agent's DaemonSet has an annotation with the wanted driver, which includes `upgradePolicy`: of all pools or, where
they differ, of each pool under the key `pools`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from physical_ai.catalog.own_names import GRID_DRIVER_WANTED
from physical_ai.kubernetes.objects import annotations_of, at
from physical_ai.nested import is_mapping
from workbench.impact.changes import Change

INSTALLS = ("version", "moduleType", "moduleParameters", "present")
"""Keys of a pool's wanted driver for whose change the agent clears the node and loads the driver again."""
WAIT = "wait"


def wanted(inputs: Mapping[str, Any], pool: str) -> Mapping[str, Any] | None:
    """Wanted driver of a pool in the inputs of the agent's DaemonSet; None if the inputs do not say it."""
    text = annotations_of(dict(at(inputs, "spec.template") or {})).get(GRID_DRIVER_WANTED, "")
    try:
        found: object = json.loads(text)
    except ValueError:
        return None
    if is_mapping(found) and "pools" in found:
        found = found["pools"].get(pool) if is_mapping(found["pools"]) else None
    return found if is_mapping(found) else None


def installs(change: Change, pool: str) -> bool:
    """True if the change makes the agent install or remove the pool's driver, or if the inputs do not say that it does
    not. Agents whose Pods stay until `physai roll` deletes them install nothing by a change.
    """
    if change.op == "update" and at(change.new, "spec.updateStrategy.type") == "OnDelete":
        return False
    before, after = wanted(change.old, pool), wanted(change.new, pool)
    return before is None or after is None or any(before.get(key) != after.get(key) for key in INSTALLS)


def policy(change: Change, pool: str) -> str:
    """Value of `upgradePolicy` for the pool after the change; `wait`, `drain` or `force`, or empty if the inputs do not
    say it.
    """
    return str((wanted(change.new, pool) or {}).get("upgrade") or "")
