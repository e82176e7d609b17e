"""Duration of a stack's first deployment on Azure, from the resources that the program declares and the catalogue's
timings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from physical_ai.catalog.timings import Reference, Timing, reference, timing
from workbench.costs.schedule import Activity, Schedule, schedule
from workbench.first_gpu.graph import label, set_up_gpus, waits_for
from workbench.policies import Resource, Stack

GATE = "GPUs ready"
GATE_TYPE = "physical-ai:gpu:GpuGate"
SHORT = 0.5
"""Duration in minutes below which a step of the critical path is left out of the table."""


@dataclass(frozen=True)
class DeploymentTime:
    """The fastest and the slowest estimate of a deployment, each with its own critical path."""

    stack: str
    fast: Schedule
    slow: Schedule
    types: dict[str, str]
    """Resource type of each step, by the step's name."""
    reference: Reference

    def timing(self, name: str) -> Timing:
        return timing(self.types[name])


def deployment_time(name: str, declared: Stack) -> DeploymentTime:
    """The estimated duration of the first deployment of the declared resources."""
    created = [each for each in declared.resources if each.custom]
    needs = {label(each): waits_for(each, created) for each in created}
    types = {label(each): each.type for each in created}
    # The program waits for the nodes' GPUs, for which there is no resource.
    needs[GATE], types[GATE] = _before_gpus(created), GATE_TYPE
    fast, slow = (
        schedule(Activity(step, timing(types[step]).minutes[case], tuple(before)) for step, before in needs.items())
        for case in (0, 1)
    )
    return DeploymentTime(name, fast, slow, types, reference())


def _before_gpus(created: Sequence[Resource]) -> list[str]:
    pools = [label(each) for each in created if each.type.endswith(":AgentPool") and "gpuProfile" in each.inputs]
    return [*pools, *set_up_gpus(created)]


def document(found: DeploymentTime) -> dict[str, Any]:
    """The estimate as JSON data. Minutes are rounded to a tenth."""
    path = [
        {
            "step": each.step.name,
            "type": found.types[each.step.name],
            "start": round(each.start, 1),
            "end": round(each.end, 1),
            "minutes": list(found.timing(each.step.name).minutes),
            "published": found.timing(each.step.name).published,
            "source": found.timing(each.step.name).source,
        }
        for each in found.slow.path
    ]
    compared = found.reference
    return {
        "stack": found.stack,
        "minutes": [round(found.fast.minutes, 1), round(found.slow.minutes, 1)],
        "steps": len(found.types),
        "path": path,
        "fastPath": [each.step.name for each in found.fast.path],
        "reference": {"minutes": list(compared.minutes), "what": compared.what, "source": compared.source},
    }


def table_rows(data: dict[str, Any]) -> list[tuple[str, str, str, str]]:
    """Rows of the table about the critical path: step, its start and end in the slow case, its duration, and the source
    of the figure.
    """
    return [
        (
            each["step"],
            f"{each['start']:.0f}–{each['end']:.0f}",
            f"{each['minutes'][0]:g}–{each['minutes'][1]:g}",
            each["source"] if each["published"] else f"ours: {each['source']}",
        )
        for each in data["path"]
        if each["minutes"][1] > SHORT
    ]
