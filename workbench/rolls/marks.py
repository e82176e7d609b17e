"""Progress of one node, in an annotation of the node, and the changes of nodes, each one request.

A request changes the annotation together with the cordon and the labels, and only if nobody else has changed the node
meanwhile. So a run that is killed between two requests can be continued by anybody.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from physical_ai.catalog.own_names import ROLL_ANNOTATION
from physical_ai.kubernetes.objects import annotations_of
from physical_ai.nested import is_mapping
from physical_ai.readiness.rollout import UPGRADE_STATE
from physical_ai.settings.facts.pools import UPGRADE_SKIP_LABEL

Phase = Literal["held", "emptying", "upgrading", "proving", "failed"]
PHASES: tuple[Phase, ...] = ("held", "emptying", "upgrading", "proving", "failed")
IN_TURN: tuple[Phase, ...] = ("emptying", "upgrading", "proving")
"""Phases of the one node whose turn it is."""


@dataclass(frozen=True)
class Mark:
    """Progress of a node.

    Attributes:
        phase: `held`: the node keeps its driver until its turn. `emptying`: it takes no new Pods, and its work ends.
            `upgrading`: it gets the new driver. `proving`: acceptance runs on it. `failed`: it stays cordoned.
        began: Time at which the phase began, in ISO 8601.
        reason: Reason why the node failed; empty in other phases.
    """

    phase: Phase
    began: str
    reason: str = ""


@dataclass(frozen=True)
class Change:
    """Change of one node by one request.

    Attributes:
        mark: New progress; None if the command leaves the node.
        unschedulable: True to cordon the node, False to uncordon it, None to leave that as it is.
        labels: Changed labels; None removes a label.
    """

    node: str
    mark: Mark | None
    unschedulable: bool | None = None
    labels: Mapping[str, str | None] = field(default_factory=dict[str, "str | None"])

    @property
    def patch(self) -> dict[str, Any]:
        """The change as a JSON merge patch of the node."""
        text = None if self.mark is None else _text(self.mark)
        metadata: dict[str, Any] = {"annotations": {ROLL_ANNOTATION: text}}
        if self.labels:
            metadata["labels"] = dict(self.labels)
        spec = {} if self.unschedulable is None else {"spec": {"unschedulable": self.unschedulable or None}}
        return {"metadata": metadata, **spec}


def _text(mark: Mark) -> str:
    known = {"phase": mark.phase, "began": mark.began, **({"reason": mark.reason} if mark.reason else {})}
    return json.dumps(known)


def mark_of(node: Mapping[str, Any]) -> Mark | None:
    """Progress of a node; None for a node that the command does not hold. An annotation that cannot be read counts as
    a failure, so that nobody goes on with the node unseen.
    """
    text = annotations_of(node).get(ROLL_ANNOTATION)
    if text is None:
        return None
    try:
        found: object = json.loads(text)
    except ValueError:
        found = None
    phase = found.get("phase") if is_mapping(found) else None
    if not is_mapping(found) or phase not in PHASES:
        return Mark(
            "failed", "", f"the annotation {ROLL_ANNOTATION} cannot be read: {text[:80]}; --retry writes it again"
        )
    return Mark(phase, str(found.get("began", "")), str(found.get("reason", "")))


def hold(node: str, now: str, *, labelled: bool) -> Change:
    """The node keeps its driver until its turn. `labelled`: True if the GPU Operator installs its driver, and skips
    nodes with a label.
    """
    return Change(node, Mark("held", now), labels={UPGRADE_SKIP_LABEL: "true"} if labelled else {})


def begin(node: str, now: str) -> Change:
    """The node's turn begins: it takes no new Pods."""
    return Change(node, Mark("emptying", now), unschedulable=True)


def start(node: str, now: str) -> Change:
    """The empty node gets its driver.

    Without its state label the GPU Operator looks at the node afresh. It then sees that the node was cordoned before,
    and leaves it cordoned when the driver is there (NVIDIA/k8s-operator-libs in gpu-operator v26.7.0,
    `ProcessDoneOrUnknownNodes` and `updateNodeToUncordonOrDoneState` in pkg/upgrade/common_manager.go).
    """
    removed: dict[str, str | None] = {UPGRADE_SKIP_LABEL: None, UPGRADE_STATE: None}
    return Change(node, Mark("upgrading", now), unschedulable=True, labels=removed)


def prove(node: str, now: str) -> Change:
    """The node has its driver, and acceptance begins. Nothing but the check may run there."""
    return Change(node, Mark("proving", now), unschedulable=True)


def finish(node: str) -> Change:
    """The node is proved, and takes work again."""
    return Change(node, None, unschedulable=False)


def fail(node: str, now: str, reason: str) -> Change:
    """The node stays cordoned, with the reason."""
    return Change(node, Mark("failed", now, reason), unschedulable=True)


def release(node: str) -> Change:
    """The command leaves a node that has no work of it before it. The state label of an upgrade that was taken back
    would make the GPU Operator upgrade the node anyway, so it is removed.
    """
    return Change(node, None, labels={UPGRADE_SKIP_LABEL: None, UPGRADE_STATE: None})


def hold_again(node: str, now: str) -> Change:
    """The turn of a node is taken back before its driver has changed: it takes Pods, and keeps its driver."""
    return Change(node, Mark("held", now), unschedulable=False)


def try_again(node: str, now: str, *, labelled: bool) -> Change:
    """The turn of a failed node begins once more. `labelled`: as of `hold`."""
    labels: dict[str, str | None] = {UPGRADE_SKIP_LABEL: "true"} if labelled else {}
    return Change(node, Mark("emptying", now), unschedulable=True, labels=labels)
