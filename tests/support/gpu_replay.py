"""Replays the inputs of a recorded scenario to the operator's model."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import yaml

from simulator.azure.nodes import taint
from simulator.cluster.objects import with_changes
from simulator.gpu.driver import POLICY_DAEMONSET
from simulator.gpu.names import KERNEL, OS_ID, OS_VERSION
from simulator.gpu.state import State
from tests.support.gpu_cluster import Cluster, add_node
from tests.support.gpu_recordings import FOLDER, recording

KERNELS = {"22.04": "5.15.0-1090-azure", "24.04": "6.8.0-1040-azure"}
POOLS = {
    "h100": ("h100gpu", {"physical-ai/gpu-driver": "operator"}),
    "rtx": ("rtxprogpu", {"physical-ai/gpu-driver": "grid", "nvidia.com/gpu.deploy.driver": "false"}),
}
START = "operator already running"
FREE_KEYS = ("daemonsets.labels.", "daemonsets.annotations.")
"""Prefixes of dotted keys. After such a prefix the rest is one key, dots included."""


@cache
def actions() -> dict[str, list[dict[str, Any]]]:
    return yaml.safe_load((FOLDER / "actions.yaml").read_text())


def nfd(version: str = "24.04") -> dict[str, str]:
    return {
        "feature.node.kubernetes.io/pci-10de.present": "true",
        OS_ID: "ubuntu",
        OS_VERSION: version,
        KERNEL: KERNELS[version],
    }


def node(name: str, labels: Mapping[str, str], taints: list[str]) -> dict[str, Any]:
    return {
        "metadata": {"name": name, "labels": dict(labels)},
        "spec": {"taints": [taint(text) for text in taints]},
        "status": {"nodeInfo": {"containerRuntimeVersion": "containerd://2.1.4"}},
    }


def _path(key: str) -> list[str]:
    for prefix in FREE_KEYS:
        if key.startswith(prefix):
            return [*prefix[:-1].split("."), key.removeprefix(prefix)]
    return key.split(".")


def set_at(spec: dict[str, Any], key: str, value: Any) -> None:
    """Sets the value at a dotted path; None removes it."""
    *parents, last = _path(key)
    for part in parents:
        spec = spec.setdefault(part, {})
    if value is None:
        spec.pop(last, None)
    else:
        spec[last] = value


def changed(spec: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Copy of a spec with recorded changes: `+path: value`, `-path: old`, `~path: [old, new]`."""
    result = copy.deepcopy(dict(spec))
    for key, value in changes.items():
        set_at(result, key[1:], None if key[0] == "-" else value[1] if key[0] == "~" else value)
    return result


def policy(version: str, scenario: str) -> dict[str, Any]:
    """ClusterPolicy of a scenario."""
    spec: dict[str, Any] = {}
    for key, value in recording(version, "a-baseline")["inputs"]["clusterpolicy_spec"].items():
        set_at(spec, key, value)
    difference = recording(version, scenario)["inputs"].get("clusterpolicy_spec_vs_baseline", "same")
    return {
        "apiVersion": "nvidia.com/v1",
        "kind": "ClusterPolicy",
        "metadata": {"name": "cluster-policy", "uid": "policy"},
        "spec": spec if difference == "same" else changed(spec, difference),
    }


def driver(version: str, name: str = "h100") -> dict[str, Any]:
    spec = recording(version, "a-baseline")["inputs"]["nvidiadrivers"][name]
    return {"kind": "NVIDIADriver", "metadata": {"name": name, "uid": name}, "spec": copy.deepcopy(spec)}


def cluster(version: str, scenario: str) -> Cluster:
    """Cluster of a scenario, before the operator has seen it."""
    inputs = recording(version, scenario)["inputs"]
    base = recording(version, "a-baseline")["inputs"]
    nodes = base["nodes"] if inputs["nodes"] == "same as a-baseline" else inputs["nodes"]
    drivers = [] if inputs["nvidiadrivers"] == {} else ["h100"]
    maps = inputs.get("configmaps", base["configmaps"])
    state = State(
        release=version,
        policy=policy(version, scenario),
        nodes={given["name"]: node(given["name"], given["labels"], given["taints"]) for given in nodes},
        drivers={name: driver(version, name) for name in drivers},
        others={("ConfigMap", name): {"kind": "ConfigMap", "metadata": {"name": name}} for name in maps},
        namespace_labels={"kubernetes.io/metadata.name": "gpu-operator"},
    )
    return Cluster(state)


def _joining(action: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for name, pool in action["join"].items():
        own, labels = POOLS[pool]
        found = nfd(action["nfd"]) if "nfd" in action else {}
        pools = {"agentpool": own, "kubernetes.azure.com/agentpool": own}
        yield node(
            name, {**pools, **labels, **found, **action.get("labels", {})}, ["nvidia.com/gpu=present:NoSchedule"]
        )


def _edit(state: State, action: Mapping[str, Any], phase: Mapping[str, Any], version: str) -> State:
    """State after one action of the scenario on the cluster's objects."""
    for joining in _joining(action) if "join" in action else ():
        state = add_node(joining)(state)
    for name, labels in action.get("label", {}).items():
        state = replace(state, nodes={**state.nodes, name: with_changes(state.nodes[name], labels_=labels)})
    for name in action["nfd"] if isinstance(action.get("nfd"), list) else ():
        state = replace(state, nodes={**state.nodes, name: with_changes(state.nodes[name], labels_={**nfd()})})
    for name in action.get("leave", ()):
        state = replace(state, nodes={key: value for key, value in state.nodes.items() if key != name})
    for name in action.get("cordon", ()):
        spec = {**state.nodes[name]["spec"], "unschedulable": True}
        state = replace(state, nodes={**state.nodes, name: {**state.nodes[name], "spec": spec}})
    if action.get("forget"):
        state = replace(state, others={k: v for k, v in state.others.items() if k != tuple(action["forget"])})
    result = phase.get("action_result", {})
    spec = dict(state.spec)
    if action.get("spec"):
        spec = changed(spec, (result[0] if isinstance(result, list) else result)["clusterpolicy_spec_changes"])
    for key, value in action.get("policy", {}).items():
        spec = changed(spec, {f"+{key}": value})
    if spec != state.spec:
        state = replace(state, policy={**(state.policy or {}), "spec": spec})
    for name, given in action.get("driver", {}).items():
        item = state.drivers.get(name, driver(version, name))
        state = replace(state, drivers={**state.drivers, name: {**item, "spec": {**item["spec"], **given}}})
    return state


def replay(made: Cluster, phase: Mapping[str, Any], version: str) -> None:
    """Replays the actions of one phase, and lets the operator react to each."""
    made.mark()
    for action in actions()[phase["action"]]:
        if action.get("start"):
            made.restart()
            continue
        for _ in range(action.get("restart", 0)):
            made.restart()
        if "restart" not in action:
            made.change(lambda state, action=action: _edit(state, action, phase, version))


def chosen_image(made: Cluster) -> str:
    """Image of the driver that the ClusterPolicy itself installs; empty if there is none."""
    item = made.state.daemonsets.get(POLICY_DAEMONSET)
    return item["spec"]["template"]["spec"]["containers"][0]["image"] if item else ""


def replay_to(made: Cluster, phase: Mapping[str, Any], version: str, image: str) -> Cluster:
    """Replays a phase. The operator looks at nodes in a random order; the order is tried until the driver has the
    recorded image.
    """
    for draw in range(max(len(made.state.nodes), 1) + 2):
        trial = copy.copy(made)
        trial.pods, trial.fitting = dict(made.pods), dict(made.fitting)
        trial.state = replace(made.state, draw=draw)
        trial.seen = trial.seen and replace(trial.seen, draw=draw)
        replay(trial, phase, version)
        if not image or chosen_image(trial) == image:
            return trial
    raise AssertionError(f"no node order ends with {image}")


def starts_running(phase: Mapping[str, Any]) -> bool:
    """True if the phase begins in a cluster in which the operator already runs."""
    return not phase["action"].startswith(START)
