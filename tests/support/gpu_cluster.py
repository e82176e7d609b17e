"""In-memory cluster for the model of the GPU Operator. It applies the operator's steps and places DaemonSet Pods, which
are ready at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from simulator.cluster.objects import annotations_of, at, labels
from simulator.gpu import operator
from simulator.gpu.driver import COMPONENT, DRIVER_COMPONENT
from simulator.gpu.driver_digest import digest_of
from simulator.gpu.names import LAST_APPLIED
from simulator.gpu.state import State, Write, apply
from simulator.gpu.upgrade_states import DriverPod
from tests.support import gpu_placement as placement

VALIDATOR = "nvidia-operator-validator"
BOUND = 300
"""Number of reconciliations after which a cluster that has not come to rest counts as one that never will."""


@dataclass
class Cluster:
    """State of the cluster, the Pods of its DaemonSets, and the steps since the last `mark`."""

    state: State
    pods: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    """Hash of the template that a Pod was made from, by DaemonSet and node."""
    installs: dict[str, str] = field(default_factory=dict[str, str])
    """Digest of the driver that a driver Pod installs, by the hash of its template."""
    steps: list[Write] = field(default_factory=list[Write])
    states: list[State] = field(default_factory=list[State])
    """State of the cluster before the first step since the last `mark`, and after each step."""
    seen: State | None = None
    """State that the operator saw last; None before it has started."""
    fitting: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    """Nodes that a DaemonSet selected when its controller looked last, by DaemonSet."""

    ours: dict[str, dict[str, str | None]] = field(default_factory=dict[str, "dict[str, str | None]"])
    """Labels that another client than the operator changed since the last `mark`, by node."""

    def mark(self) -> None:
        self.steps, self.states, self.ours = [], [self.state], {}

    def change(self, edit: Callable[[State], State]) -> None:
        """Changes the cluster as another client does, and lets the operator react."""
        before, self.state = self.state, edit(self.state)
        for name, node in self.state.nodes.items():
            old, new = labels(before.nodes.get(name, {})), labels(node)
            changes = {key: new.get(key) for key in old.keys() | new.keys() if old.get(key) != new.get(key)}
            self.ours.setdefault(name, {}).update(changes)
        self.settle()

    def restart(self) -> None:
        """Restarts the operator's process, and lets it react."""
        self.seen = None
        self.settle()

    def settle(self) -> None:
        """Runs the operator and the DaemonSet controller in turn until neither has anything left to do."""
        for _ in range(BOUND):
            awake = operator.wakes(self.seen, self.state)
            self.seen = self.state
            for step in operator.reconcile(self.state, awake).steps:
                self._take(step)
            self._place()
            if self.seen == self.state:
                return
        raise AssertionError(f"the operator does not come to rest; last steps: {[str(s) for s in self.steps[-9:]]}")

    def _take(self, step: Write) -> None:
        if step.verb == "restart":
            self.pods = {
                key: made for key, made in self.pods.items() if not (key[1] == step.name and self._is_driver(key[0]))
            }
        self.state = apply(self.state, step)
        self.steps.append(step)
        self.states.append(self.state)

    def _is_driver(self, name: str) -> bool:
        return labels(self.state.daemonsets.get(name, {})).get(COMPONENT) == DRIVER_COMPONENT

    def _place(self) -> None:
        """Acts as the DaemonSet controller and the kubelets do: every selected node gets a Pod, which is ready at once.

        The controller gets no events about deleted nodes, so that a status stays as it was until something else
        changes.
        """
        daemonsets: dict[str, Any] = {}
        pods: dict[tuple[str, str], str] = {}
        for name, item in self.state.daemonsets.items():
            template = annotations_of(item)[LAST_APPLIED]
            self.installs[template] = digest_of(item["spec"]["template"]["spec"])
            keeps = at(item, "spec.updateStrategy.type") == "OnDelete" and self._is_driver(name)
            nodes = placement.nodes_for(item, self.state.nodes)
            own = {(name, node): self.pods.get((name, node), template) if keeps else template for node in nodes}
            pods |= own
            looked_at = at(item, "status.observedGeneration") == item["metadata"]["generation"]
            known = self.fitting.get(name, set()) & self.state.nodes.keys()
            if looked_at and known == set(nodes) and all(own[pod] == self.pods.get(pod) for pod in own):
                daemonsets[name] = item
                pods |= {pod: made for pod, made in self.pods.items() if pod[0] == name}
                continue
            self.fitting[name] = set(nodes)
            daemonsets[name] = {
                **item,
                "status": {
                    "observedGeneration": item["metadata"]["generation"],
                    "desiredNumberScheduled": len(nodes),
                    "numberReady": len(nodes),
                    "numberUnavailable": 0,
                    "updatedNumberScheduled": sum(made == template for made in own.values()),
                },
            }
        self.pods = pods
        drivers = {
            node: self._driver_pod(daemonsets[name], made)
            for (name, node), made in pods.items()
            if self._is_driver(name)
        }
        validated = frozenset(node for name, node in pods if name == VALIDATOR)
        self.state = replace(self.state, daemonsets=daemonsets, pods=drivers, validated=validated)

    def _driver_pod(self, daemonset: Mapping[str, Any], made: str) -> DriverPod:
        template = annotations_of(daemonset)[LAST_APPLIED]
        same = self.installs.get(made) == self.installs[template] != ""
        return DriverPod(current=made == template, same_install=same)

    def scheduled(self) -> dict[str, list[Any]]:
        """Number of desired Pods, number of ready Pods, and names of the nodes with a Pod, by DaemonSet."""
        result: dict[str, list[Any]] = {}
        for name, item in self.state.daemonsets.items():
            nodes = sorted(node for daemonset, node in self.pods if daemonset == name)
            status_ = item["status"]
            result[name] = [status_["desiredNumberScheduled"], status_["numberReady"], " ".join(nodes)]
        return result


def add_node(node: Mapping[str, Any]) -> Callable[[State], State]:
    return lambda state: replace(state, nodes={**state.nodes, node["metadata"]["name"]: dict(node)})
