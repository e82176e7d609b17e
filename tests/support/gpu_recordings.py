"""Recordings of the GPU Operator, expanded: the facts after every phase, as `path → value`.

A path names one fact: `Node/h100-0/label/nvidia.com/gpu.present`, `DaemonSet/nvidia-dcgm/priorityClassName`. The name
of a driver's DaemonSet ends in a hash, which depends on the NVIDIADriver's UID; it is written `*` here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from simulator.gpu.names import PRESENT

FOLDER = Path(__file__).parents[1] / "fixtures" / "gpu-operator"
Facts = dict[str, Any]
SECTIONS = {
    "nodes",
    "nodes_gone",
    "daemonsets",
    "daemonsets_gone",
    "daemonsets_same_change",
    "scheduled",
    "scheduled_same",
    "clusterpolicies",
    "nvidiadrivers",
    "runtimeclasses",
    "other",
    "other_vs_baseline",
}
NODE_PARTS = {"nvidia_labels", "labels_vs_baseline", "compared_with", "annotations", "unschedulable"}
OWN_NAME = "<own name>"


def versions() -> list[str]:
    return sorted(entry.name for entry in FOLDER.iterdir() if entry.is_dir())


def scenarios(version: str) -> list[str]:
    return sorted(path.stem for path in (FOLDER / version).glob("*.json"))


@cache
def recording(version: str, scenario: str) -> dict[str, Any]:
    return json.loads((FOLDER / version / f"{scenario}.json").read_text())


def short(name: str) -> str:
    """Name of a DaemonSet. For that of a driver, `*` replaces the hash at its end."""
    return re.sub(r"^(nvidia-gpu-driver-.+)-[0-9a-f]+$", r"\1-*", name)


def flat(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Leaves of a mapping with their paths. Lists and empty mappings are leaves."""
    if isinstance(value, Mapping) and value:
        for key, item in value.items():
            yield from flat(item, f"{path}/{key}")
    else:
        yield path, value


def _replace(facts: Facts, prefix: str, value: Any) -> None:
    """Replaces everything under a prefix by a value; None and an empty mapping only remove."""
    for path in [path for path in facts if path == prefix or path.startswith(f"{prefix}/")]:
        del facts[path]
    if value not in (None, {}):
        facts.update(flat(value, prefix))


def apply_difference(facts: Facts, prefix: str, changes: Mapping[str, Any]) -> None:
    """Applies a recorded difference (`+path`, `-path`, `~path`) to the facts under a prefix."""
    for key, value in changes.items():
        # Dots separate the fields; a label's own dots come after the field's name.
        path = f"{prefix}/{_slashed(key[1:])}"
        _replace(facts, path, None if key[0] == "-" else value[1] if key[0] == "~" else value)


def _slashed(path: str) -> str:
    head, _, rest = path.partition(".")
    if not rest:
        return head
    if head in ("init", "containers"):
        name, _, field = rest.partition(".")
        return f"{head}/{name}/{_slashed(field)}" if field else f"{head}/{name}"
    return f"{head}/{rest}"


def _copy(facts: Facts, source: str, target: str) -> None:
    for path, value in [entry for entry in facts.items() if entry[0].startswith(f"{source}/")]:
        facts[target + path.removeprefix(source)] = value


class Expansion:
    """Facts after each phase of one scenario."""

    def __init__(self, version: str, scenario: str) -> None:
        self.version, self.recording = version, recording(version, scenario)
        first = recording(version, "a-baseline")["observed"][0]["observed_after"]
        self.baseline: Facts = {}
        self.facts: Facts = {}
        self.first_seen: dict[str, Facts] = {}
        self.partial: set[str] = set()
        """Prefixes about which the recording contains only some of the facts."""
        self._phase(first)
        self.baseline = dict(self.facts)

    def phases(self) -> Iterator[tuple[dict[str, Any], Facts]]:
        """Each recorded phase, with the facts at its end."""
        for index, phase in enumerate(self.recording["observed"]):
            after = phase.get("observed_after", "unchanged")
            if isinstance(after, dict) and not (index == 0 and self.recording["scenario"] == "a-baseline"):
                self._phase(after)
            yield phase, dict(self.facts)

    def _phase(self, after: Mapping[str, Any]) -> None:
        assert after.keys() <= SECTIONS, f"unknown parts: {sorted(after.keys() - SECTIONS)}"
        for name in after.get("nodes_gone", ()):
            _replace(self.facts, f"Node/{name}", None)
        for name in after.get("daemonsets_gone", ()):
            _replace(self.facts, f"DaemonSet/{short(name)}", None)
            _replace(self.facts, f"Scheduled/{short(name)}", None)
        for name, node in after.get("nodes", {}).items():
            self._node(name, node)
        for group in after.get("daemonsets_same_change", ()):
            for name in group["daemonsets"]:
                self._daemonset(name, group["change"])
        for name, change in after.get("daemonsets", {}).items():
            self._daemonset(name, change)
        self._scheduled(after)
        for kind, section in (("ClusterPolicy", "clusterpolicies"), ("NVIDIADriver", "nvidiadrivers")):
            if section in after:
                _replace(self.facts, kind, after[section])
        if "runtimeclasses" in after:
            _replace(self.facts, "RuntimeClass", after["runtimeclasses"])
        if "other" in after:
            self.others(after["other"])
        if "other_vs_baseline" in after:
            self._others_difference(after["other_vs_baseline"])

    def _scheduled(self, after: Mapping[str, Any]) -> None:
        same = after.get("scheduled_same", {})
        for name in same.get("daemonsets", ()):
            self.facts[f"Scheduled/{short(name)}"] = self._pods(same["desired_ready_pods"])
        for name, value in after.get("scheduled", {}).items():
            self.facts[f"Scheduled/{short(name)}"] = self._pods(value)

    def _pods(self, given: Sequence[Any]) -> list[Any]:
        """Number of desired Pods, number of ready ones, and names of nodes. `all-gpu` means every node with
        `gpu.present=true` at that moment.
        """
        end = f"/label/{PRESENT}"
        gpu = sorted(path.split("/")[1] for path, v in self.facts.items() if path.endswith(end) and v == "true")
        return [given[0], given[1], " ".join(gpu) if given[2] == "all-gpu" else given[2]]

    def _node(self, name: str, node: Mapping[str, Any]) -> None:
        assert node.keys() <= NODE_PARTS, f"unknown parts: {sorted(node.keys() - NODE_PARTS)}"
        prefix = f"Node/{name}"
        self.facts[f"{prefix}/exists"] = True
        basis = f"Node/{node.get('compared_with', name)}"
        if "nvidia_labels" in node:
            _replace(self.facts, f"{prefix}/label", node["nvidia_labels"])
        else:
            known = {
                path.removeprefix(f"{basis}/label/"): v
                for path, v in self.baseline.items()
                if path.startswith(f"{basis}/label/")
            }
            for key, value in node["labels_vs_baseline"].items():
                label = key[1:]
                if key[0] == "-":
                    known.pop(label)
                else:
                    known[label] = value[1] if key[0] == "~" else value
            _replace(self.facts, f"{prefix}/label", known)
        if "annotations" in node:
            _replace(self.facts, f"{prefix}/annotation", node["annotations"])
        else:
            _replace(self.facts, f"{prefix}/annotation", None)
            known = {path: v for path, v in self.baseline.items() if path.startswith(f"{basis}/annotation/")}
            self.facts.update({prefix + path.removeprefix(basis): v for path, v in known.items()})
        _replace(self.facts, f"{prefix}/unschedulable", node.get("unschedulable"))

    def _daemonset(self, name: str, change: Mapping[str, Any]) -> None:
        prefix = f"DaemonSet/{short(name)}"
        if "same_spec_as" in change or "diff_from_baseline" in change or "diff_from_first_seen" in change:
            seen = "diff_from_first_seen" in change
            source = change.get("same_spec_as") or change.get("compared_with") or name
            basis = self.first_seen[name] if seen else self.baseline
            _replace(self.facts, prefix, None)
            old = f"DaemonSet/{short(source)}"
            self.facts.update(
                {prefix + path.removeprefix(old): v for path, v in basis.items() if path.startswith(f"{old}/")}
            )
            difference = change.get("diff_from_baseline", change.get("diff_from_first_seen", "none"))
            if difference != "none" and "same_spec_as" not in change:
                apply_difference(self.facts, prefix, difference)
            return
        _replace(self.facts, prefix, change)
        if "labels" not in change:
            self.partial.add(prefix)
        self.first_seen[name] = {p: v for p, v in self.facts.items() if p.startswith(f"{prefix}/")}

    def others(self, given: Mapping[str, Any]) -> None:
        for kind, items in given.items():
            if kind == "namespace_labels":
                _replace(self.facts, "Namespace", items)
                continue
            for item in items:
                name = item if isinstance(item, str) else item["name"]
                self.facts[f"{kind}/{name}"] = item if isinstance(item, str) else _detail(item)

    def _others_difference(self, given: Any) -> None:
        """Resets the other objects to those of the baseline, then adds and removes the recorded ones."""
        kinds = ("ServiceAccount", "Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding", "ConfigMap", "Service")
        for kind in (*kinds, "Namespace"):
            _replace(self.facts, kind, None)
            self.facts.update({p: v for p, v in self.baseline.items() if p.startswith(f"{kind}/")})
        for kind, change in () if given == "none" else given.items():
            if kind == "namespace_labels":
                _replace(self.facts, "Namespace", change)
                continue
            self.others({kind: change.get("added", ())})
            for name in change.get("absent", ()):
                _replace(self.facts, f"{kind}/{name}", None)


def _detail(item: Mapping[str, Any]) -> Any:
    """Keys of a ConfigMap; or ports, selector, traffic policy and annotations of a Service."""
    if "keys" in item:
        return sorted(item["keys"])
    ports = [[port["name"], port["port"], port["targetPort"]] for port in item["ports"]]
    return [ports, item["selector"], item["internalTrafficPolicy"], item.get("annotations") or {}]
