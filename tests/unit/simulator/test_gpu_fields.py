"""Fields of ClusterPolicy and NVIDIADriver that change nothing in the operator's model: the lists are complete."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from physical_ai.catalog import newest_release
from simulator import gpu
from simulator.charts import crds
from simulator.gpu import operator
from simulator.gpu.names import PRESENT
from simulator.gpu.state import State
from tests.support.gpu_model import spec
from tests.support.gpu_replay import nfd
from tests.support.gpu_replay import node as make_node

Json = dict[str, Any]
LIST = Path(gpu.__file__).parent / "data" / "without-effect.yaml"
RELEASE = newest_release().version
ELSEWHERE = ("driver.upgradePolicy", "driver.useNvidiaDriverCRD", "upgradePolicy")
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
        **{part: dict(on) for part in parts},
        driver={"enabled": True, "upgradePolicy": {"autoUpgrade": True}, "rdma": on},
    )
    everything["devicePlugin"]["config"] = {"name": "configurations"}
    image = {"repository": "nvcr.io/nvidia", "image": "driver", "version": "580.173.02"}
    everything |= {key: {"enabled": True, **image} for key in ("gds", "gdrcopy")}
    return [everything, {**everything, "sandboxWorkloads": {"enabled": True, "defaultWorkload": "vm-vgpu"}}]


Outcome = Callable[[Json], str]


def outcome_of_driver(driver: Json) -> str:
    """All that the operator writes for an NVIDIADriver."""
    given = state(bases()[0], crd=True)
    item = {"kind": "NVIDIADriver", "metadata": {"name": "h100", "uid": "h100"}, "spec": driver}
    found = operator.reconcile(replace(given, drivers={"h100": item}, validated=frozenset({"h100-0"}))).steps
    return json.dumps([[str(step), step.body] for step in found], sort_keys=True, default=str)


def drivers() -> list[Json]:
    """A driver with everything that is off by default, and one with precompiled modules."""
    image = {"repository": "nvcr.io/nvidia", "image": "driver", "version": "580.173.02"}
    plain = {"driverType": "gpu", **image}
    on = {key: {"enabled": True, **image} for key in ("rdma", "gds", "gdrcopy")}
    return [{**plain, **on}, {**plain, "usePrecompiled": True}]


def fields(kind: str) -> dict[str, list[Any]]:
    """Values to try of each field that the CRD has."""
    (found,) = [each for each in crds("gpu-operator", RELEASE) if each["spec"]["names"]["kind"] == kind]
    schema = found["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    named = ((".".join(path), sentinels(field)) for path, field in leaves(schema))
    return {name: values for name, values in named if not name.startswith(ELSEWHERE)}


def without_effect(kind: str, given: list[Json], outcome_of: Outcome) -> list[str]:
    before = [(base, outcome_of(base)) for base in given]
    result: list[str] = []
    for name, values in fields(kind).items():
        changed = ((with_value(base, tuple(name.split(".")), value), text) for base, text in before for value in values)
        if not any(_differs(outcome_of, base, text) for base, text in changed):
            result.append(name)
    return result


def _differs(outcome_of: Outcome, changed: Json, text: str) -> bool:
    try:
        return outcome_of(changed) != text
    except (TypeError, AttributeError, KeyError, ValueError):
        return True  # the value has the wrong form, so the field is read


KINDS = pytest.mark.parametrize(
    ("kind", "given", "outcome_of"),
    [("ClusterPolicy", bases(), outcome), ("NVIDIADriver", drivers(), outcome_of_driver)],
)


def listed(kind: str) -> list[str]:
    return yaml.safe_load(LIST.read_text())[kind]


@KINDS
def test_listed_fields_have_no_effect(kind: str, given: list[Json], outcome_of: Outcome) -> None:
    """All of them together, with one of each field's values at a time."""
    known = fields(kind)
    for base in given:
        for turn in range(max(map(len, known.values()))):
            changed = base
            for name in listed(kind):
                changed = with_value(changed, tuple(name.split(".")), known[name][turn % len(known[name])])
            assert outcome_of(changed) == outcome_of(base)


@pytest.mark.deep
@KINDS
def test_fields_without_effect_are_listed(kind: str, given: list[Json], outcome_of: Outcome) -> None:
    assert without_effect(kind, given, outcome_of) == listed(kind)
