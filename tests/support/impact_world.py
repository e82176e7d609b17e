"""Fast model of a stack's cluster, for long sequences of changes, faults and evictions.

It takes the declared resources of the program, and knows nothing of ways.yaml: nodes go with their pool, AKS drains and
reimages, taints evict, the operator upgrades drivers as `simulator.gpu.upgrade` does, OSMO ends a gang with its leading
task. Time passes in rounds. Left out: the API server, budgets, admission and quotas.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from physical_ai.catalog.hardware import machine
from physical_ai.catalog.own_names import DRIVER_LABEL, GRID_DRIVER_WANTED
from physical_ai.nested import at
from physical_ai.settings.facts.gpu import FINISH_FIRST_LABEL
from simulator.gpu import names, upgrade
from simulator.gpu.upgrade_states import DriverPod, Pool
from simulator.gpu.upgrading import policy_of
from simulator.gpu.workloads import Workload
from tests.support.impact_effects import NAMESPACE, apply, most
from tests.support.planned_changes import Planned
from workbench.impact.work import LEAD_LABEL
from workbench.policies import Resource

NOT_INSTALLED = ("tolerations", "nodeSelector", "upgradePolicy", "labels", "annotations", "resources")
"""Fields of an NVIDIADriver that say nothing about what its Pods install."""
GRID = ("version", "moduleType", "moduleParameters", "present")
UPGRADE, FAULT, EVICTION, DONE = "driver upgrade", "fault", "eviction", "done"


@dataclass
class Node:
    name: str
    pool: str
    template: str
    """Spec of the driver's Pod on the node."""
    installed: str
    """What that Pod has installed."""
    labels: dict[str, str] = field(default_factory=dict[str, str])
    annotations: dict[str, str] = field(default_factory=lambda: {names.UPGRADE_ENABLED: "true"})
    cordoned: bool = False


@dataclass(frozen=True)
class Pod:
    """A Pod that runs or waits for a node of its pool. `owner`: a workflow, a Deployment, or the Pod itself. `leads`:
    OSMO ends the gang with it.
    """

    name: str
    owner: str
    pool: str
    gpus: int = 1
    gang: str = ""
    controlled: bool = False
    task: bool = False
    node: str = ""
    leads: bool = False

    @property
    def labels(self) -> dict[str, str]:
        leads = {LEAD_LABEL: "true"} if self.leads else {}
        return {FINISH_FIRST_LABEL: "true", **leads} if self.task else {}


@dataclass(frozen=True)
class End:
    pod: Pod
    cause: str


class World:
    """The cluster with the resources of one run of the program."""

    def __init__(self, resources: Iterable[Resource], seed: int) -> None:
        self.random = random.Random(seed)  # noqa: S311 - a test that can be repeated
        self.resources: tuple[Resource, ...] = tuple(resources)
        self.nodes: dict[str, Node] = {}
        self.pods: dict[str, Pod] = {}
        self.ends: list[End] = []
        self._number = 0

    # What the program declares

    def pools(self) -> dict[str, Mapping[str, Any]]:
        """Inputs of the node pools by name."""
        found = [each.inputs for each in self.resources if each.type.endswith(":AgentPool")]
        return {str(each["agentPoolName"]): each for each in found}

    def gpus(self, pool: str) -> int:
        gpu = machine(str(self.pools()[pool]["vmSize"])).gpu
        return gpu.count if gpu else 0

    def _driver(self, pool: str) -> tuple[str, str]:
        """Template of the driver's Pod of a pool, and what it installs."""
        for each in self.resources:
            if each.type.endswith(":NVIDIADriver"):
                spec = each.inputs["spec"]
                if pool in at(spec, "nodeSelector", {}).values():
                    own = {key: value for key, value in spec.items() if key not in NOT_INSTALLED}
                    template = {**own, "tolerations": spec.get("tolerations")}
                    return json.dumps(template, sort_keys=True, default=str), json.dumps(
                        own, sort_keys=True, default=str
                    )
            elif self._source(pool) == "grid" and (wanted := _grid(each.inputs, pool)):
                own = {key: wanted.get(key) for key in GRID}
                return json.dumps(wanted, sort_keys=True), json.dumps(own, sort_keys=True)
        return "", ""

    # Work

    def add(self, *pods: Pod) -> None:
        for pod in pods:
            self.pods[pod.name] = pod
        self.settle()

    def end(self, pods: Iterable[Pod], cause: str) -> None:
        """Ends Pods. The controller of a Deployment creates another one."""
        for pod in list(pods):
            if self.pods.pop(pod.name, None) is None:
                continue
            self.ends.append(End(pod, cause))
            if pod.controlled:
                self._number += 1
                again = replace(pod, name=f"{pod.owner}-{self._number}", node="")
                self.pods[again.name] = again

    def on(self, nodes: Iterable[str]) -> list[Pod]:
        wanted = set(nodes)
        return [pod for pod in self.pods.values() if pod.node in wanted]

    # Changes

    def change(self, steps: Sequence[Planned], resources: Iterable[Resource]) -> None:
        """Makes the operations of one `up`, and then waits for all that follows from them."""
        self.resources = tuple(resources)
        for step in steps:
            apply(self, step)
        self.settle()

    def remove(self, nodes: Iterable[str], cause: str) -> None:
        gone = list(nodes)
        self.end(self.on(gone), cause)
        for name in gone:
            self.nodes.pop(name, None)

    def of_pool(self, pool: str) -> list[str]:
        return [node.name for node in self.nodes.values() if node.pool == pool]

    # What happens by itself

    def settle(self, rounds: int = 12) -> None:
        """Rounds of schedulers and operators, until nothing changes any more."""
        for _ in range(rounds):
            before = (repr(self.nodes), tuple(self.pods.values()))
            self._place()
            self._upgrade_operator()
            self._upgrade_grid()
            self._end_led()
            if before == (repr(self.nodes), tuple(self.pods.values())):
                return

    def _place(self) -> None:
        """Gives waiting Pods a node, all Pods of a gang or none; the autoscaler adds nodes up to the pool's maximum."""
        gangs: dict[str, list[Pod]] = {}
        for pod in self.pods.values():
            if not pod.node:
                gangs.setdefault(pod.gang or pod.name, []).append(pod)
        for members in gangs.values():
            places = {pod.name: self._node_for(pod) for pod in members}
            if all(places.values()):
                for pod in members:
                    self.pods[pod.name] = replace(pod, node=self._node_for(pod))

    def _node_for(self, pod: Pod) -> str:
        pools = self.pools()
        if pod.pool not in pools or self._repels(pools[pod.pool]):
            return ""
        for name in self.of_pool(pod.pool):
            held = sum(each.gpus for each in self.on([name]))
            if not self.nodes[name].cordoned and held + pod.gpus <= max(self.gpus(pod.pool), 0) + (pod.gpus == 0):
                return name
        if len(self.of_pool(pod.pool)) >= most(pools[pod.pool]):
            return ""
        self._number += 1
        template, installed = self._driver(pod.pool)
        node = Node(f"{pod.pool}-{self._number}", pod.pool, template, installed)
        self.nodes[node.name] = node
        return node.name

    def _repels(self, pool: Mapping[str, Any]) -> bool:
        """True for a pool with a taint that is not one of GPUs or of Spot, which all Pods here tolerate."""
        return any(
            not str(each).startswith(("nvidia.com/", "kubernetes.azure.com/")) for each in pool.get("nodeTaints") or ()
        )

    def _upgrade_operator(self) -> None:
        for each in self.resources:
            if each.type.endswith(":NVIDIADriver"):
                pools = set(at(each.inputs, "spec.nodeSelector", {}).values())
                self._advance([node for node in self.nodes.values() if node.pool in pools], each.inputs)

    def _advance(self, nodes: Sequence[Node], item: Mapping[str, Any]) -> None:
        wanted = {node.name: self._driver(node.pool) for node in nodes}
        drivers = {
            node.name: DriverPod(
                current=node.template == wanted[node.name][0], same_install=node.installed == wanted[node.name][1]
            )
            for node in nodes
        }
        loads = {
            node.name: [
                Workload(NAMESPACE, pod.name, pod.labels, has_gpu=pod.gpus > 0, has_controller=pod.controlled)
                for pod in self.on([node.name])
            ]
            for node in nodes
        }
        documents = {
            node.name: {
                "metadata": {"labels": node.labels, "annotations": node.annotations},
                "spec": {"unschedulable": node.cordoned},
            }
            for node in nodes
        }
        pool = Pool(
            documents,
            policy_of(item),
            drivers,
            frozenset(documents),
            loads,
            frozenset(documents),
            restarts_in_place=True,
        )
        for move in upgrade.advance(pool):
            node = self.nodes[move.node]
            node.labels[names.UPGRADE_STATE] = move.state
            for key, value in move.annotations.items():
                node.annotations.pop(key, None)
                if value is not None:
                    node.annotations[key] = value
            if move.unschedulable is not None:
                node.cordoned = move.unschedulable
            if move.restart:
                node.template, node.installed = wanted[node.name]
            self.end([self.pods[each.name] for each in move.evict if each.name in self.pods], UPGRADE)

    def _upgrade_grid(self) -> None:
        """Installs another GRID driver on one node that has no Pods with GPUs, or is cleared by the policy."""
        for node in list(self.nodes.values()):
            template, installed = self._driver(node.pool)
            if not template or template == node.template or self._source(node.pool) != "grid":
                continue
            holders = [pod for pod in self.on([node.name]) if pod.gpus]
            if installed != node.installed and holders:
                if json.loads(template).get("upgrade") == "wait":
                    return
                self.end(holders, UPGRADE)
            node.template, node.installed = template, installed
            return

    def _source(self, pool: str) -> str:
        return str(at(self.pools().get(pool, {}), "nodeLabels", {}).get(DRIVER_LABEL, ""))

    def _end_led(self) -> None:
        """Ends what is left of gangs whose leading task has ended, with the same cause."""
        causes = {each.pod.gang: each.cause for each in self.ends if each.pod.gang and each.pod.leads}
        for gang, cause in causes.items():
            self.end([pod for pod in self.pods.values() if pod.gang == gang], cause)


def _grid(inputs: Mapping[str, Any], pool: str) -> Mapping[str, Any] | None:
    text = at(inputs, "spec.template.metadata.annotations", {}).get(GRID_DRIVER_WANTED, "{}")
    found = json.loads(text)
    return found["pools"].get(pool) if "pools" in found else found
