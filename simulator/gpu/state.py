"""State that the operator sees, the steps that it takes, and the effect of each step on the state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, cast

from simulator.cluster.objects import Changes, Json, annotations_of, at, name, with_changes
from simulator.gpu import names
from simulator.gpu.upgrade_states import DriverPod
from simulator.gpu.workloads import Workload

Controller = Literal["labels", "policy", "driver", "upgrade"]
CONTROLLERS: tuple[Controller, ...] = ("labels", "driver", "policy", "upgrade")
"""Controllers in the order in which one call of `reconcile` runs them."""

Verb = Literal["label", "annotate", "apply", "delete", "status", "cordon", "restart", "evict", "event"]
Objects = Mapping[str, Json]


@dataclass(frozen=True)
class State:
    """The cluster as the operator sees it: plain Kubernetes objects by name."""

    release: str
    policy: Json | None
    nodes: Objects = field(default_factory=dict[str, Json])
    drivers: Objects = field(default_factory=dict[str, Json])
    daemonsets: Objects = field(default_factory=dict[str, Json])
    """DaemonSets with `metadata.generation` and `status`, which determine readiness."""
    others: Mapping[tuple[str, str], Json] = field(default_factory=dict[tuple[str, str], Json])
    """Other objects by kind and name: the objects that the operator has created, and the ConfigMaps and Secrets that a
    driver names.
    """
    pods: Mapping[str, DriverPod] = field(default_factory=dict[str, DriverPod])
    """Driver Pods, by the name of their node."""
    validated: frozenset[str] = frozenset()
    """Nodes whose validator pod is ready."""
    validating: frozenset[str] = frozenset()
    """Nodes that have a validator pod."""
    workloads: Mapping[str, Sequence[Workload]] = field(default_factory=dict[str, "Sequence[Workload]"])
    """Pods on each node that the upgrade controller is clearing, by node."""
    waited: Mapping[str, float] = field(default_factory=dict[str, float])
    """Simulated seconds for which the operator has tried to evict Pods, by node."""
    now: float = 0.0
    """Simulated time in seconds since the epoch."""
    is_due: bool = True
    """True if the upgrade controller is due to read the Pods again: it does not watch Pods, so no change wakes it."""
    ignored: Objects = field(default_factory=dict[str, Json])
    """ClusterPolicies other than the one that the operator follows."""
    namespace: str = "gpu-operator"
    namespace_labels: Mapping[str, str] = field(default_factory=dict[str, str])
    crds: frozenset[str] = frozenset()
    """Kinds of other projects, such as `ServiceMonitor`, that the API server knows."""
    manager_image: str = ""
    """Value of DRIVER_MANAGER_IMAGE in the operator's environment; if empty, the image of its release is used."""
    draw: int = 0
    """Number that replaces the random order in which the operator reads nodes. If the nodes have several operating
    systems, the number selects the operating system of the ClusterPolicy's driver image.
    """

    @property
    def spec(self) -> Json:
        return dict(at(self.policy, "spec", {}))

    def files(self, config_map: str) -> list[str] | None:
        """File names in a ConfigMap; None if it does not exist."""
        found = self.others.get(("ConfigMap", config_map))
        return None if found is None else sorted(at(found, "data", {}))

    @property
    def config_maps(self) -> dict[str, dict[str, str]]:
        """Content of all ConfigMaps, by name."""
        return {key: dict(at(item, "data", {})) for (kind, key), item in self.others.items() if kind == "ConfigMap"}

    @property
    def owner(self) -> tuple[str, str, str]:
        """Owner reference of the objects that the ClusterPolicy creates."""
        return ("ClusterPolicy", name(self.policy or {}), str(at(self.policy, "metadata.uid", "")))


@dataclass(frozen=True)
class Write:
    """One write of the operator."""

    controller: Controller
    verb: Verb
    kind: str
    name: str
    body: Any = None
    """Content of the write, by verb. label and annotate: the changes, None removes a key. apply: the object. status:
    the status. cordon: a bool. evict: the Workload on the node `name`. event: an `upgrade_states.Note` for that node.
    Other verbs: None.
    """

    def __str__(self) -> str:
        return f"{self.verb} {self.kind}/{self.name}"


@dataclass(frozen=True)
class Desired:
    """All writes of the operator, in order; empty if the cluster already is as the operator wants it."""

    steps: tuple[Write, ...] = ()

    def of(self, verb: Verb, kind: str = "") -> list[Write]:
        return [step for step in self.steps if step.verb == verb and (not kind or step.kind == kind)]

    @property
    def labels(self) -> dict[str, Changes]:
        """Changes of labels that the operator writes, by the name of the node."""
        result: dict[str, Changes] = {}
        for step in self.of("label", "Node"):
            result.setdefault(step.name, {}).update(step.body)
        return result

    @property
    def daemonsets(self) -> dict[str, Json]:
        """DaemonSets that the operator creates or updates, by name."""
        return {step.name: step.body for step in self.of("apply", "DaemonSet")}

    @property
    def statuses(self) -> dict[str, Json]:
        """New status of each object, by `Kind/name`."""
        return {f"{step.kind}/{step.name}": step.body for step in self.of("status")}


def covers(given: Any, wanted: Any) -> bool:
    """True if `given` includes all of `wanted`; values that only the API server has added to `given` do not matter."""
    if isinstance(wanted, Mapping):
        if not isinstance(given, Mapping):
            return False
        held = cast("Mapping[str, Any]", given)
        return all(covers(held.get(key), value) for key, value in cast("Mapping[str, Any]", wanted).items())
    if isinstance(wanted, list):
        items = cast("list[Any]", wanted)
        if not items and given is None:
            return True  # the API server keeps no empty lists
        if not isinstance(given, list) or len(cast("list[Any]", given)) != len(items):
            return False
        return all(map(covers, cast("list[Any]", given), items))
    return given == wanted


def _generation(old: Json | None, new: Json) -> Json:
    """The DaemonSet as the API server stores it after an apply: its generation grows if the spec has changed."""
    metadata: Json = {**new["metadata"], "generation": 1}
    if old is None:
        return {**new, "metadata": metadata}
    same = annotations_of(old).get(names.LAST_APPLIED) == annotations_of(new).get(names.LAST_APPLIED)
    metadata["generation"] = int(at(old, "metadata.generation", 1)) + (0 if same else 1)
    return {**new, "metadata": metadata, "status": old.get("status", {})}


def _without(given: Mapping[Any, Any], key: Any) -> dict[Any, Any]:
    return {own: value for own, value in given.items() if own != key}


def _apply_to_node(state: State, step: Write) -> State:
    node = state.nodes.get(step.name)
    if node is None:
        return state
    if step.verb == "cordon":
        node = {**node, "spec": {**node.get("spec", {}), "unschedulable": step.body}}
    elif step.verb == "label":
        node = with_changes(node, labels_=step.body)
    else:
        node = with_changes(node, annotations_=step.body)
    return replace(state, nodes={**state.nodes, step.name: node})


def _apply_status(state: State, step: Write) -> State:
    if step.kind == "ClusterPolicy":
        return replace(state, policy={**(state.policy or {}), "status": step.body})
    given = {**state.drivers[step.name], "status": step.body}
    return replace(state, drivers={**state.drivers, step.name: given})


def _apply_object(state: State, step: Write) -> State:
    if step.kind == "DaemonSet":
        rest = _without(state.daemonsets, step.name)
        made = {} if step.verb == "delete" else {step.name: _generation(state.daemonsets.get(step.name), step.body)}
        return replace(state, daemonsets={**rest, **made})
    key = (step.kind, step.name)
    return replace(state, others={**_without(state.others, key), **({} if step.verb == "delete" else {key: step.body})})


def apply(state: State, step: Write) -> State:
    """The state after the operator's write `step`, before any other controller reacts."""
    if step.kind == "Node":
        return _apply_to_node(state, step)
    if step.verb == "event":
        return state
    if step.kind == "Namespace":
        return replace(state, namespace_labels={**state.namespace_labels, **step.body})
    if step.verb == "evict":
        left = tuple(each for each in state.workloads.get(step.name, ()) if each != step.body)
        return replace(state, workloads={**state.workloads, step.name: left})
    if step.kind == "Pod":
        return replace(state, pods=_without(state.pods, step.name))
    return _apply_status(state, step) if step.verb == "status" else _apply_object(state, step)
