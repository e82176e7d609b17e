"""Any GPU pools with any versions, drivers and sharing: settings that hold together on a node, or faults with a path.

What is accepted is put before the simulator's model of the device plugin, which has been held against the real one.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any

from hypothesis import event, given
from hypothesis import strategies as st

from physical_ai.catalog import driver_branches, node_image, vm_size
from physical_ai.catalog.compat import judge_stack, judge_upgrade
from physical_ai.catalog.gpu_lookup import builds
from physical_ai.catalog.own_names import DRIVER_LABEL
from physical_ai.planning.plan import make_plan
from physical_ai.settings import DriverSource, Fault, Loaded, Overlay, Pool, Settings, SettingsError, load
from physical_ai.settings.facts import gpu as gpu_facts
from physical_ai.settings.facts import pools as facts
from physical_ai.settings.facts.labels import split_taint
from physical_ai.settings.facts.node_labels import pool_labels
from physical_ai.settings.layers.paths import parse
from physical_ai.settings.layers.shape import shape_at
from physical_ai.settings.rules.compat import gpu_stacks, judge
from simulator.gpu import sharing as device_plugin
from simulator.gpu.hardware import Mig, of_size
from tests.support.examples import examples
from tests.support.gpu_stack_examples import KNOWN, stacks

quick = examples(250)
days = st.dates(datetime.date(2025, 1, 1), datetime.date(2030, 1, 1))


def outcome(data: Mapping[str, Any]) -> Loaded | list[Fault]:
    """Settings or faults; any other exception fails the test."""
    try:
        return load("dev-westus2", [Overlay("--set", data)])
    except SettingsError as error:
        return error.faults


def agree(stack: Settings) -> None:
    """Labels, taints and tolerations: everything for GPU nodes gets onto each of them, and onto no other."""
    tolerated = {(item["key"], item["effect"]) for item in gpu_facts.all_tolerations(stack)}
    assert all(item["operator"] == "Exists" for item in gpu_facts.all_tolerations(stack))
    needed: set[tuple[str, str]] = set()
    for pool in stack.pools.values():
        split = [split_taint(taint) for taint in facts.node_taints(pool)]
        assert (facts.GPU_TAINT_KEY, "present", "NoSchedule") in split
        assert all(value for _, value, _ in split)
        needed |= {(key, effect) for key, _, effect in split}
    assert tolerated == needed


def one_owner(stack: Settings, name: str, pool: Pool) -> None:
    """Exactly one of GPU Operator, GRID installer and AKS brings the driver, and everything says so."""
    gpu, source = vm_size(pool.sku).gpu, pool.driver.source
    labels = pool_labels(name, pool)
    assert gpu is not None
    # Its guest must not touch what MIG the host has made.
    assert labels.get(gpu_facts.DEPLOY_MIG_MANAGER_LABEL) == ("false" if gpu.virtual else None)
    assert labels[DRIVER_LABEL] == source.value
    expected = {DriverSource.OPERATOR: None, DriverSource.GRID: "false", DriverSource.AKS: "pre-installed"}
    assert labels.get(facts.DEPLOY_DRIVER_LABEL) == expected[source]
    assert (facts.driver_facts(pool).gpu_profile_driver == "Install") == (source is DriverSource.AKS)
    assert gpu.virtual or source is not DriverSource.GRID
    assert not gpu.virtual or source is not DriverSource.OPERATOR
    build = gpu_facts.driver_version(stack, pool)
    if source is DriverSource.AKS:
        assert build is None
        assert gpu_facts.module_type(stack, pool) is None
    if source is DriverSource.GRID and build is not None:
        assert build in builds("grid")
    if source is DriverSource.OPERATOR:
        assert build is not None
        assert build in builds("datacenter") or build not in builds("grid")
        assert ("." in build) is not stack.gpu_operator.driver.precompiled
        assert pool.os_sku != "AzureLinux"
    assert not pool.secure_boot or (source is DriverSource.OPERATOR and stack.gpu_operator.driver.precompiled)


def one_policy(stack: Settings) -> None:
    """In a ClusterPolicy all pools have the same driver, on the same system."""
    operated = [pool for pool in stack.pools.values() if pool.driver.source is DriverSource.OPERATOR]
    if stack.gpu_operator.driver_owner != "ClusterPolicy" or not operated:
        return
    drivers = [
        (gpu_facts.driver_version(stack, pool), gpu_facts.module_type(stack, pool), pool.driver.module_parameters)
        for pool in operated
    ]
    assert all(driver == drivers[0] for driver in drivers)
    version_ = stack.cluster.kubernetes_version
    assert len({node_image(pool.os_sku, version_).name for pool in stack.pools.values()}) == 1


def planned(stack: Settings) -> None:
    """What the GPU Operator is sent: tolerations in every place, drivers on operator pools alone, one each."""
    plan = make_plan(stack).gpu
    values = plan.values
    needed = {(key, effect) for p in stack.pools.values() for key, _, effect in map(split_taint, facts.node_taints(p))}
    places = [values["daemonsets"]["tolerations"], values["node-feature-discovery"]["worker"]["tolerations"]]
    places += [driver.spec["tolerations"] for driver in plan.drivers.values()]
    for place in places:
        assert {(item["key"], item["effect"]) for item in place} >= needed
        assert all(item["operator"] == "Exists" for item in place)
    operated = [name for name, pool in stack.pools.items() if pool.driver.source is DriverSource.OPERATOR]
    is_policy = stack.gpu_operator.driver_owner == "ClusterPolicy"
    assert values["driver"]["nvidiaDriverCRD"]["enabled"] is not is_policy
    if is_policy:
        assert not plan.drivers
        assert values["driver"]["enabled"] is bool(operated)
        assert all(gpu_facts.driver_version(stack, stack.pools[n]) == values["driver"]["version"] for n in operated)
    for name, pool in stack.pools.items():
        labels = {**pool_labels(name, pool), "kubernetes.azure.com/agentpool": name}
        selected = [d for d in plan.drivers.values() if d.spec["nodeSelector"].items() <= labels.items()]
        assert len(selected) == (name in operated and not is_policy)
        assert all(d.spec["version"] == gpu_facts.driver_version(stack, pool) for d in selected)
        assert all(d.config_map is None or d.config_map in plan.config_maps for d in selected)
        assert labels[gpu_facts.DEVICE_PLUGIN_LABEL] in plan.config_maps["gpu-pool-configs"]
    cuts = any(pool.sharing.mig for pool in stack.pools.values())
    assert values["migManager"]["enabled"] is cuts


def gpus(name: str, pool: Pool, stack: Settings) -> list[Mig]:
    """The GPUs of a node of the pool, once the MIG manager has made its layout."""
    hardware = of_size(vm_size(pool.sku))
    manager = gpu_facts.mig_manager_config(stack)
    layout = pool_labels(name, pool).get(gpu_facts.MIG_CONFIG_LABEL)
    assert hardware is not None
    if layout is None or manager is None:
        return list(hardware.mig)
    assert hardware.mig_capable
    assert not hardware.vgpu
    (entry,) = manager["mig-configs"][layout]
    instances = tuple(profile for profile, count in entry["mig-devices"].items() for _ in range(count))
    return [instances for _ in hardware.mig]


def offered(stack: Settings, name: str, pool: Pool) -> dict[str, int]:
    """What the device plugin makes of the configuration on a node of the pool; CUDA has to work on it."""
    strategy = gpu_facts.mig_strategy(stack)
    config = gpu_facts.device_plugin_configs(stack)[pool_labels(name, pool)[gpu_facts.DEVICE_PLUGIN_LABEL]]
    env = {"MIG_STRATEGY": strategy} if strategy else {}
    devices = device_plugin.devices(gpus(name, pool, stack), device_plugin.strategy(env, config))
    assert device_plugin.cuda(devices) == ""
    return device_plugin.shared(devices, device_plugin.sharing(config))


@examples(600)
@given(stacks(), days)
def test_any_gpu_pools_work_on_their_nodes_or_are_refused_with_a_path(data: dict[str, Any], day: datetime.date) -> None:
    found = outcome(data)
    event("refused" if isinstance(found, list) else "accepted")
    if isinstance(found, list):
        assert found
        for fault in found:
            assert fault.is_error
            assert shape_at(parse(fault.where)) is not None, fault.where
            assert fault.problem
            assert fault.rule, str(fault)
            assert fault.source
            assert fault.fix
        return
    stack = found.settings
    agree(stack)
    planned(stack)
    one_policy(stack)
    for name, pool in stack.pools.items():
        one_owner(stack, name, pool)
        assert offered(stack, name, pool) == gpu_facts.gpu_resources(pool)
        assert not (pool.sharing.mig and gpu_facts.is_vgpu(pool))
        assert not (gpu_facts.is_vgpu(pool) and gpu_facts.MIG_CONFIG_LABEL in pool_labels(name, pool))
        retired = vm_size(pool.sku).is_retired
        assert not retired or stack.record
    stand_ins = [warning for warning in found.warnings if warning.stand_in]
    assert bool(stand_ins) == stack.record
    verdicts(stack, day)


def verdicts(stack: Settings, day: datetime.date) -> None:
    """Whatever the versions: gravest first, each said once, with rule, way out, source, and a setting to change."""
    judged = judge(stack, day, running=KNOWN[0])
    grave = [item.severity.rank for item in judged]
    assert grave == sorted(grave, reverse=True)
    assert len({(item.rule, item.problem, item.where) for item in judged}) == len(judged)
    for item in judged:
        assert item.rule
        assert item.source
        assert item.fix
        assert shape_at(parse(item.where)) is not None, item.where
        assert set(item.pools) <= set(stack.pools)
    reported = {(item.rule, item.problem) for item in judged}
    assert all({(f.rule, f.problem) for f in judge_stack(each, day)} <= reported for each in gpu_stacks(stack).values())


@quick
@given(st.integers(25, 99), st.integers(0, 12), st.integers(0, 99))
def test_a_release_that_is_not_known_newer_ones_included_is_refused_by_name(line: int, minor: int, patch: int) -> None:
    name = f"v{line}.{minor}.{patch}"
    (verdict, *others) = judge_upgrade(KNOWN[-1], name) or [None]
    if name in KNOWN:
        assert verdict is None or verdict.rule != "operator-unknown"
        return
    assert verdict is not None
    assert (verdict.rule, others) == ("operator-unknown", [])
    assert name in verdict.problem
    found = outcome({"gpuOperator": {"version": name}})
    assert isinstance(found, list)
    (fault,) = found
    assert (fault.file, fault.where, fault.rule) == ("--set", "gpuOperator.version", "operator-unknown")
    assert name in fault.problem
    assert any(release in (fault.fix or "") for release in KNOWN)


@quick
@given(st.sampled_from(sorted(driver_branches())), days, days)
def test_what_is_out_of_support_remains_so(branch: tuple[Any, int], one: datetime.date, two: datetime.date) -> None:
    earlier, later = sorted((one, two))
    build = driver_branches()[branch].builds[-1].version
    data = {"gpuOperator": {"driver": {"version": build}}} if branch[0] == "datacenter" else {}
    if branch[0] == "grid":
        known = driver_branches()[branch].builds[-1].sha256 or "0" * 64
        data |= {"pools": {"rtxprogpu": {"driver": {"version": build}}}}
        data |= {"gridDriver": {"installers": {build: {"sha256": known}}}}
    found = outcome(data)
    assert isinstance(found, Loaded)
    ended = {"driver-end-of-life", "operator-end-of-support", "kubernetes-end-of-support"}
    rules = [{item.rule for item in judge(found.settings, day)} & ended for day in (earlier, later)]
    assert rules[0] <= rules[1]
