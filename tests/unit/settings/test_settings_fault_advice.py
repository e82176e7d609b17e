"""What a message says to write instead: in the keys and types of the place itself."""

from __future__ import annotations

from typing import Any

import pytest

from physical_ai.settings import Overlay, SettingsError, load
from physical_ai.settings.layers.shape import Shape, tree
from tests.support.cases import in_one_test
from tests.unit.settings.settings_faults import expect, faults_of, paths

ADVICE = [
    ("systemPool.zones=1", "systemPool.zones", "is not a list", '["1"]'),
    ("systemPool.zones=1,2", "systemPool.zones", "is not a list", '["1", "2"]'),
    ("access.principals=x", "access.principals", "is not a list", "[{principalId: …}]"),
    ("systemPool.scale=3", "systemPool.scale", "a map of settings", "{count: 3}"),
    ("pools.h100gpu.driver=grid", "pools.h100gpu.driver", "a map of settings", "{source: grid}"),
    ("osmo.access.roles=x", "osmo.access.roles", "a map of settings", "{name: [x]}"),
    ("monitoring.receivers=x", "monitoring.receivers", "a map of settings", "{name: {email: …}}"),
    ("network=null", "network", "missing", "systemSubnet: 10.40.0.0/24"),
    ("tags=3", "tags", "a map of settings", "{name: '3'}"),
    ("health=3", "health", "a map of settings", "Its keys: admit, acceptance, mode, "),
    ("protect=maybe", "protect", "neither true nor false", "Write true or false."),
    ("cluster.kubernetesVersion=9.99", "cluster.kubernetesVersion", "no Kubernetes version '9.99'", '"1.36"'),
    ("cluster.nodesVersion=9", "cluster.nodesVersion", "no Kubernetes version '9'", '"1.36"'),
    ("physical-ai:protect=true", "physical-ai:protect", "prefix 'physical-ai:' belongs", "Write 'protect'."),
    ("config={}", "config", "only a stack file has it", "without 'physical-ai:'"),
    ("pools.h100gpu.driver=null", "pools.h100gpu.driver", "missing", "such as driver: {source: operator}"),
    (
        "pools.h100gpu.usualLoad={nodes: 2, taskHours: 1, checkpointMinutes: 0}",
        "pools.h100gpu.usualLoad.checkpointMinutes",
        "greater than 0",
        "For none, leave the line out. Write for example: 1.5",
    ),
    ("pools.h100gpu.scale.max=none", "pools.h100gpu.scale.max", "not a whole number", "For none, leave the line out."),
    ("pools.h100gpu.scale=null", "pools.h100gpu.scale", "missing", "such as scale: {min: 0, max: 2}"),
]


@in_one_test(("assignment", "path", "problem", "fix"), ADVICE)
def test_the_advice_is_what_the_place_takes(assignment: str, path: str, problem: str, fix: str) -> None:
    expect(faults_of(assignment), path, problem, fix)


@pytest.mark.parametrize(
    ("assignment", "meant"),
    [
        ("pools.h100gp.sku=Standard_NC40ads_H100_v5", "Did you mean 'pools.h100gpu'?"),
        ("pools.nosuch.sku=Standard_NC40ads_H100_v5", "Pools: h100gpu, rtxprogpu."),
    ],
)
def test_a_misspelled_pool_is_reported_before_what_a_new_one_needs(assignment: str, meant: str) -> None:
    first, *others = faults_of(assignment)
    assert first.where == assignment.rpartition(".")[0]
    assert "a new one needs more: scale, driver, subnet." in first.problem
    assert first.fix == meant
    assert {fault.where.rpartition(".")[2] for fault in others} >= {"subnet", "scale", "driver"}


def test_a_pool_that_lacks_a_little_is_a_new_one() -> None:
    pool = "{sku: Standard_NC40ads_H100_v5, scale: {count: 1}, subnet: 10.40.4.0/24}"
    assert paths(faults_of(f"pools.other={pool}")) == ["pools.other.driver"]


@pytest.mark.parametrize("value", [True, 7, 1.25, "no such value", [[]], {"no such key": 1}])
def test_each_wrong_value_is_told_with_what_to_write(value: Any) -> None:
    """At every place of the tree, all in one run."""
    data = {key: _filled(shape, value) for key, shape in tree().fields.items() if key not in ("target", "profile")}
    with pytest.raises(SettingsError) as caught:
        load("dev-westus2", [Overlay("test", data)])
    for fault in caught.value.faults:
        assert fault.fix or fault.rule or "rite " in fault.problem, fault


def _filled(shape: Shape, value: Any) -> Any:
    if shape.kind == "model":
        return {key: _filled(field, value) for key, field in shape.fields.items()}
    if shape.kind == "map" and shape.item is not None:
        return {"name": _filled(shape.item, value)}
    return value
