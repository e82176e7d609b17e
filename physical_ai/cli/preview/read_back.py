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
from physical_ai.cli.preview.changes import Run, Step
from physical_ai.settings.guards import is_list, is_mapping

_OTHER_POOL = re.compile(r"agentPoolProfiles\[[1-9]\d*\]")
_PART = re.compile(r"([^.\[\]]+)")


def significant(run: Run) -> list[Step]:
    """The changes of a run without those that only say that the cluster has the pools that are separate resources.

    An update of the cluster makes its outputs unknown in a preview, so what depends on them goes with it.
    """
    changed = run.changed()
    noise = {step.urn for step in changed if _only_lists_other_pools(step)}
    if not noise:
        return changed
    return [step for step in changed if step.urn not in noise and not _only_unknown(step)]


def _only_lists_other_pools(step: Step) -> bool:
    return step.kind == "ManagedCluster" and step.op == "update" and _all(step, _OTHER_POOL.match)


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
