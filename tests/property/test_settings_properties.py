"""Whatever a stack says: either settings whose facts agree with each other, or faults that name file and path."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any

from hypothesis import given, note
from hypothesis import strategies as st

from physical_ai import catalog
from physical_ai.catalog.aks import SPOT_LABEL, SPOT_TAINT
from physical_ai.catalog.own_names import DRIVER_LABEL
from physical_ai.settings import (
    Fault,
    Loaded,
    Overlay,
    Settings,
    SettingsError,
    StackName,
    dump,
    existing,
    load,
    load_config,
)
from physical_ai.settings.facts import pools as facts
from physical_ai.settings.facts.created import creates_cluster
from physical_ai.settings.facts.node_labels import pool_labels
from physical_ai.settings.layers.document import read_document
from physical_ai.settings.layers.paths import Path, parse, show
from tests.support.examples import examples
from tests.support.origins import origins

quick = examples(150)

STACKS = {stack: dump(load(stack).settings) for stack in existing()}
SCALARS: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 3, 1000, 10**30, 2.5, "", "1", "x", "Spot", "grid", "aks", "operator", "Ubuntu2204"),
    *("10.40.1.0/26", "10.0.0.0/8", "10.40.0.0/16", "192.168.0.0/24", "8.8.8.8", "10.245.0.1", "1.37", "33%", "0"),
    *("a=b:NoSchedule", "nvidia.com/gpu:NoSchedule", "kubernetes.io/x", "+01:00", "\ud800"),
    *catalog.vm_sizes(),
)
values = st.recursive(
    st.one_of(st.sampled_from(SCALARS), st.text(max_size=8), st.integers(), st.floats()),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=8), inner, max_size=3)),
    max_leaves=5,
)


def places(data: Any, path: Path = ()) -> Iterator[Path]:
    if path:
        yield path
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in items:
        yield from places(value, (*path, key))


def put(data: Any, path: tuple[Any, ...], value: Any) -> None:
    for step in path[:-1]:
        try:
            data = data[step]
        except (KeyError, IndexError, TypeError):
            return
    if isinstance(data, dict) or (isinstance(data, list) and isinstance(path[-1], int) and path[-1] < len(data)):
        data[path[-1]] = value


@st.composite
def mutated(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """A committed stack's settings with a few places overwritten, misspelt or removed."""
    stack = draw(st.sampled_from(sorted(STACKS)))
    data = copy.deepcopy({key: value for key, value in STACKS[stack].items() if key not in ("environment", "region")})
    for _ in range(draw(st.integers(1, 3))):
        path = draw(st.sampled_from(list(places(data))))
        misspelt = draw(st.booleans()) and draw(st.booleans())
        put(data, (*path[:-1], f"{path[-1]}{draw(st.sampled_from('xy_'))}") if misspelt else path, draw(values))
    return stack, data


GPU_CHOICES = [
    (size.name, source)
    for size in catalog.vm_sizes().values()
    for source in size.driver_sources
    if not size.is_retired and size.name in catalog.region("westus2").sizes
]
names = st.from_regex(r"[a-z][a-z0-9]{0,11}", fullmatch=True).filter(lambda name: name not in ("system", "cpu"))


@st.composite
def scales(draw: st.DrawFn) -> dict[str, int]:
    if draw(st.booleans()):
        return {"count": draw(st.integers(0, 20))}
    low = draw(st.integers(0, 10))
    high = draw(st.integers(max(1, low), 20))
    return {"min": low, "max": high, "initial": draw(st.integers(low, high))}


@st.composite
def valid(draw: st.DrawFn) -> dict[str, Any]:
    """A stack's own values that should be accepted: pools of any size, each with a subnet of its own."""
    pools: dict[str, Any] = {"h100gpu": None, "rtxprogpu": None}
    for index, name in enumerate(draw(st.lists(names, min_size=1, max_size=5, unique=True))):
        size, source = draw(st.sampled_from(GPU_CHOICES))
        pools[name] = {
            "sku": size,
            "driver": {"source": source},
            "scale": draw(scales()),
            "priority": draw(st.sampled_from(["Spot", "Regular"])),
            "subnet": f"10.60.{index + 1}.0/24",
            "labels": draw(st.dictionaries(st.sampled_from(["team", "example.com/x"]), st.sampled_from(["a", ""]))),
            "taints": draw(st.lists(st.sampled_from(["team=a:NoSchedule", "b=c:NoExecute"]), unique=True)),
            "osDisk": {"type": "Managed", "sizeGb": draw(st.sampled_from([None, 128, 2048]))},
        }
        if pools[name]["scale"].get("count") is not None:
            pools[name]["upgrade"] = {"maxSurge": draw(st.sampled_from(["1", "50%"])), "maxUnavailable": "0"}
    return {"network": {"addressSpace": "10.60.0.0/16", "systemSubnet": "10.60.0.0/24"}, "pools": pools}


def invariants(stack: Settings) -> None:
    """What the rest of the program relies on."""
    if creates_cluster(stack):
        addresses(stack)
    assert facts.gpus_per_node(stack.cpu_pool) == 0
    for name, pool in stack.pools.items():
        assert name not in ("system", "cpu")
        assert 0 <= pool.scale.initial_count <= pool.scale.most <= 1000
        assert facts.gpus_per_node(pool) >= 1
        assert pool.driver.source.value in catalog.machine(pool.sku).driver_sources
        labels, taints = pool_labels(name, pool), facts.node_taints(pool)
        assert labels[DRIVER_LABEL] == pool.driver.source.value
        assert (labels.get(SPOT_LABEL[0]) == "spot") is pool.is_spot
        assert (SPOT_TAINT in taints) is pool.is_spot is not facts.sends_upgrade_settings(pool)
        assert (facts.driver_facts(pool).gpu_profile_driver == "Install") is (
            labels.get(facts.DEPLOY_DRIVER_LABEL) == "pre-installed"
        )
        split = [facts.split_taint(taint) for taint in taints]
        assert all(key and value and effect for key, value, effect in split)
        tolerated = [(item["key"], item["effect"]) for item in facts.tolerations(pool)]
        assert sorted(tolerated) == sorted((key, effect) for key, _, effect in split)


def addresses(stack: Settings) -> None:
    """Of a network of the stack's own."""
    subnets = [stack.network.system_subnet, *(pool.subnet for pool in stack.pools.values())]
    assert all(subnet.subnet_of(stack.network.address_space) for subnet in subnets)
    ranges = [*subnets, stack.network.pod_cidr, stack.network.service_cidr]
    assert not any(one.overlaps(two) for one, two in combinations(ranges, 2))
    assert stack.network.dns_service_ip in stack.network.service_cidr
    assert facts.gpus_per_node(stack.system_pool) == 0
    for pool in stack.pools.values():
        assert pool.subnet.num_addresses >= pool.scale.most + facts.surge_nodes(pool) + 5


def named(faults: list[Fault]) -> None:
    """Every fault says where and what."""
    assert faults
    for fault in faults:
        assert fault.file
        assert fault.where
        assert fault.problem
        assert fault.is_error
        assert len(str(fault).splitlines()) == 2 + bool(fault.fix) + bool(fault.rule)
        assert bool(fault.rule) == bool(fault.source)


def attempt(call: Callable[[], Loaded]) -> Loaded | list[Fault]:
    """What came of it; no other exception is caught, so any fails the test."""
    try:
        return call()
    except SettingsError as error:
        named(error.faults)
        return error.faults


@examples(400)
@given(mutated())
def test_a_mutated_stack_is_good_settings_or_faults_with_file_and_path(case: tuple[str, dict[str, Any]]) -> None:
    stack, data = case
    found = attempt(lambda: load_config(stack, data))
    if isinstance(found, Loaded):
        invariants(found.settings)
    else:
        # The name of an existing cluster's stack is none of Azure's, should its target be lost.
        places = ("physical-ai:", "(stack name)")
        assert all(fault.where.startswith(places) for fault in found if "Pulumi" in fault.file)


@quick
@given(valid())
def test_valid_pools_are_accepted_and_their_facts_agree(data: dict[str, Any]) -> None:
    found = load_config("dev-westus2", data)
    invariants(found.settings)
    assert sorted(found.settings.pools) == sorted(name for name, pool in data["pools"].items() if pool)
    from_files = origins(found)
    for name in found.settings.pools:
        assert from_files[f"pools.{name}.sku"] == "stacks/Pulumi.dev-westus2.yaml"


@quick
@given(valid(), st.data())
def test_one_wrong_value_is_reported_at_its_own_path(data: dict[str, Any], draw: st.DataObject) -> None:
    name = draw.draw(st.sampled_from(sorted(name for name, pool in data["pools"].items() if pool)))
    key, value = draw.draw(
        st.sampled_from(
            [
                ("sku", "Standard_NC40ads_H100_v6"),
                ("priority", "spot"),
                ("maxPods", "110"),
                ("subnet", "11.0.0.0/24"),
                ("taint", []),
            ]
        )
    )
    data["pools"][name][key] = value
    found = attempt(lambda: load_config("dev-westus2", data))
    assert isinstance(found, list), f"{key}: {value} was accepted"
    assert {fault.where for fault in found} == {f"physical-ai:pools.{name}.{key}"}


yaml_texts = st.one_of(
    st.text(max_size=60),
    st.text(alphabet="ab:-[]{}&*!|>'\"#%@,\n\t 0123~.?<\\u", max_size=60),
    st.lists(st.sampled_from(["a: 1", "  b: 2", "- x", "a: {", "}", "<<: *a", "&a", "? c", "---", "...", "a: |"])).map(
        "\n".join
    ),
)


@quick
@given(yaml_texts)
def test_any_text_is_a_document_or_faults(text: str) -> None:
    document = read_document(text, "x.yaml")
    note(repr(document))
    assert isinstance(document.data, dict)
    assert all(fault.file == "x.yaml" and fault.where for fault in document.faults)


@quick
@given(st.lists(st.one_of(st.text(max_size=30), st.tuples(st.text(max_size=12), st.text(max_size=12)).map("=".join))))
def test_any_assignment_is_an_overlay_or_faults(assignments: list[str]) -> None:
    found = attempt(lambda: load("dev-westus2", [Overlay.assign(assignments)]))
    if isinstance(found, Loaded):
        invariants(found.settings)


@quick
@given(st.text(max_size=20))
def test_any_name_is_a_stack_name_or_a_fault(text: str) -> None:
    try:
        name = StackName.parse(text)
    except SettingsError as error:
        named(error.faults)
    else:
        assert str(name) == text


@quick
@given(st.lists(st.one_of(st.text(), st.integers(0, 99)), max_size=5).map(tuple))
def test_paths_survive_being_written(path: Path) -> None:
    if not path or isinstance(path[0], str):
        assert parse(show(path)) == path
