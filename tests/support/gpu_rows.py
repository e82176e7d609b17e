"""Compares the order of events: the recordings' timeline with the model's steps."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from simulator.cluster.objects import labels
from simulator.gpu import names
from simulator.gpu.driver import POLICY_DAEMONSET
from simulator.gpu.labels import deploy_labels
from simulator.gpu.operands import ORDER
from simulator.gpu.release import operand, release
from tests.support.gpu_cluster import Cluster
from tests.support.gpu_recordings import short

STATES = ["state-driver", *(operand("v26.7.0", name)["state"] for name in ORDER)]
SEQUENCE = (
    "upgrade-required",
    "cordon-required",
    "unschedulable",
    "wait-for-jobs-required",
    "pod-deletion-required",
    "pod-restart-required",
    "validation-required",
    "uncordon-required",
    "schedulable",
    "upgrade-done",
)
"""States and steps that a node goes through when its driver is upgraded, in their order."""


def _group(version: str, text: str) -> set[str]:
    """Deploy labels that a recorded group names: `@deploy-all -driver` means all of the baseline's H100 node except
    that of the driver.
    """
    without = {f"{names.DEPLOY}{word[1:]}" for word in text.split()[1:]}
    found = release(version)
    container = {
        label
        for label in deploy_labels(found)
        if label.removeprefix(names.DEPLOY) in (*CONTAINER_OPERANDS, *found.labelling.every_workload)
    }
    return container - without


CONTAINER_OPERANDS = (
    "driver",
    "gpu-feature-discovery",
    "container-toolkit",
    "device-plugin",
    "dcgm",
    "dcgm-exporter",
    "node-status-exporter",
    "operator-validator",
)


def _changes(version: str, what: Mapping[str, Any]) -> dict[str, str | None]:
    """Changes of labels and annotations that a row about a node describes."""
    result: dict[str, str | None] = {**what.get("set", {}), **what.get("annotations_set", {})}
    result |= dict.fromkeys([*what.get("removed", ()), *what.get("annotations_removed", ())])
    if "set_true" in what:
        result |= dict.fromkeys(_group(version, what["set_true"]), "true")
    if "removed_group" in what:
        result |= dict.fromkeys(_group(version, what["removed_group"]))
    return result


def _modelled(made: Cluster) -> tuple[dict[str, list[dict[str, Any]]], list[str], list[str]]:
    """Changes of each node by its name, and events in order: those of the ClusterPolicy's objects, and those of driver
    DaemonSets.
    """
    nodes: dict[str, list[dict[str, Any]]] = {}
    policy: list[str] = []
    drivers: list[str] = []
    for step, before in zip(made.steps, made.states, strict=False):
        if step.kind == "Node" and step.verb in ("label", "annotate") and names.UPGRADE_STATE not in step.body:
            nodes.setdefault(step.name, []).append(dict(step.body))
        elif step.kind in ("DaemonSet", "RuntimeClass") and step.verb in ("apply", "delete"):
            there = step.name in before.daemonsets or (step.kind, step.name) in before.others
            verb = "deleted" if step.verb == "delete" else "spec-updated" if there else "created"
            (drivers if short(step.name) != step.name else policy).append(f"{short(step.name)} {verb}")
    return nodes, policy, drivers


def _status_text(what: str) -> bool:
    """True if the model can write this intermediate status: the states that are not ready are known, and in the
    operator's order.
    """
    match = re.search(r"states not ready: \[(.*)\]", what)
    if match is None:
        return True
    order = [STATES.index(state) for state in match[1].split()]
    return order == sorted(order)


def _upgrade_row(what: Any) -> str | None:
    """Step of SEQUENCE that a row describes; None for a row that is about no upgrade."""
    if not isinstance(what, dict):
        return None
    if "unschedulable" in what:
        return "unschedulable" if what["unschedulable"] else "schedulable"
    return what.get("set", {}).get(names.UPGRADE_STATE)


def check_upgrades(where: str, sequences: Mapping[str, list[str]]) -> list[str]:
    """Errors in the order of each node's steps, compared with SEQUENCE. After the last step, a node may begin again."""
    wrong: list[str] = []
    for node, steps in sequences.items():
        for before, after in pairwise(steps):
            place = SEQUENCE.index(before) + 1
            # A node that is cordoned already is not cordoned again.
            following = [SEQUENCE[(place + ahead) % len(SEQUENCE)] for ahead in range(2)]
            allowed = following if following[0] in ("unschedulable", "schedulable") else following[:1]
            if after not in (*allowed, "upgrade-required", "upgrade-done"):
                wrong.append(f"{where}: {node} goes from {before} to {after}")
    return wrong


class Timeline:
    """Comparison of one phase's timeline with the model's steps."""

    def __init__(self, where: str, phase: Mapping[str, Any], made: Cluster, version: str) -> None:
        self.where, self.made, self.version = where, made, version
        self.rows: list[Any] = phase.get("timeline", [])
        self.counts: Counter[str] = Counter()
        """Number of rows by the result of their comparison."""
        self.wrong: list[str] = []
        self.nodes, self.policy, self.drivers = _modelled(made)
        systems = {_system(node) for state in (made.states[0], made.state) for node in state.nodes.values()}
        self.flapping = "f-mixed-os" in where and len(systems) > 1
        self.seen: dict[str, list[dict[str, Any]]] = {}
        self.chains: dict[str, list[str]] = {"policy": [], "driver": []}
        self.upgrades: dict[str, list[str]] = {}
        self.cut = {text: count for row in self.rows if isinstance(row, dict) for text, count in row["counts"].items()}
        """Number of each event that happened after the end of the recorded timeline, which is cut off."""

    def compare(self) -> None:
        for row in self.rows:
            if not isinstance(row, dict):
                kind, _, name = row[1].partition("/")
                self._row(kind, name, row[2])
        for text, count in self.cut.items():
            self._counted(text, count)
        self.counts["upgrade"] += sum(map(len, self.upgrades.values()))
        self.wrong += check_upgrades(self.where, self.upgrades)
        for chain, modelled in (("policy", self.policy), ("driver", self.drivers)):
            left = [each for each in modelled if not (self.flapping and each.startswith(POLICY_DAEMONSET))]
            recorded = self.chains[chain]
            self.counts["compared"] += len(recorded)
            if recorded != (left[: len(recorded)] if self.cut else left):
                self.wrong.append(f"{self.where}/{chain}: recorded {recorded}, modelled {left}")
        for name in self.seen.keys() | self.nodes.keys():
            self._node(name)
        self._not_ready()

    def _not_ready(self) -> None:
        """Compares whether the ClusterPolicy was not ready for a moment after its DaemonSets changed, which depends on
        the operator's release.
        """
        if self.cut or self.flapping or not any(each.endswith("spec-updated") for each in self.chains["policy"]):
            return
        recorded = any(row[1].startswith("clusterpolicy/") and "OperandNotReady" in str(row[2]) for row in self.rows)
        modelled = any(
            step.kind == "ClusterPolicy" and step.body["conditions"][1]["reason"] == "OperandNotReady"
            for step in self.made.steps
            if step.verb == "status"
        )
        self.counts["compared"] += 1
        if recorded != modelled:
            self.wrong.append(f"{self.where}/status: not ready in between: recorded {recorded}, modelled {modelled}")

    def _row(self, kind: str, name: str, what: Any) -> None:
        if kind == "node":
            self._node_row(name, what)
        elif kind in ("clusterpolicy", "nvidiadriver"):
            self.counts[kind] += 1
            if not _status_text(str(what)):
                self.wrong.append(f"{self.where}: {kind}/{name}: {what}")
        elif str(what).startswith("desired="):
            # The number of desired Pods at the end of the phase is compared as a fact of the phase.
            self.counts["compared"] += 1
        elif self.flapping and name == POLICY_DAEMONSET:
            self.counts["flapping"] += 1
        else:
            self.chains["driver" if short(name) != name else "policy"].append(f"{short(name)} {str(what).split()[0]}")

    def _node_row(self, name: str, what: Any) -> None:
        step = _upgrade_row(what)
        cordoned = isinstance(what, dict) and "unschedulable" in what
        ours = cordoned and names.UPGRADE_STATE not in labels(self.made.state.nodes.get(name, {}))
        if ours or (isinstance(what, dict) and "event" in what):
            self.counts["own"] += 1
        elif step is not None:
            self.upgrades.setdefault(name, []).append(step)
        else:
            self.seen.setdefault(name, []).append(_changes(self.version, what))

    def _counted(self, text: str, count: int) -> None:
        """Compares how often an event happened, for events that the recording only counts."""
        name, _, what = text.partition(" ")
        if name == "cluster-policy":
            self.counts["clusterpolicy"] += count
        elif name.startswith(("h100-", "rtx-")):
            self.counts["upgrade" if what else "compared"] += count
        elif self.flapping:
            self.counts["flapping"] += count
        else:
            self.counts["compared"] += count
            modelled = [*self.policy, *self.drivers].count(f"{short(name)} {what.split()[0]}")
            if not what.startswith("desired=") and modelled != count:
                self.wrong.append(f"{self.where}: {text} happened {count} times, modelled {modelled}")

    def _node(self, name: str) -> None:
        """Compares the writes of the operator on a node, in their order. The recording's other rows must be changes
        that the test itself made.
        """
        written, ours = list(self.nodes.get(name, [])), self.made.ours.get(name, {})
        for change in self.seen.get(name, []):
            wanted = {key: value for key, value in change.items() if key != names.UPGRADE_STATE}
            if written and wanted == written[0]:
                written.pop(0)
                self.counts["compared"] += 1
            elif wanted.keys() <= ours.keys():
                self.counts["own"] += 1
            else:
                self.wrong.append(f"{self.where}: {name}: recorded {wanted}, modelled {written}")
        if written and name in self.made.state.nodes and name not in self.cut:
            self.wrong.append(f"{self.where}: {name}: modelled {written}, recorded {self.seen.get(name)}")


def _system(node: Mapping[str, Any]) -> str:
    return labels(node).get(names.OS_VERSION, "")
