"""Topology constraints of a PodGroup, for tasks of a group that must run near each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from workbench.osmo.choices import TopologyRequirementType
from workbench.osmo.service.pools import TopologyKey
from workbench.osmo.workflow.schema import TaskSpec, TopologyRequirement

Requirements = Mapping[str, Sequence[TopologyRequirement]]
"""Topology requirements of each task, by the task's name."""


@dataclass
class _Branch:
    """Tasks that share a topology domain, such as a rack or a zone, and the narrower domains within it."""

    name: str = ""
    label: str = ""
    required: bool = True
    below: list[_Branch] = field(default_factory=list["_Branch"])
    tasks: list[str] = field(default_factory=list[str])

    @property
    def constraint(self) -> dict[str, str]:
        return {"requiredTopologyLevel" if self.required else "preferredTopologyLevel": self.label}

    @property
    def size(self) -> int:
        return len(self.tasks) + sum(branch.size for branch in self.below)


@dataclass(frozen=True)
class Constraints:
    """Topology constraints of a PodGroup: one for all its Pods, if there is one, and its subgroups with theirs."""

    top: dict[str, str] | None = None
    """Constraint for all Pods of the group; None if there is none."""
    subgroups: tuple[dict[str, Any], ...] = ()
    members: dict[str, str] = field(default_factory=dict[str, str])
    """Name of a task's subgroup, by the task's name; only for tasks in a subgroup."""

    @property
    def parents(self) -> list[str]:
        """Names of the subgroups that contain other subgroups.

        OSMO 6.3.1 gives these parent subgroups a `minMember`, which KAI refuses from v0.15 on
        (kai-scheduler/KAI-Scheduler tag v0.17.0, pkg/apis/scheduling/v2alpha2/podgroup_webhook.go).
        """
        above = {each["parent"] for each in self.subgroups if "parent" in each}
        return [each["name"] for each in self.subgroups if each["name"] in above]


def constraints(tasks: Sequence[TaskSpec], keys: Sequence[TopologyKey], topology: str) -> Constraints:
    """Topology constraints for a group's tasks. A requirement that all tasks share applies to the whole group. Tasks
    with different requirements are divided into subgroups, one for each topology domain.

    Args:
        keys: The pool's topology keys, from the widest domain to the narrowest.
        topology: Name of the cluster's Topology object.
    """
    if not any(task.resources.topology for task in tasks):
        return Constraints()
    return placed({task.name: task.resources.topology for task in tasks}, keys, topology)


def placed(tasks: Requirements, keys: Sequence[TopologyKey], topology: str) -> Constraints:
    """Topology constraints for the tasks in `tasks`. A requirement that all tasks share becomes the constraint `top` of
    the whole group; the others become constraints of subgroups.
    """
    root, top = _tree(tasks, keys), None
    while len(root.below) == 1:
        root = root.below[0]
        top = {**root.constraint, "topology": topology}
    subgroups: list[dict[str, Any]] = []
    members: dict[str, str] = {}
    for branch in root.below:
        _add(branch, None, topology, subgroups, members)
    return Constraints(top, tuple(subgroups), members)


def _tree(tasks: Requirements, keys: Sequence[TopologyKey]) -> _Branch:
    labels = {key.key: key.label for key in keys}
    order = [key.key for key in keys]
    root, branches = _Branch(), dict[str, _Branch]()
    for task, requirements in tasks.items():
        here = root
        for wanted in sorted(requirements, key=lambda item: order.index(item.key)):
            name = f"{here.name}-{wanted.group}" if here.name else wanted.group
            if name not in branches:
                branches[name] = _Branch(name, labels[wanted.key], _is_required(wanted))
                here.below.append(branches[name])
            here = branches[name]
        here.tasks.append(task)
    return root


def _is_required(wanted: TopologyRequirement) -> bool:
    return wanted.requirementType is TopologyRequirementType.REQUIRED


def _add(
    branch: _Branch, parent: str | None, topology: str, subgroups: list[dict[str, Any]], members: dict[str, str]
) -> None:
    """Appends a subgroup for `branch` to `subgroups`, followed by subgroups for the branches below `branch`.

    If `parent` is None and there is exactly one branch below `branch`, `branch` itself gets no subgroup.
    """
    if not branch.below or len(branch.below) > 1 or parent is not None:
        subgroup: dict[str, Any] = {"name": branch.name}
        if not branch.below:
            subgroup["minMember"] = len(branch.tasks)
        subgroup["topologyConstraint"] = {**branch.constraint, "topology": topology}
        if parent is not None:
            subgroup["parent"] = parent
        if branch.below:
            subgroup["minMember"] = sum(below.size for below in branch.below)
        subgroups.append(subgroup)
        members |= dict.fromkeys(branch.tasks if not branch.below else (), branch.name)
        parent = branch.name
    for below in branch.below:
        _add(below, parent, topology, subgroups, members)
