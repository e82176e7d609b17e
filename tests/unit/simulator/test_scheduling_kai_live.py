"""What KAI v0.17.0 writes on pods and groups: its events and conditions, and those of its binder."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, cast

from physical_ai.catalog.osmo import SCHEDULER
from simulator.scheduling.kai.live import KaiScheduler
from simulator.scheduling.view import CLASSES, GROUPS, QUEUES, View
from tests.support.scheduling import gang, kai_pod, queue
from tests.unit.simulator.test_scheduling_kai import gpu_nodes


@dataclass
class Cluster:
    """A view of a cluster that keeps what is written."""

    pods: list[dict[str, Any]]
    groups: list[dict[str, Any]]
    problem: str = ""
    binder: bool = True
    nodes: list[dict[str, Any]] = field(default_factory=lambda: gpu_nodes(1))
    events: list[tuple[str, str, str, str]] = field(default_factory=list[tuple[str, str, str, str]])
    conditions: dict[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])
    statuses: list[Any] = field(default_factory=list[Any])
    deleted: list[str] = field(default_factory=list[str])
    arguments: list[str] = field(default_factory=list[str])

    def has_kai(self) -> bool:
        return True

    def has_binder(self) -> bool:
        return self.binder

    def scheduler_arguments(self) -> list[str]:
        return self.arguments

    def all(self, path: str) -> list[dict[str, Any]]:
        return {QUEUES: [queue("root"), queue("leaf", "root")], GROUPS: self.groups, CLASSES: []}[path]

    def bind(self, pod: dict[str, Any], host: str) -> str:
        return self.problem

    def set_condition(
        self, pod: Any, message: str, type: str = "PodScheduled", reason: str = "Unschedulable", status: str = "False"
    ) -> None:
        self.conditions[type] = (status, reason)

    def record_event(self, item: Any, component: str, reason: str, message: str, type: str = "Normal") -> None:
        self.events.append((component, type, reason, message))

    def patch(self, path: str, body: dict[str, Any], kind: str) -> bool:
        self.statuses.append(body["status"]["schedulingConditions"])
        return True

    def delete(self, pod: dict[str, Any]) -> None:
        self.deleted.append(pod["metadata"]["name"])

    def round(self) -> Cluster:
        KaiScheduler(cast("View", self)).round()
        return self


def test_a_pod_is_assigned_by_the_scheduler_and_bound_by_the_binder() -> None:
    seen = Cluster([kai_pod("a", "g", gpus=1)], [gang("g", 1)]).round()
    where = "Successfully assigned pod work/a to node gpu-0 at node-pool default"
    assert seen.events == [
        (SCHEDULER, "Normal", "Scheduled", where),
        ("binder", "Normal", "Bound", "Pod bound successfully to node gpu-0"),
    ]
    assert seen.conditions == {"PodBound": ("True", "Bound")}


def test_without_its_binder_a_pod_is_assigned_and_gets_no_node() -> None:
    seen = Cluster([kai_pod("a", "g", gpus=1)], [gang("g", 1)], binder=False).round()
    assert [event[2] for event in seen.events] == ["Scheduled"]
    assert seen.conditions == {}


def test_a_failed_binding_is_the_binders_to_report() -> None:
    seen = Cluster([kai_pod("a", "g", gpus=1)], [gang("g", 1)], problem='pods "a" is forbidden').round()
    message = 'Failed to bind pod work/a to node gpu-0: pods "a" is forbidden'
    assert seen.events[-1] == ("binder", "Warning", "BindingError", message)
    assert seen.conditions == {"PodBound": ("False", "BindingError")}


def test_a_group_that_waits_for_pods_keeps_what_was_said_of_it() -> None:
    """KAI takes the condition away when all of the group has a node, and not before."""
    said = {**gang("g", 2), "status": {"schedulingConditions": [{"message": "before"}]}}
    waits = Cluster([kai_pod("a", "g", gpus=1)], [said]).round()
    assert (waits.statuses, [event[2] for event in waits.events]) == ([], ["NotReady"])
    assert Cluster([kai_pod("a", "g", gpus=1)], [{**said, "spec": gang("g", 1)["spec"]}]).round().statuses == [None]


def test_a_group_says_why_nothing_of_it_is_placed_with_the_reason_apart() -> None:
    seen = Cluster([kai_pod("a", "g", gpus=2)], [gang("g", 1)]).round()
    ((said,),) = seen.statuses
    assert said["message"].startswith("PodSchedulingErrors: Resources were not found for pod work/a due to:")
    assert [each["reason"] for each in said["reasons"]] == ["PodSchedulingErrors"]
    assert seen.conditions == {"PodScheduled": ("False", "Unschedulable")}
