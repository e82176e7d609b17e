"""State of a pool's nodes in the cluster: driver Pods and operands that are older than their DaemonSets, work, and
progress. Pure functions.

Only DaemonSets count whose Pods stay as they are until somebody deletes them (`OnDelete`): the drivers of the GPU
Operator always, its other operands and the GRID agent where the stack says so. A Pod is compared by its controller
revision, as the GPU Operator does.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from physical_ai.kubernetes.objects import annotations_of, at, is_ready, labels, name, namespace
from physical_ai.readiness.evidence import role_of
from physical_ai.readiness.objects import node_of, owner, pool_of, unselected, untolerated
from physical_ai.readiness.rollout import UPGRADE_STATE
from physical_ai.settings.facts.pools import UPGRADE_SKIP_LABEL
from workbench.health.replacement.drain import load_of
from workbench.impact import Work
from workbench.impact.work import work_of
from workbench.rolls.marks import Mark, mark_of

HASH = "controller-revision-hash"
"""Label of a DaemonSet's Pod with the revision of the template from which the Pod was created."""
UPGRADE_ENABLED = "nvidia.com/gpu-driver-upgrade-enabled"
"""Annotation of nodes whose driver the GPU Operator upgrades (gpu-operator v26.7.0, controllers/state_manager.go)."""
AT_REST = ("", "upgrade-done")
DONE, FAILED, REQUIRED = "upgrade-done", "upgrade-failed", "upgrade-required"


@dataclass(frozen=True)
class Part:
    """Pod of a DaemonSet that a node has, or should have.

    Attributes:
        pod: Name of the Pod; empty if the node has none yet.
        current: True if the Pod was created from the present template.
        by_operator: True for a driver, which the GPU Operator itself replaces.
    """

    daemon_set: str
    pod: str = ""
    current: bool = True
    ready: bool = True
    leaving: bool = False
    by_operator: bool = False

    @property
    def is_outdated(self) -> bool:
        return bool(self.pod) and not self.current

    @property
    def is_there(self) -> bool:
        """True if the newest Pod runs, and is ready."""
        return bool(self.pod) and self.current and self.ready and not self.leaving


@dataclass(frozen=True)
class Node:
    """A node of the pool.

    Attributes:
        version: Resource version of the Node object.
        state: State of the GPU Operator's driver upgrade; empty if there is none.
        skipped: True if the GPU Operator does not upgrade the node's driver.
        upgraded: True if the GPU Operator upgrades the node's driver by itself.
        offers: True if the node is Ready and offers all its GPUs.
        services: Namespaces and names of Pods on the node that their controllers start again elsewhere.
    """

    name: str
    version: str = ""
    ready: bool = True
    cordoned: bool = False
    state: str = ""
    skipped: bool = False
    upgraded: bool = True
    offers: bool = True
    mark: Mark | None = None
    parts: tuple[Part, ...] = ()
    running: tuple[Work, ...] = ()
    services: frozenset[tuple[str, str]] = frozenset()

    @property
    def is_outdated(self) -> bool:
        return any(each.is_outdated for each in self.parts)

    @property
    def has_operators_driver(self) -> bool:
        return any(each.by_operator for each in self.parts)


@dataclass(frozen=True)
class View:
    """Nodes of a pool, and all work of the cluster: members of a gang may run on several pools.

    Attributes:
        unsettled: Sentence about a DaemonSet that has just changed; empty if each has been looked at by its controller.
    """

    nodes: tuple[Node, ...] = ()
    everywhere: tuple[Work, ...] = ()
    unsettled: str = ""

    @property
    def is_deployed(self) -> bool:
        """True if a node has an older driver or operand than its DaemonSet."""
        return any(each.is_outdated for each in self.nodes)

    @property
    def is_before_deployment(self) -> bool:
        """True if no node waits for a deployed driver, has its turn, or has failed."""
        return not self.is_deployed and all(each.mark is None or each.mark.phase == "held" for each in self.nodes)


@dataclass(frozen=True)
class Objects:
    """Objects of the cluster. DaemonSets and revisions are those of the GPU Operator's namespace."""

    nodes: Sequence[Mapping[str, Any]]
    pods: Sequence[Mapping[str, Any]]
    daemon_sets: Sequence[Mapping[str, Any]]
    revisions: Sequence[Mapping[str, Any]]


def view_of(found: Objects, pool: str, platform: Collection[str], offering: Collection[str]) -> View:
    """View of a pool.

    Args:
        platform: Namespaces whose Pods are not work.
        offering: Names of the nodes that offer all their GPUs.
    """
    sets = [each for each in found.daemon_sets if at(each, "spec.updateStrategy.type") == "OnDelete"]
    changed = [name(each) for each in sets if not _is_seen(each)]
    work = tuple(work_of(found.pods, found.nodes, platform))
    newest = [(each, _newest(each, found.revisions)) for each in sets]
    own = sorted((each for each in found.nodes if pool_of(dict(each)) == pool), key=name)
    unsettled = f"DaemonSet {', '.join(changed)} has just changed" if changed else ""
    return View(tuple(_node(each, newest, found.pods, work, offering) for each in own), work, unsettled)


def _is_seen(daemon_set: Mapping[str, Any]) -> bool:
    return int(at(daemon_set, "status.observedGeneration", 0)) >= int(at(daemon_set, "metadata.generation", 1))


def _newest(daemon_set: Mapping[str, Any], revisions: Sequence[Mapping[str, Any]]) -> str:
    """Hash of the newest revision of a DaemonSet's template; empty if its controller has recorded none."""
    uid = at(daemon_set, "metadata.uid")
    own = [
        each for each in revisions if any(owned.get("uid") == uid for owned in at(each, "metadata.ownerReferences", []))
    ]
    last = max(own, key=lambda each: int(each.get("revision", 0)), default=None)
    return "" if last is None else labels(last).get(HASH, name(last).removeprefix(f"{name(daemon_set)}-"))


def _node(
    node: Mapping[str, Any],
    newest: Sequence[tuple[Mapping[str, Any], str]],
    pods: Sequence[Mapping[str, Any]],
    work: Sequence[Work],
    offering: Collection[str],
) -> Node:
    here = [each for each in pods if node_of(dict(each)) == name(node)]
    running = tuple(each for each in work if each.node == name(node))
    movable = frozenset(load_of(here).evicted)
    parts = [part for each, last in newest if (part := _part(each, node, last, here)) is not None]
    given = labels(node)
    return Node(
        name(node),
        str(at(node, "metadata.resourceVersion", "")),
        ready=is_ready(node),
        cordoned=at(node, "spec.unschedulable") is True,
        state=given.get(UPGRADE_STATE, ""),
        skipped=given.get(UPGRADE_SKIP_LABEL) == "true",
        upgraded=annotations_of(node).get(UPGRADE_ENABLED) == "true",
        offers=name(node) in offering,
        mark=mark_of(node),
        parts=tuple(parts),
        running=running,
        services=frozenset((each.namespace, each.name) for each in running) & movable,
    )


def _part(
    daemon_set: Mapping[str, Any], node: Mapping[str, Any], newest: str, pods: Sequence[Mapping[str, Any]]
) -> Part | None:
    """The DaemonSet's Pod on the node; None if the node has none and should have none."""
    by_operator = role_of(dict(daemon_set)) == "driver"
    mine = [each for each in pods if owner(dict(each)) == name(daemon_set) and namespace(each) == namespace(daemon_set)]
    if not mine:
        template: dict[str, Any] = at(daemon_set, "spec.template.spec", {})
        wanted = unselected(template, dict(node)) is None and not untolerated(template, dict(node))
        return Part(name(daemon_set), by_operator=by_operator) if wanted else None
    pod = min(mine, key=lambda each: "deletionTimestamp" in each["metadata"])
    leaving = "deletionTimestamp" in pod["metadata"]
    return Part(name(daemon_set), name(pod), labels(pod).get(HASH) == newest, is_ready(pod), leaving, by_operator)
