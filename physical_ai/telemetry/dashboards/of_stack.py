"""Dashboards of one stack. Panels whose series the stack never has are left out; thresholds and addresses of runbooks
come from the stack's settings.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from physical_ai.catalog.telemetry_rows import dcgm_fields
from physical_ai.telemetry.dashboards.model import Dashboard
from physical_ai.telemetry.dashboards.reading import dashboards, read
from physical_ai.telemetry.parameters import Parameters
from physical_ai.telemetry.promql import metrics
from physical_ai.telemetry.rules import PAGE

CLUSTER = "cluster"
RUNBOOKS = "docs/runbooks/"
"""Address of the runbooks in the dashboard files. In a stack's dashboards, the stack's own address of the runbooks
replaces this address.
"""
_WHOLE = {"osmo-agents": "agents", "osmo-service": "service"}


def runbook(alert: str) -> str:
    """Address of the alert's section in the runbooks, for a dashboard file: begins with `RUNBOOKS`."""
    return f"{RUNBOOKS}{PAGE}#{alert}"


def of_stack(parameters: Parameters) -> tuple[Dashboard, ...]:
    """Dashboards that a stack shows."""
    has = {"agents": parameters.osmo_namespace is not None, "service": parameters.osmo_service}
    return tuple(
        read(each.name, _document(each, parameters))
        for each in dashboards()
        if has.get(_WHOLE.get(each.name, ""), True)
    )


def _document(dashboard: Dashboard, parameters: Parameters) -> str:
    document: dict[str, Any] = json.loads(dashboard.document.replace(RUNBOOKS, parameters.runbooks))
    panels = [each for each in document["panels"] if each["type"] == "row" or _can_have_data(each, parameters)]
    for each in panels:
        _with_thresholds(each, parameters)
    document["panels"] = list(_placed(panels))
    return json.dumps(document, sort_keys=True, indent=1, ensure_ascii=False) + "\n"


def _can_have_data(panel: dict[str, Any], parameters: Parameters) -> bool:
    """True if a panel can show data of the stack: the stack has one of the panel's optional series, or the panel has no
    optional series. Optional are the series that only some stacks have.
    """
    names = {name for each in panel["targets"] for name in metrics(each["expr"])}
    found = [answer for name in names if (answer := _is_there(name, parameters)) is not None]
    return any(found) or not found


def _is_there(name: str, parameters: Parameters) -> bool | None:
    """True if the stack has the optional series `name`, False if it lacks the series; None for a series that every
    stack has.
    """
    pools = parameters.pools
    nvidia = [pool for pool in pools if not pool.amd]
    if name in dcgm_fields():
        known = name in parameters.counters
        return known and any(not pool.virtual or dcgm_fields()[name].vgpu == "yes" for pool in nvidia)
    for prefix, has in (
        ("grid_driver_", any(pool.grid for pool in pools)),
        ("gpu_operator_", bool(nvidia)),
        ("amd_", any(pool.amd for pool in pools)),
        ("node_infiniband_", any(pool.infiniband for pool in pools)),
        ("physical_ai:gpu_hour_usd", any(pool.usd is not None for pool in pools)),
    ):
        if name.startswith(prefix):
            return has
    return None


def _with_thresholds(panel: dict[str, Any], parameters: Parameters) -> None:
    """Replaces the thresholds of a panel by those that the settings set for the panel's alert."""
    for link in panel.get("links") or ():
        changed = parameters.overrides.get(link["title"])
        if changed is not None and changed.threshold is not None:
            for step in panel["fieldConfig"]["defaults"]["thresholds"]["steps"]:
                step["value"] = step["value"] if step["value"] is None else changed.threshold


def _placed(panels: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The panels, moved to close the gaps of omitted panels; row headings without panels are dropped."""
    left = top = tallest = 0
    for number, panel in enumerate(panels):
        place, is_row = panel["gridPos"], panel["type"] == "row"
        if is_row and (number + 1 == len(panels) or panels[number + 1]["type"] == "row"):
            continue
        if is_row or left + place["w"] > 24:
            left, top, tallest = 0, top + tallest, 0
        yield {**panel, "gridPos": {**place, "x": left, "y": top}}
        left, tallest = left + place["w"], max(tallest, place["h"])
        if is_row:
            left, top, tallest = 0, top + place["h"], 0
