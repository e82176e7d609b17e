"""Fields of a ClusterPolicy that change nothing in the operator's model: the list is complete, and true."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from physical_ai.simulator import gpu
from physical_ai.simulator.charts import crds
from physical_ai.simulator.gpu import operator
from physical_ai.simulator.gpu.names import PRESENT
from physical_ai.simulator.gpu.state import State
from tests.support.gpu_model import spec
from tests.support.gpu_replay import nfd
from tests.support.gpu_replay import node as make_node

Json = dict[str, Any]
LIST = Path(gpu.__file__).parent / "data" / "without-effect.yaml"
RELEASE = "v26.7.0"
ELSEWHERE = ("driver.upgradePolicy", "driver.useNvidiaDriverCRD")
"""Read by the upgrade controller, whose own tests are test_gpu_upgrades.py; and what `outcome` sets itself."""


def leaves(schema: Json, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Json]]:
    for key, below in schema.get("properties", {}).items():
        if below.get("properties"):
            yield from leaves(below, (*path, key))
        else:
            yield (*path, key), below


def sentinels(schema: Json) -> list[Any]:
    """Values of the field's type; no default is equal to all of them."""
    match schema.get("type"):
        case "boolean":
            return [True, False]
        case "integer":
            return [7777]
        case "array":
            return [[{"name": "SENTINEL", "value": "1", "key": "sentinel", "operator": "Exists"}], ["--sentinel"]]
        case "object":
            return [{"sentinel": "1"}]
        case _:
            return [*schema.get("enum", ()), "sentinel", "7Gi"]


def state(policy: Json, *, crd: bool) -> State:
    given = {PRESENT: "true", "nvidia.com/mig.capable": "true", "nvidia.com/mps.capable": "true", **nfd()}
    changed = copy.deepcopy(policy)
    changed.setdefault("driver", {})["useNvidiaDriverCRD"] = crd
    item = make_node("h100-0", given, [])
    metadata = {"name": "cluster-policy", "uid": "u"}
    return State(RELEASE, {"metadata": metadata, "spec": changed}, nodes={"h100-0": item})


def outcome(policy: Json) -> str:
    """All that the operator writes, with either way of installing drivers."""
    steps: list[Any] = []
    for crd in (True, False):
        found = operator.reconcile(replace(state(policy, crd=crd), validated=frozenset({"h100-0"}))).steps
        steps += [
            [str(step), step.body if isinstance(step.body, dict | bool | None) else str(step.body)] for step in found
        ]
    return json.dumps(steps, sort_keys=True, default=str)


def with_value(policy: Json, path: tuple[str, ...], value: Any) -> Json:
    changed = copy.deepcopy(policy)
    holder = changed
    for step in path[:-1]:
        holder = holder.setdefault(step, {})
    holder[path[-1]] = value
    return changed


def bases() -> list[Json]:
    """Policies in which every operand is enabled, and in which sandbox workloads are."""
    on = {"enabled": True}
    parts = ("dcgm", "dcgmExporter", "gfd", "migManager", "nodeStatusExporter", "devicePlugin", "toolkit", "validator")
    everything = spec(
        **{part: dict(on) for part in parts}, driver={"enabled": True, "upgradePolicy": {"autoUpgrade": True}}
    )
    everything["devicePlugin"]["config"] = {"name": "configurations"}
    return [everything, {**everything, "sandboxWorkloads": {"enabled": True, "defaultWorkload": "vm-vgpu"}}]


def without_effect() -> list[str]:
    (found,) = [each for each in crds("gpu-operator", RELEASE) if each["spec"]["names"]["kind"] == "ClusterPolicy"]
    schema = found["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    before = [(base, outcome(base)) for base in bases()]
    result: list[str] = []
    for path, field in leaves(schema):
        name = ".".join(path)
        if name.startswith(ELSEWHERE):
            continue
        tried = [(base, text, value) for base, text in before for value in sentinels(field)]
        if not any(_differs(base, path, value, text) for base, text, value in tried):
            result.append(name)
    return result


def _differs(base: Json, path: tuple[str, ...], value: Any, text: str) -> bool:
    try:
        return outcome(with_value(base, path, value)) != text
    except (TypeError, AttributeError, KeyError, ValueError):
        return True  # the value has the wrong form, so the field is read


def test_fields_without_effect_are_listed() -> None:
    listed = yaml.safe_load(LIST.read_text())["fields"]
    assert without_effect() == listed
