"""Admission policy that keeps work off new GPU nodes until they are accepted."""

from __future__ import annotations

import copy
import json
from typing import Any

from physical_ai.planning import manifests
from physical_ai.settings.facts.labels import split_taint
from physical_ai.settings.facts.pools import NOT_ACCEPTED_TAINT, pool_selector
from physical_ai.settings.models.tree import Settings


def node_policies(settings: Settings) -> list[dict[str, Any]]:
    """Admission policy for new GPU nodes, and its binding; empty with `health.admit: any`, with which every node takes
    work.
    """
    if settings.health.admit == "any":
        return []
    policy, binding = copy.deepcopy(manifests.load("node-admission.yaml"))
    labels = {key for name, pool in settings.pools.items() for key in pool_selector(name, pool)}
    pools = [{"key": key, "operator": "In", "values": sorted(settings.pools)} for key in sorted(labels)]
    policy["spec"]["matchConstraints"]["objectSelector"] = {"matchExpressions": pools}
    # The JSON text serves as CEL text: JSON strings have the same syntax in CEL.
    policy["spec"]["variables"] = [{"name": "key", "expression": json.dumps(split_taint(NOT_ACCEPTED_TAINT)[0])}]
    return [policy, binding]
