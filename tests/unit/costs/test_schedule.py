"""How long steps take that wait for each other: small graphs by hand, and the stacks with a control plane."""

from __future__ import annotations

from dataclasses import replace

import pytest

from physical_ai.catalog.timings import reference, timing
from tests.unit.conftest import Simulate
from workbench.cli.deployment_time import GATE, DeploymentTime, deployment_time, document, table_rows
from workbench.costs.schedule import Activity, schedule


def names(*steps: Activity) -> list[str]:
    return [each.step.name for each in schedule(steps).path]


def test_without_steps_there_is_nothing_to_wait_for() -> None:
    assert (schedule([]).minutes, schedule([]).path) == (0, ())


def test_steps_that_wait_for_nothing_run_at_the_same_time() -> None:
    plan = schedule([Activity("a", 3), Activity("b", 5)])
    assert plan.minutes == 5
    assert [each.step.name for each in plan.path] == ["b"]


def test_a_step_begins_when_the_last_of_its_needs_ends() -> None:
    first, short = Activity("first", 1), Activity("short", 2)
    plan = schedule([Activity("join", 1, ("short", "long")), short, Activity("long", 4, ("first",)), first])
    assert (plan.steps["join"].start, plan.minutes) == (5, 6)
    assert [each.step.name for each in plan.path] == ["first", "long", "join"]


def test_a_diamond_takes_its_longer_side() -> None:
    sides = (Activity("top", 1), Activity("left", 2, ("top",)), Activity("right", 3, ("top",)))
    assert names(*sides, Activity("bottom", 1, ("left", "right"))) == ["top", "right", "bottom"]


def test_a_resource_without_dependents_can_still_be_the_longest() -> None:
    assert names(Activity("cluster", 10), Activity("agents", 5, ("cluster",)), Activity("gateway", 45)) == ["gateway"]


def test_a_need_that_is_no_step_is_there_already() -> None:
    assert schedule([Activity("a", 2, ("hub",))]).minutes == 2


def test_steps_in_a_circle_are_an_error() -> None:
    with pytest.raises(ValueError, match=r"wait for each other: (a, b, a|b, a, b)"):
        schedule([Activity("a", 1, ("b",)), Activity("b", 1, ("a",))])


def test_the_first_row_that_fits_counts_and_every_type_has_one() -> None:
    assert timing("azure-native:network:VirtualNetworkGateway").minutes == (20, 45)
    assert not timing("azure-native:network:RouteTable").published
    assert timing("random:index/randomPassword:RandomPassword").minutes[1] < 1


def modelled(simulate: Simulate, stack: str) -> DeploymentTime:
    return deployment_time(stack, simulate(stack).stack)


@pytest.mark.parametrize("stack", ["dev-southeastasia", "prod-westeurope"])
def test_a_whole_platform_takes_half_of_what_the_reference_documents(simulate: Simulate, stack: str) -> None:
    found, documented = modelled(simulate, stack), reference().minutes
    assert found.fast.minutes <= documented[0] / 2
    assert found.slow.minutes <= documented[1] / 2


@pytest.mark.parametrize("stack", ["dev-southeastasia", "prod-westeurope"])
def test_data_services_do_not_wait_for_the_cluster_nor_the_cluster_for_them(simulate: Simulate, stack: str) -> None:
    slow = modelled(simulate, stack).slow.steps
    cluster = slow["ManagedCluster physical-ai-cluster-aks"]
    for name in ("Server physical-ai-data-postgres-server", "RedisEnterprise physical-ai-data-redis-cluster"):
        assert slow[name].start < 1, "it begins with the resource group"
        assert cluster.start < slow[name].end


def test_nothing_waits_for_the_vpn(simulate: Simulate) -> None:
    stack = simulate("prod-westeurope").stack
    (gateway,) = stack.of_type("azure-native:network:VirtualNetworkGateway")
    assert not [each.name for each in stack.resources if gateway.urn in each.options.depends_on]


def test_a_cluster_behind_its_data_services_would_be_noticed(simulate: Simulate) -> None:
    stack = simulate("dev-southeastasia").stack
    (cache,) = stack.of_type("azure-native:redisenterprise:Database")
    late = tuple(
        replace(each, options=replace(each.options, depends_on=(*each.options.depends_on, cache.urn)))
        if each.type.endswith(":ManagedCluster")
        else each
        for each in stack.resources
    )
    found = deployment_time("late", replace(stack, resources=late))
    assert found.slow.minutes > reference().minutes[1] / 2


def test_the_gpus_come_after_their_nodes_and_their_operator(simulate: Simulate) -> None:
    slow = modelled(simulate, "prod-westeurope").slow.steps
    before = set(slow[GATE].step.needs)
    assert {"AgentPool physical-ai-h100gpu-nodes", "Release physical-ai-gpu-operator-release"} <= before
    assert "AgentPool physical-ai-cpu-nodes" not in before


def test_the_path_says_where_each_figure_is_from(simulate: Simulate) -> None:
    data = document(modelled(simulate, "dev-southeastasia"))
    assert data["minutes"][0] < data["minutes"][1] == data["path"][-1]["end"]
    for before, after in zip(data["path"], data["path"][1:], strict=False):
        assert after["start"] == before["end"]
    rows = table_rows(data)
    assert rows
    assert all(row[3].startswith("ours: ") or "#" in row[3] or "docs" in row[3] for row in rows)
