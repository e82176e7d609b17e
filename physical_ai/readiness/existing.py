"""An existing cluster: what it contains, and which of its nodes belong to which node class.

The module only reads the cluster. The functions that judge it are pure, on plain objects.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from physical_ai.catalog.definitions import definitions_of, remaining
from physical_ai.catalog.own_names import DRIVER_LABEL
from physical_ai.kubernetes.field_owners import owners
from physical_ai.kubernetes.objects import labels, name, taint_text
from physical_ai.nested import at
from physical_ai.readiness.model import Json
from physical_ai.readiness.reader import Get, Missing, listed
from physical_ai.settings import NodePool, Pool, Settings
from physical_ai.settings.facts.gpu import OPERATOR_NAMESPACE
from physical_ai.settings.facts.labels import split_taint
from physical_ai.settings.facts.node_labels import pool_labels
from physical_ai.settings.facts.pools import (
    CPU_POOL,
    DEPLOY_DRIVER_LABEL,
    NOT_ACCEPTED_TAINT,
    UPGRADE_SKIP_LABEL,
    node_taints,
    pool_selector,
)

STACK_LABEL = "physical-ai/stack"
"""Label of the namespaces that a stack has created in an existing cluster."""
FIELD_MANAGER = "physical-ai"
"""Field manager of server-side apply that owns the labels and taints which a stack has given to nodes."""
PATCH_ANNOTATIONS: Mapping[str, str] = {"pulumi.com/patchFieldManager": FIELD_MANAGER}
"""Annotations of the NodePatch resources that set labels and taints: they name the field manager. The patch also writes
the annotations to the nodes.
"""
_OF_THE_DRIVER = (DRIVER_LABEL, DEPLOY_DRIVER_LABEL, UPGRADE_SKIP_LABEL)
"""Labels that determine where a node's driver comes from."""
_OF_ITS_STATE = ("node.kubernetes.io/", "node.cloudprovider.kubernetes.io/", split_taint(NOT_ACCEPTED_TAINT)[0])
"""Prefixes of the taints that controllers add and remove as a node's state changes."""


@dataclass(frozen=True)
class Survey:
    """State of an existing cluster before a deployment."""

    nodes: Sequence[Json]
    namespaces: Sequence[Json]
    policies: Sequence[Json] = ()
    """ClusterPolicies of GPU Operators. Only a ClusterPolicy object shows that an operator is in use: the
    CustomResourceDefinition remains after an uninstallation.
    """
    drivers: Sequence[Json] = ()
    """NVIDIADrivers in the cluster."""
    daemonsets: Sequence[Json] = ()
    """DaemonSets in the GPU Operator's namespace."""
    schedulers: Sequence[Json] = ()
    """Configurations of KAI; a cluster has at most one."""

    definitions: Collection[str] = ()
    """CustomResourceDefinitions in the cluster, as `plural.group`, of the kinds that charts leave behind when they are
    uninstalled.
    """

    @property
    def owners(self) -> Mapping[str, str | None]:
        """Stack that created each namespace, by the namespace's name; None for a namespace that no stack created."""
        return {name(each): labels(each).get(STACK_LABEL) for each in self.namespaces}

    @property
    def id(self) -> str:
        """Id of the cluster: the uid of its namespace kube-system, which lives as long as the cluster."""
        return next((str(at(each, "metadata.uid", "")) for each in self.namespaces if name(each) == "kube-system"), "")


@dataclass(frozen=True)
class NodeChange:
    """Labels and taints that a node class gives to one of its nodes."""

    node: str
    pool: str
    labels: Mapping[str, str]
    taints: Sequence[str]
    """Taints of the class; empty where the stack leaves the node's taints alone."""
    present: Sequence[Json] = ()
    """Taints that the node has before the change."""

    @property
    def listed(self) -> list[Json]:
        """Complete list of the node's taints after the change: the present taints, unchanged, and the taints that the
        class adds.

        Kubernetes replaces the whole list. A list without the present taints would remove the taint of a cordon; a list
        that changes that taint's time would be refused, because a controller owns it.
        """
        there = {taint_text(each) for each in self.present}
        missing = [split_taint(each) for each in self.taints if each not in there]
        return [*self.present, *({"key": key, "value": value, "effect": effect} for key, value, effect in missing)]


def survey(get: Get) -> Survey:
    """Reads the cluster, and returns its state. Raises the exceptions of `get`."""
    return Survey(
        nodes=listed(get, "/api/v1/nodes"),
        namespaces=listed(get, "/api/v1/namespaces"),
        policies=listed(get, "/apis/nvidia.com/v1/clusterpolicies"),
        drivers=listed(get, "/apis/nvidia.com/v1alpha1/nvidiadrivers"),
        daemonsets=listed(get, f"/apis/apps/v1/namespaces/{OPERATOR_NAMESPACE}/daemonsets"),
        schedulers=listed(get, "/apis/kai.scheduler/v1/configs"),
        definitions=served(get),
    )


def served(get: Get) -> list[str]:
    """CustomResourceDefinitions in the cluster, as `plural.group`, of the kinds that charts leave behind when they are
    uninstalled.

    They are found with the API server's discovery, which every user may read.
    """
    wanted = set(definitions_of(remaining()))
    groups = {name.partition(".")[2] for name in wanted}
    try:
        answer: list[Json] = get("/apis", {})["groups"]
    except Missing:
        return []
    versions = [each["groupVersion"] for group in answer if group["name"] in groups for each in group["versions"]]
    found: set[str] = set()
    for version in versions:
        kinds: list[Json] = get(f"/apis/{version}", {})["resources"]
        found |= {f"{kind['name']}.{version.partition('/')[0]}" for kind in kinds}
    return sorted(found & wanted)


def changes(settings: Settings, found: Survey) -> tuple[list[NodeChange], list[str]]:
    """Changes that node classes make to their nodes, and reasons why a node cannot be in its class."""
    problems: list[str] = []
    given: list[NodeChange] = []
    taken: dict[str, str] = {}
    classes: dict[str, NodePool] = {CPU_POOL: settings.cpu_pool, **settings.pools}
    for pool_name, pool in classes.items():
        members = [node for node in found.nodes if pool.node_selector.items() <= labels(node).items()]
        problems += _membership(pool_name, pool, members)
        for node in members:
            if (other := taken.setdefault(name(node), pool_name)) != pool_name:
                problems.append(f"Node {name(node)} is in two classes, {other} and {pool_name}: narrow a nodeSelector.")
                continue
            change, problem = _change(pool_name, pool, node)
            given.append(change)
            problems += problem
    return given, problems


def _membership(pool_name: str, pool: NodePool, members: Sequence[Json]) -> list[str]:
    wanted, selector = pool.scale.most, ",".join(f"{key}={value}" for key, value in pool.node_selector.items())
    if not members:
        return [
            f"No node is in the class {pool_name}: none has the labels {selector} (kubectl get nodes -l {selector})."
        ]
    if len(members) != wanted:
        return [f"The class {pool_name} has {len(members)} nodes, and scale.count is {wanted}: correct one of the two."]
    kinds = {tuple(str(at(each, f"status.capacity.{key}", "")) for key in ("cpu", "memory")) for each in members}
    if len(kinds) > 1:
        shapes = ", ".join(sorted(f"{cpu} CPUs and {memory}" for cpu, memory in kinds))
        return [f"The nodes of the class {pool_name} differ ({shapes}): give each kind its own class."]
    return []


def _change(pool_name: str, pool: NodePool, node: Json) -> tuple[NodeChange, list[str]]:
    own = pool_selector(pool_name, pool)
    taints: list[str] = []
    if isinstance(pool, Pool):
        own |= pool_labels(pool_name, pool)
        taints = node_taints(pool)
    moved = _other_driver(pool_name, pool, node) if isinstance(pool, Pool) else None
    problems = [moved] if moved is not None else []
    problems += [
        f"Node {name(node)} has the label {key}={labels(node)[key]}, and the class {pool_name} needs {value}: "
        "another owner set it."
        for key, value in own.items()
        if labels(node).get(key, value) != value
        and key not in _labels_of_ours(node)
        and (moved is None or key not in _OF_THE_DRIVER)
    ]
    present: list[Json] = at(node, "spec.taints", [])
    lasting = [taint_text(each) for each in present if not each["key"].startswith(_OF_ITS_STATE)]
    unknown = [each for each in lasting if each not in taints and each not in pool.tolerate]
    if unknown:
        problems.append(
            f"Node {name(node)} has the taint {', '.join(unknown)}, which nothing on the class {pool_name} tolerates: "
            "add it to tolerate, or remove it from the node."
        )
    change = NodeChange(name(node), pool_name, own, taints, present)
    if not unknown and (refused := _list_of_others(node, change)):
        problems.append(refused)
    return change, problems


def _list_of_others(node: Json, change: NodeChange) -> str | None:
    """Reason why Kubernetes would refuse the change of the node's taints: the class adds a taint, and another field
    manager owns the list of taints. None where Kubernetes accepts the change.
    """
    there = {taint_text(each) for each in change.present}
    missing = [each for each in change.taints if each not in there]
    others = sorted(owners(node, "spec", "taints") - {FIELD_MANAGER})
    if not missing or not others:
        return None
    cordoned = " Uncordon the node first, or" if at(node, "spec.unschedulable", default=False) else " To go on,"
    return (
        f"Node {change.node} needs the taint {', '.join(missing)}, and its list of taints is of {', '.join(others)}: "
        f"Kubernetes refuses another writer.{cordoned} write the list yourself: kubectl taint node {change.node} "
        f"{' '.join(missing)}."
    )


def _other_driver(pool_name: str, pool: Pool, node: Json) -> str | None:
    """Steps for a node whose pool now has another driver source than at the node's earlier deployment; None where the
    source stays the same.

    The steps are necessary because a change of the labels alone would leave running work without a driver, or the node
    with two drivers.
    """
    before, now = labels(node).get(DRIVER_LABEL), pool.driver.source
    if before is None or before == now.value:
        return None
    expected_labels = pool_labels(pool_name, pool)
    change = " ".join(
        f"{key}={expected_labels[key]}" if key in expected_labels else f"{key}-" for key in _OF_THE_DRIVER
    )
    label = f"kubectl label --overwrite node {name(node)} {change}"
    steps = (
        f"remove the driver from it, restart it, then {label}"
        if pool.driver.is_operator
        else f"{label}, which removes the operator's driver, then install the driver on the host and restart it"
    )
    return (
        f"Node {name(node)} was deployed with driver.source: {before}, and the class {pool_name} has {now.value}: "
        f"drain the node, {steps}; or keep driver.source: {before}."
    )


def _labels_of_ours(node: Json) -> set[str]:
    """Keys of the node's labels that the stack set in an earlier deployment."""
    return {key for key in labels(node) if FIELD_MANAGER in owners(node, "metadata", "labels", key)}
