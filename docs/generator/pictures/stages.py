"""Two lines of stages: the gates of a GPU node, and what a Pod passes until it runs."""

from __future__ import annotations

from collections.abc import Iterable

from docs.generator.pictures.mermaid import STRONG, box, diagram, framed_chain
from physical_ai.readiness.causes import Cause, causes, workload_causes
from physical_ai.readiness.document import SEVERAL
from physical_ai.readiness.model import GATES
from physical_ai.readiness.workloads.model import STAGES

USUAL = 3
"""Number of gates with a thick border: those with the most known causes."""
PARTS_OF_GATES = {
    "the machine and its labels": ("node", "nfd", "labels", "deploy-labels"),
    "the driver": ("driver", "driver-validation"),
    "what uses the driver": ("toolkit", "validator"),
    "what offers GPUs": ("device-plugin", "dra-driver", "allocatable", "fabric"),
    "afterwards": ("rollout", "slurm"),
}
PARTS_OF_STAGES = {
    "there is no Pod, or nobody looks at it": ("osmo", "gang"),
    "Pending, without a node": ("queue", "scheduling", "capacity", "volume"),
    "on a node": ("node", "start", "container"),
}
"""Stages by the state that `kubectl get pods` shows of a Pod that has stopped there."""


def gates() -> str:
    """Flow chart of the gates in the order in which they open."""
    counts = _counts(GATES, causes().values())
    usual = sorted(GATES, key=lambda gate: -counts[gate])[:USUAL]
    numbers = {gate: number for number, gate in enumerate(GATES, 1)}
    frames = {
        title: {each: box(each, f"{numbers[each]} {each}", GATES[each], strong=each in usual) for each in found}
        for title, found in PARTS_OF_GATES.items()
    }
    described = f"In order: {', '.join(GATES)}. Most known causes keep {', '.join(usual)} closed."
    return diagram("flowchart TD", "The gates of a GPU node", described, [*framed_chain(frames), STRONG])


def pods() -> str:
    """Flow chart of the stages of a Pod."""
    counts = _counts(STAGES, workload_causes().values())
    numbers = {stage: number for number, stage in enumerate(STAGES, 1)}
    frames = {
        title: {each: box(each, f"{numbers[each]} {each}: {STAGES[each]}", _known(counts[each])) for each in found}
        for title, found in PARTS_OF_STAGES.items()
    }
    described = f"In order: {', '.join(STAGES)}. A Pod stops at the first stage whose condition is not met."
    return diagram("flowchart TD", "What a Pod passes until it runs", described, framed_chain(frames))


def _counts(stages: Iterable[str], known: Iterable[Cause]) -> dict[str, int]:
    own = [cause for cause in known if len(cause.stages) < SEVERAL]
    return {stage: sum(stage in cause.stages for cause in own) for stage in stages}


def _known(count: int) -> str:
    return f"{count} known cause{'s' * (count != 1)}"
