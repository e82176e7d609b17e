"""Properties that a GET of a resource returns and the answer to the resource's PUT does not.

The answer to a PUT has what was sent. A property that only a later GET returns looks to azure-native like a change made
in Azure.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from simulator.azure.bodies import Json
from simulator.azure.data import load_json
from simulator.azure.registry import models
from simulator.azure.state import Resource, arm_type

NO_RETENTION: Json = {"days": 0, "enabled": False}


@cache
def categories() -> Mapping[str, Mapping[str, Any]]:
    """Log and metric categories of each resource type, by ARM type in lower case, each with its source."""
    return {name.lower(): row for name, row in load_json("diagnostic_categories.json").items()}


def outputs_of_get(resource: Resource) -> Json:
    """The outputs as a read of the resource shows them."""
    fill = _FILL.get(resource.kind)
    return resource.outputs if fill is None else fill(resource, copy.deepcopy(resource.outputs))


@models("diag-all-categories")
def _diagnostic_setting(resource: Resource, outputs: Json) -> Json:
    """Outputs of a diagnostic setting: every category of the watched resource, disabled ones included, each with a
    disabled retention policy (hashicorp/terraform-provider-azurerm#17172; pulumi-azure-native#2798).

    Assumed, not verified: the categories that were sent come first.
    """
    known = categories().get(arm_type(str(resource.inputs.get("resourceUri", ""))).lower(), {})
    for name in ("logs", "metrics"):
        sent: list[Json] = outputs.get(name) or []
        for each in sent:
            each.setdefault("retentionPolicy", dict(NO_RETENTION))
        if any("categoryGroup" in each for each in sent):
            continue  # A GET lists the categories of a group in its place.
        present = {each.get("category") for each in sent}
        others = [category for category in known.get(name, ()) if category not in present]
        shown = [{"category": each, "enabled": False, "retentionPolicy": dict(NO_RETENTION)} for each in others]
        if sent or shown:
            outputs[name] = [*sent, *shown]
    return outputs


_FILL: Mapping[str, Callable[[Resource, Json], Json]] = {"DiagnosticSetting": _diagnostic_setting}
