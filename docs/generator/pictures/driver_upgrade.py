"""The states of a node while its driver is upgraded: the moves that the simulated GPU Operator makes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from docs.generator.pictures.mermaid import diagram, key
from simulator.gpu import names
from simulator.gpu.upgrade import advance
from simulator.gpu.upgrade_states import (
    CORDON,
    DELETE_PODS,
    DONE,
    DRAIN,
    FAILED,
    REQUIRED,
    RESTART,
    UNCORDON,
    VALIDATE,
    VALIDATION_SECONDS,
    WAIT,
    DriverPod,
    Pool,
)
from simulator.gpu.upgrading import DEFAULT_POLICY
from simulator.gpu.workloads import Workload

NODE = "node"
END = "end_of_upgrade"
"""Name of the last state, which is the first one again: an arrow back would double the width."""
OLD, NEW, FAILING = DriverPod(current=False), DriverPod(), DriverPod(ready=False, failing=True)
STAYS = (Workload("team", "notebook", {}, has_gpu=True),)
"""Pod with a GPU that has no controller, and that nothing may evict."""
POLICY = {**DEFAULT_POLICY, "drain": {"enable": True}}


@dataclass(frozen=True)
class Situation:
    """A node in one state, and the words for what moves it on."""

    state: str
    words: str
    pod: DriverPod = NEW
    pool: dict[str, Any] = field(default_factory=dict[str, Any])
    annotations: dict[str, str] = field(default_factory=dict[str, str])

    def next_state(self) -> str:
        """State after one pass of the operator."""
        node = {
            "metadata": {
                "name": NODE,
                "labels": {names.UPGRADE_STATE: self.state},
                "annotations": {names.UPGRADE_ENABLED: "true", **self.annotations},
            }
        }
        [move] = advance(Pool({NODE: node}, POLICY, {NODE: self.pod}, **self.pool))
        return move.state


SITUATIONS = (
    Situation(DONE, "another driver is wanted", OLD),
    Situation(REQUIRED, "its turn", OLD),
    Situation(
        REQUIRED,
        "the same driver",
        DriverPod(current=False, same_install=True),
        {"restarts_in_place": True},
    ),
    Situation(CORDON, "cordoned", OLD),
    Situation(WAIT, "tasks have ended", OLD),
    Situation(DELETE_PODS, "no Pod has a GPU", OLD),
    Situation(DELETE_PODS, "one cannot be evicted", OLD, {"workloads": {NODE: STAYS}}),
    Situation(DRAIN, "drained", OLD),
    Situation(DRAIN, "cannot be drained", OLD, {"workloads": {NODE: STAYS}}),
    Situation(RESTART, "the driver runs"),
    Situation(RESTART, "the driver fails", FAILING),
    Situation(VALIDATE, "a CUDA program ran", NEW, {"validated": frozenset({NODE})}),
    Situation(
        VALIDATE,
        "10 minutes without that",
        NEW,
        {"validating": frozenset({NODE}), "now": VALIDATION_SECONDS + 2.0},
        {names.VALIDATION_START: "1"},
    ),
    Situation(UNCORDON, "uncordoned"),
    Situation(FAILED, "somebody repaired it"),
)


def driver_upgrade() -> str:
    """State diagram of a node, from one driver to the next."""
    moves = [(each.state, each.next_state(), each.words) for each in SITUATIONS]
    described = "; ".join(f"{start} to {end}: {words}" for start, end, words in moves)
    return diagram("stateDiagram-v2", "A node while its driver is upgraded", f"{described}.", _lines(moves))


def _lines(moves: list[tuple[str, str, str]]) -> Iterator[str]:
    for state in dict.fromkeys(start for start, _, _ in moves):
        yield f'state "{state}" as {key(state)}'
    yield f'state "{DONE}" as {END}'
    for start, end, words in moves:
        yield f"{key(start)} --> {END if end == DONE else key(end)}: {words}"
