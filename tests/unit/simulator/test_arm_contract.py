"""The bodies sent to ARM, against the AKS SDK's models of the same API version.

azure-mgmt-containerservice 40.1.0 is API version 2025-09-01, the one that azure-native 3.29.0 sends. Its models keep
keys, types, required fields and ranges in tables, and the values of enumerations in classes that only docstrings name.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from enum import Enum
from typing import Any

import pytest
from azure.mgmt.containerservice import models

from tests.support.cases import in_one_test
from tests.support.recording import Recording
from tests.support.stacks import sweep
from tests.unit.conftest import Simulate
from workbench.policies.node_pools import AGENT_POOL, MANAGED_CLUSTER

PATH_PARAMETERS = {
    AGENT_POOL: ("resourceGroupName", "resourceName", "agentPoolName"),
    MANAGED_CLUSTER: ("resourceGroupName", "resourceName"),
}
MODELS = {AGENT_POOL: models.AgentPool, MANAGED_CLUSTER: models.ManagedCluster}
MAINTENANCE = "azure-native:containerservice:MaintenanceConfiguration"

WIRE_TYPES: dict[str, tuple[type, ...]] = {"str": (str,), "int": (int,), "bool": (bool,), "float": (int, float)}

LABELS: dict[str, Any] = {"pools": {"h100gpu": {"labels": {"team": "robotics"}, "taints": ["team=robotics:NoExecute"]}}}
VARIANTS: dict[str, dict[str, Any]] = {
    "spot": {"pools": {"h100gpu": {"priority": "Spot", "spot": {"maxPrice": 3.25}}}},
    "aks driver": {"pools": {"h100gpu": {"driver": {"source": "aks"}}}},
    "own labels": LABELS,
    "named networks": {"cluster": {"apiAccess": {"authorizedIpRanges": ["20.30.40.0/24"]}}},
}


def enumeration(model: type, attribute: str) -> set[str] | None:
    """Values that the model's docstring allows for an attribute; None where it is no enumeration."""
    text = re.sub(r"\s+", " ", model.__doc__ or "")
    found = re.search(rf":vartype {attribute}: (?:list\[)?str or ~azure\.mgmt\.containerservice\.models\.(\w+)", text)
    kind = getattr(models, found.group(1)) if found else None
    return {str(each.value) for each in kind} if kind is not None and issubclass(kind, Enum) else None


def mistakes(model: Any, body: Any, path: str = "") -> Iterator[str]:
    """Everything in `body` that the model's tables do not allow. Flattened keys hold dots, `properties.vmSize`."""
    if not isinstance(body, dict):
        yield f"{path}: not an object"
        return
    by_key = {entry["key"].removeprefix("properties."): (name, entry) for name, entry in model._attribute_map.items()}
    for key in body.keys() - by_key.keys():
        yield f"{path}{key}: unknown"
    for key, (name, entry) in by_key.items():
        rules = model._validation.get(name, {})
        if key not in body:
            if rules.get("required") and not rules.get("readonly"):
                yield f"{path}{key}: required"
            continue
        if rules.get("readonly"):
            yield f"{path}{key}: read-only"
        yield from _value_mistakes(entry["type"], body[key], f"{path}{key}", rules, enumeration(model, name))


def _value_mistakes(kind: str, value: Any, path: str, rules: dict[str, Any], allowed: set[str] | None) -> Iterator[str]:
    if kind.startswith("["):
        if not isinstance(value, list):
            yield f"{path}: not a list"
            return
        for index, item in enumerate(value):
            yield from _value_mistakes(kind[1:-1], item, f"{path}[{index}]", {}, allowed)
    elif kind.startswith("{"):
        for key, item in value.items():
            yield from _value_mistakes(kind[1:-1], item, f"{path}.{key}", {}, allowed)
    elif kind in WIRE_TYPES:
        if not isinstance(value, WIRE_TYPES[kind]) or (kind != "bool" and isinstance(value, bool)):
            yield f"{path}: {value!r} is no {kind}"
        elif allowed is not None and value not in allowed:
            yield f"{path}: {value!r} is none of {sorted(allowed)}"
        elif not rules.get("minimum", value) <= value <= rules.get("maximum", value):
            yield f"{path}: {value!r} is out of range"
        elif "pattern" in rules and not re.fullmatch(rules["pattern"].strip("^$"), value):
            yield f"{path}: {value!r} does not match {rules['pattern']}"
    elif hasattr(models, kind):
        yield from mistakes(getattr(models, kind), value, f"{path}.")


def dashed(key: str) -> str:
    """The provider's name for a key that ARM writes with dashes: `maxNodeProvisionTime`, max-node-provision-time."""
    return re.sub(r"[A-Z]", lambda letter: f"-{letter[0].lower()}", key)


def body(type_: str, inputs: Any) -> dict[str, Any]:
    """The request's body: inputs without what goes into the URL, and string sets as the maps ARM takes."""
    sent = copy.deepcopy({key: value for key, value in inputs.items() if key not in PATH_PARAMETERS.get(type_, ())})
    profile = sent.get("autoScalerProfile", {})
    sent |= {"autoScalerProfile": {dashed(key): value for key, value in profile.items()}} if profile else {}
    identity = sent.get("identity")
    if identity:
        identity["userAssignedIdentities"] = {each: {} for each in identity["userAssignedIdentities"]}
    return sent


def bodies(recording: Recording) -> Iterator[tuple[str, dict[str, Any]]]:
    for each in recording.resources:
        if each.type in MODELS:
            yield each.type, body(each.type, each.inputs)


def found_in(recording: Recording) -> list[str]:
    return [f"{type_} {mistake}" for type_, sent in bodies(recording) for mistake in mistakes(MODELS[type_], sent)]


def test_bodies_are_what_the_api_version_takes(simulate: Simulate, azure_stack_name: str) -> None:
    assert found_in(simulate(azure_stack_name)) == []


@pytest.mark.parametrize("variant", sweep(VARIANTS, ["own labels"]))
def test_bodies_of_other_settings_are_too(simulate: Simulate, variant: str) -> None:
    assert found_in(simulate("dev-westus2", VARIANTS[variant])) == []


def test_maintenance_windows_are_what_the_api_version_takes(simulate: Simulate, azure_stack_name: str) -> None:
    for each in simulate(azure_stack_name).resources:
        if each.type == MAINTENANCE:
            sent = {"maintenanceWindow": each.inputs["maintenanceWindow"]}
            assert list(mistakes(models.MaintenanceConfiguration, sent)) == []


@in_one_test(
    ("change", "mistake"),
    [
        ({"vmsize": "x"}, "vmsize: unknown"),
        ({"mode": "user"}, "mode: 'user' is none of"),
        ({"count": "3"}, "count: '3' is no int"),
        ({"osDiskSizeGB": 4096}, "osDiskSizeGB: 4096 is out of range"),
        ({"upgradeSettings": {"drainTimeoutInMinutes": 0}}, "upgradeSettings.drainTimeoutInMinutes: 0 is out of range"),
        ({"gpuProfile": {"driver": "none"}}, "gpuProfile.driver: 'none' is none of"),
        ({"gpuProfile": {"nvidia": {}}}, "gpuProfile.nvidia: unknown"),
        ({"nodeTaints": "a=b:NoSchedule"}, "nodeTaints: not a list"),
        ({"provisioningState": "Succeeded"}, "provisioningState: read-only"),
        ({"enableAutoScaling": 1}, "enableAutoScaling: 1 is no bool"),
    ],
)
def test_the_comparison_finds_a_mistake(simulate: Simulate, change: dict[str, Any], mistake: str) -> None:
    sent = body(AGENT_POOL, simulate("dev-westus2").resource("AgentPool", "h100gpu").inputs)
    found = list(mistakes(models.AgentPool, {**sent, **change}))
    assert any(each.startswith(mistake) for each in found), found


def test_the_comparison_finds_a_missing_name_of_an_inline_pool(simulate: Simulate) -> None:
    sent = body(MANAGED_CLUSTER, simulate("dev-westus2").of_type("ManagedCluster")[0].inputs)
    del sent["agentPoolProfiles"][0]["name"]
    assert "agentPoolProfiles[0].name: required" in list(mistakes(models.ManagedCluster, sent))
