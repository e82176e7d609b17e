"""Whatever pools a stack has: operands reach every node, one driver at most does, and the chart knows every key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import yaml
from hypothesis import given
from hypothesis import strategies as st

from physical_ai import catalog
from physical_ai.catalog.compat import check_driver, check_values
from physical_ai.planning.gpu_operator import MIG_LAYOUTS, POOL_CONFIGS, GpuPlan
from physical_ai.planning.plan import make_plan
from physical_ai.settings import Overlay, Settings, SettingsError, load
from physical_ai.settings.facts.gpu import gpu_resources
from physical_ai.settings.facts.node_labels import pool_labels
from physical_ai.settings.facts.pools import node_taints, split_taint
from tests.support.examples import examples

quick = examples(80)

CHOICES = [
    (size.name, source)
    for size in catalog.vm_sizes().values()
    for source in size.driver_sources
    if not size.is_retired and size.name in catalog.region("westus2").sizes
]
CHOICES += 3 * [choice for choice in CHOICES if choice[1] == "operator"]
RELEASES = ("v25.3.4", "v25.10.1", "v26.3.3", "v26.7.0")
names = st.sampled_from(["h100gpu", "rtxprogpu", "blue", "green", "a", "a1"])
"""Few, so that a pool of one stack is often another one's, of another kind."""
taints = st.tuples(
    st.sampled_from([[], ["team=a:NoSchedule"], ["team=b:NoSchedule"]]),
    st.sampled_from([[], ["b=c:NoExecute"], ["x/y=z:PreferNoSchedule"]]),
).map(lambda parts: [*parts[0], *parts[1]])
REPLICATED = ({"timeSlicing": {"replicas": 3}}, {"mps": {"replicas": 2, "rename": True}})
MIG = (
    {"mig": {"strategy": "single", "profiles": {"1g.12gb": 7}}},
    {"mig": {"strategy": "mixed", "profiles": {"3g.47gb": 2}}, "timeSlicing": {"replicas": 2}},
)


@st.composite
def pools(draw: st.DrawFn, index: int, owner: str) -> dict[str, Any]:
    """A pool that is mostly as it may be; what a ClusterPolicy can't tell apart is the same for all."""
    size, source = draw(st.sampled_from(CHOICES))
    gpu = catalog.vm_size(size).gpu
    assert gpu is not None
    driver: dict[str, Any] = {"source": source}
    if source == "operator" and owner == "NVIDIADriver":
        driver["version"] = draw(st.sampled_from([None, "580.173.02", "595.91.07"]))
        driver["moduleType"] = draw(st.sampled_from([None, "open", "auto"]))
        driver["moduleParameters"] = draw(st.sampled_from([{}, {"nvidia-uvm": {"uvm_disable_hmm": "1"}}]))
    shared = [{}, *(REPLICATED if not gpu.host_mig else ()), *(MIG if gpu.model == "H100 NVL" else ())]
    return {
        "sku": size,
        "driver": driver,
        "scale": {"count": draw(st.integers(0, 3)), "min": None, "max": None, "initial": None},
        "priority": draw(st.sampled_from(["Spot", "Regular"])) if catalog.vm_size(size).low_priority else "Regular",
        "subnet": f"10.60.{index + 1}.0/24",
        "taints": draw(taints),
        "osDisk": {"type": "Managed", "sizeGb": 128},
        "sharing": draw(st.sampled_from(shared)),
    }


@st.composite
def drawn(draw: st.DrawFn) -> Settings | None:
    owner = draw(st.sampled_from(["NVIDIADriver", "NVIDIADriver", "ClusterPolicy"]))
    made: dict[str, Any] = {"h100gpu": None, "rtxprogpu": None}
    for index, name in enumerate(draw(st.lists(names, min_size=1, max_size=5, unique=True))):
        made[name] = draw(pools(index, owner))
    data = {
        "network": {"addressSpace": "10.60.0.0/16", "systemSubnet": "10.60.0.0/24"},
        "gpuOperator": {
            "version": draw(st.sampled_from(RELEASES)),
            "driverOwner": owner,
            "toolkit": {"version": draw(st.sampled_from([None, "v1.17.8-ubuntu20.04"]))},
            "cdi": draw(st.booleans()),
        },
        "pools": made,
    }
    try:
        return load("dev-westus2", [Overlay("random", data)]).settings
    except SettingsError:
        return None


def stacks() -> st.SearchStrategy[Settings]:
    """Settings of one to five random pools."""
    return drawn().filter(lambda stack: stack is not None).map(lambda stack: cast("Settings", stack))


def tolerates(tolerations: Sequence[Mapping[str, str]], taint: str) -> bool:
    key, _, effect = split_taint(taint)
    return any((item["key"], item["operator"], item["effect"]) == (key, "Exists", effect) for item in tolerations)


def selected(plan: GpuPlan, labels: Mapping[str, str]) -> list[str]:
    return [pool for pool, driver in plan.drivers.items() if driver.spec["nodeSelector"].items() <= labels.items()]


def labels_of(stack: Settings, pool: str) -> dict[str, str]:
    """What a node of the pool carries, as AKS labels it."""
    return {**pool_labels(pool, stack.pools[pool]), "agentpool": pool, "kubernetes.azure.com/agentpool": pool}


@quick
@given(stacks())
def test_every_taint_of_every_pool_is_tolerated_in_all_three_lists(stack: Settings) -> None:
    plan = make_plan(stack).gpu
    places = [
        plan.values["daemonsets"]["tolerations"],
        plan.values["node-feature-discovery"]["worker"]["tolerations"],
        *(driver.spec["tolerations"] for driver in plan.drivers.values()),
    ]
    for pool in stack.pools.values():
        for taint in node_taints(pool):
            assert all(tolerates(place, taint) for place in places)


@quick
@given(stacks())
def test_a_node_is_selected_by_its_pools_driver_and_no_other(stack: Settings) -> None:
    plan, owner = make_plan(stack).gpu, stack.gpu_operator.driver_owner
    for name, pool in stack.pools.items():
        wanted = [name] if pool.driver.source == "operator" and owner == "NVIDIADriver" else []
        assert selected(plan, labels_of(stack, name)) == wanted


@quick
@given(stacks(), stacks())
def test_no_node_is_selected_twice_while_one_stack_becomes_another(old: Settings, new: Settings) -> None:
    """Nodes and drivers change one after the other, so a node of either may meet drivers of both."""
    plans = [make_plan(old).gpu, make_plan(new).gpu]
    for stack in (old, new):
        for name in stack.pools:
            found = {pool for plan in plans for pool in selected(plan, labels_of(stack, name))}
            assert found <= {name}
            if stack.pools[name].driver.source != "operator":
                assert found == set()


@quick
@given(stacks())
def test_the_chart_and_the_driver_resource_know_every_key(stack: Settings) -> None:
    plan, release = make_plan(stack).gpu, stack.gpu_operator.version
    assert not any(found.is_error for found in check_values(release, plan.values))
    assert [found for driver in plan.drivers.values() for found in check_driver(release, driver.spec)] == []


@quick
@given(stacks())
def test_every_name_that_is_mounted_or_labelled_exists(stack: Settings) -> None:
    plan = make_plan(stack).gpu
    configs = plan.config_maps[POOL_CONFIGS]
    assert plan.values["devicePlugin"]["config"]["default"] in configs
    assert (MIG_LAYOUTS in plan.config_maps) is plan.values["migManager"]["enabled"]
    for name, pool in stack.pools.items():
        labels = pool_labels(name, pool)
        config = yaml.safe_load(configs[labels["nvidia.com/device-plugin.config"]])
        assert config["version"] == "v1"
        assert bool(config.get("sharing")) is bool(pool.sharing.time_slicing or pool.sharing.mps)
        assert all(count > 0 for count in gpu_resources(pool).values())
        if "nvidia.com/mig.config" in labels:
            layouts = yaml.safe_load(plan.config_maps[MIG_LAYOUTS]["config.yaml"])
            assert labels["nvidia.com/mig.config"] in layouts["mig-configs"]
    for driver in plan.drivers.values():
        assert driver.config_map is None or driver.config_map in plan.config_maps


@quick
@given(stacks())
def test_with_its_own_strategy_no_pool_meets_a_global_one(stack: Settings) -> None:
    plan = make_plan(stack).gpu
    strategies = {
        yaml.safe_load(text).get("flags", {}).get("migStrategy") for text in plan.config_maps[POOL_CONFIGS].values()
    }
    assert (None in strategies) is bool(plan.values["mig"]["strategy"])
