"""Times to the first GPU of the shipped stacks: what they wait for, published times, and those of the simulator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from physical_ai.catalog.node_steps import node_step
from physical_ai.catalog.timings import GPU_GATE, timing
from physical_ai.settings import load
from simulator.amd.model import BUILD_MINUTES
from simulator.gpu.live.grid_host import FETCH, INSTALL, SECONDS
from simulator.scheduling.live import SCAN_MINUTES
from tests.unit.conftest import Simulate
from workbench.cli.deployment_time import GATE, deployment_time
from workbench.first_gpu.graph import LAST, Measured, deployment, label, one_more_node, until_gpus
from workbench.first_gpu.model import Path
from workbench.first_gpu.pools import GpuPool, declared_pools, existing_pools
from workbench.first_gpu.report import document, report
from workbench.first_gpu.shortening import alternatives, gains

H100 = "Standard_NC40ads_H100_v5"
GATES = {"dev-westus2": (3.9, 16.5), "prod-westeurope": (2.9, 16.5), "quickstart-westus2": (0, 0)}
"""Minutes of the GPU gate of stacks with an operator's and a GRID pool, with an operator's pool, and without nodes."""


def pool(driver: Any = "operator", **changes: Any) -> GpuPool:
    return replace(GpuPool("h100gpu", H100, driver, 1, autoscaled=True, resource="urn", most=2), **changes)


def titles(path: Path) -> list[str]:
    return [each.key for each in path.slow]


def pools_of(simulate: Simulate, stack: str, overrides: Mapping[str, Any] | None = None) -> dict[str, GpuPool]:
    return {each.name: each for each in declared_pools(simulate(stack, overrides).stack.resources)}


def test_the_pools_are_read_from_what_is_declared(simulate: Simulate) -> None:
    found = pools_of(simulate, "prod-westeurope")
    assert {name: (each.driver, each.nodes) for name, each in found.items()} == {
        "a10gpu": ("aks", 0),
        "h100gpu": ("operator", 1),
    }
    assert not any(each.mig or each.accepted_first for each in found.values())


@pytest.mark.parametrize(
    ("overrides", "expected"),
    [
        ({"gpuOperator": {"driver": {"precompiled": True, "version": "580"}}}, ("precompiled", False, False)),
        ({"health": {"admit": "accepted"}}, ("operator", False, True)),
        (
            {"pools": {"h100gpu": {"sharing": {"mig": {"strategy": "single", "profiles": {"1g.12gb": 7}}}}}},
            ("operator", True, False),
        ),
    ],
)
def test_settings_that_change_the_way_are_seen_in_what_is_declared(
    simulate: Simulate, overrides: dict[str, Any], expected: tuple[str, bool, bool]
) -> None:
    found = pools_of(simulate, "dev-westus2", overrides)["h100gpu"]
    assert (found.driver, found.mig, found.accepted_first) == expected


def test_a_node_goes_through_its_steps_in_their_order() -> None:
    usual = ["autoscaler", "node", "labels", "driver", "toolkit", "plugin", "image", LAST]
    assert titles(one_more_node(pool())) == usual
    every = one_more_node(pool(mig=True, accepted_first=True))
    assert titles(every) == [*usual[:5], "mig", "plugin", "acceptance", "image", LAST]
    assert titles(one_more_node(pool(autoscaled=False)))[0] == "node"
    assert titles(one_more_node(pool("host", resource="")))[0] == "labels"


def test_a_pool_from_zero_waits_for_the_autoscaler_after_the_deployment(simulate: Simulate) -> None:
    resources, found = simulate("prod-westeurope").stack.resources, pools_of(simulate, "prod-westeurope")
    assert "autoscaler" in titles(deployment(resources, found["a10gpu"]))
    assert "autoscaler" not in titles(deployment(resources, found["h100gpu"]))


def test_the_first_pod_waits_for_cluster_operator_and_node_and_not_for_data_services(simulate: Simulate) -> None:
    resources, found = simulate("dev-southeastasia").stack.resources, pools_of(simulate, "dev-southeastasia")
    steps = deployment(resources, found["h100gpu"]).steps
    assert "ManagedCluster physical-ai-cluster-aks" in steps
    assert "AgentPool physical-ai-h100gpu-nodes" in steps
    assert "Release physical-ai-gpu-operator-release" in steps
    assert not [each for each in steps if each.startswith(("Server ", "RedisEnterprise ", "VirtualNetworkGateway "))]


def test_in_a_private_stack_it_also_waits_for_what_has_a_private_endpoint(simulate: Simulate) -> None:
    """The program reaches the API server by private DNS, and declares the registrations of all endpoints before it."""
    resources, found = simulate("prod-westeurope").stack.resources, pools_of(simulate, "prod-westeurope")
    steps = deployment(resources, found["h100gpu"]).steps
    assert "Server physical-ai-data-postgres-server" in steps
    assert not [each for each in steps if each.startswith("VirtualNetworkGateway ")]


def test_every_stack_has_a_plausible_time(simulate: Simulate, azure_stack_name: str) -> None:
    """An hour from nothing at most; published: half an hour for one more node with AKS' docs, ten minutes and less
    usually (Azure/AKS#4110, aks-engine#3507, kubernetes/autoscaler#3464).
    """
    resources = simulate(azure_stack_name).stack.resources
    found = report(resources, declared_pools(resources))
    for each in found.pools:
        assert each.deployment is not None
        assert 10 <= each.deployment.minutes[0] < each.deployment.minutes[1] <= 75
        assert 3 <= each.node.minutes[0] <= 8, "published: 4 to 10 minutes"
        assert 10 <= each.node.minutes[1] <= 30


def test_the_wait_for_gpus_is_the_sum_of_its_steps_for_each_installer_of_the_driver() -> None:
    assert timing(GPU_GATE).minutes == until_gpus(pool("operator")) == (2.9, 16.5)
    assert until_gpus(pool("operator"))[0] <= 3, "NVIDIA/gpu-operator#707: 3 to 5 after a restart"
    assert until_gpus(pool("grid")) == (3.9, 12.5)
    assert until_gpus(pool("operator", mig=True)) == (3.4, 19.5)
    assert until_gpus(pool("aks")) == (0.9, 4.5), "the pool's own time has the driver"


def test_the_gate_of_a_deployment_is_that_of_its_slowest_pool(simulate: Simulate) -> None:
    found = {name: deployment_time(name, simulate(name).stack).steps[GATE].minutes for name in GATES}
    assert found == GATES


def test_a_pool_without_nodes_takes_the_same_time_in_both_estimates(simulate: Simulate) -> None:
    declared = simulate("prod-westeurope").stack
    (empty,) = [each for each in declared_pools(declared.resources) if not each.nodes]
    key = next(label(each) for each in declared.resources if each.urn == empty.resource)
    steps = deployment_time("prod-westeurope", declared).steps, deployment(declared.resources, empty).steps
    assert {each[key].minutes for each in steps} == {(0.5, 3)}


def test_the_simulators_model_time_lies_within_the_ranges() -> None:
    for step, driver, minutes in (
        ("driver", "grid", (SECONDS[FETCH] + SECONDS[INSTALL]) / 60),
        ("driver", "amd", BUILD_MINUTES),
        ("autoscaler", "operator", 0.5 + SCAN_MINUTES),
    ):
        row = node_step(step, driver)
        assert row is not None
        assert row.minutes[0] <= minutes <= row.minutes[1], step


def test_a_recording_takes_the_place_of_the_catalogue_and_only_where_it_shows_something() -> None:
    measured = Measured({}, {("h100gpu", "driver"): (4.2, 4.8)}, "it.gz")
    path = one_more_node(pool(), measured)
    known = {each.key: each.known for each in path.slow}
    assert (known["driver"], known["node"], known["toolkit"]) == ("measured", "published", "estimate")
    assert path.minutes[1] == pytest.approx(one_more_node(pool()).minutes[1] - 12 + 4.8)
    assert one_more_node(pool(name="other"), measured).minutes == one_more_node(pool()).minutes


def test_a_measured_node_of_aks_has_its_driver_already() -> None:
    measured = Measured({}, {("h100gpu", "node"): (4, 5)}, "it.gz")
    path = one_more_node(pool("aks"), measured)
    assert path.steps["driver"].minutes == (0, 0)


def test_what_shortens_it_most_comes_first_and_other_paths_limit_it(simulate: Simulate) -> None:
    found = gains(one_more_node(pool()))
    assert found[0].step.key == "driver"
    assert found == sorted(found, key=lambda each: -each.minutes)
    resources = simulate("dev-westus2").stack.resources
    path = deployment(resources, pools_of(simulate, "dev-westus2")["h100gpu"])
    cpu = next(each for each in gains(path) if each.step.key == "AgentPool physical-ai-cpu-nodes")
    assert cpu.minutes < cpu.step.minutes[1], "the GPU pool is created beside it"


def test_installers_of_the_driver_are_those_of_the_size_and_the_shortest_is_first() -> None:
    found = alternatives(pool(), one_more_node)
    assert [each.driver for each in found] == ["aks", "precompiled", "operator"]
    assert [each.driver for each in found if each.present] == ["operator"]
    assert [each.minutes[1] for each in found] == sorted(each.minutes[1] for each in found)


def test_an_existing_cluster_has_no_deployment_and_no_new_machine() -> None:
    found = report((), existing_pools(load("onprem-lab").settings))
    assert found.pools
    data = document(found)
    assert data["deployment"] is None
    assert all(each["deployment"] is None for each in data["pools"])
    assert all(row["step"] not in ("autoscaler", "node") for each in data["pools"] for row in each["node"]["steps"])
