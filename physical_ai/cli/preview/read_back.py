"""What a refresh reads of a cluster beside what the program declares, and what that makes of a preview.

A cluster's GET lists every node pool. azure-native's Read takes the elements that were added to a list into the inputs
(pulumi/pulumi-azure-native#1532). So after a refresh every preview removes them from `agentPoolProfiles`, where the
program declares the system pool alone. The engine cannot ignore added elements of a list, and ignoring the whole list
would let later updates of the cluster send node counts of an earlier day (pulumi/pulumi-azure-native#2719).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from physical_ai.catalog.engine_values import UNKNOWN
from physical_ai.cli.changes import Run, Step
from physical_ai.nested import is_mapping
from physical_ai.settings.guards import is_list

_OTHER_POOL = re.compile(r"agentPoolProfiles\[[1-9]\d*\]")
_PART = re.compile(r"([^.\[\]]+)")


def significant(run: Run) -> list[Step]:
    """The changes of a run without `read_back`."""
    left_out = {step.urn for step in read_back(run)}
    return [step for step in run.changed() if step.urn not in left_out]


def read_back(run: Run) -> list[Step]:
    """The changes that only say that the cluster has the pools that are separate resources.

    An update of the cluster makes its outputs unknown in a preview, so what depends on them goes with it.
    """
    changed = run.changed()
    listed = {step.urn for step in changed if _only_lists_other_pools(step)}
    return [step for step in changed if step.urn in listed or (listed and _only_unknown(step))]


def significant_drift(run: Run) -> list[Step]:
    """What a refresh found, without clusters that only list pools which are separate resources."""
    return [step for step in run.drifted() if not _only_lists_other_pools(step)]


def _only_lists_other_pools(step: Step) -> bool:
    is_update = step.op in ("update", "refresh") and not step.gone
    return step.kind == "ManagedCluster" and is_update and _all(step, _OTHER_POOL.match)


def _only_unknown(step: Step) -> bool:
    return step.op == "update" and _all(step, lambda path: _value(step.new, path) == UNKNOWN)


def _all(step: Step, holds: Callable[[str], object]) -> bool:
    return bool(step.properties) and all(holds(path) for path in step.properties)


def _value(inputs: Any, path: str) -> Any:
    for part in _PART.findall(path):
        if is_mapping(inputs):
            inputs = inputs.get(part)
        elif is_list(inputs) and part.isdigit() and int(part) < len(inputs):
            inputs = inputs[int(part)]
        else:
            return None
    return inputs
