"""Capacity in a cluster of the simulated Azure: on demand where Spot ends, reserved machines, nodes kept ready."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from physical_ai.catalog.osmo import SCHEDULER
from physical_ai.planning.autoscaler import priority_expander
from physical_ai.planning.osmo_platforms import platform_template
from physical_ai.planning.warm_nodes import warm_nodes
from physical_ai.settings.facts.gpu import OPERATOR_NAMESPACE
from physical_ai.settings.facts.osmo import gpu_platforms
from simulator.cluster.objects import at
from tests.simulator.autoscaled import PATIENT, WORK, Autoscaled, autoscaled_cluster
from tests.simulator.kai import define, install
from tests.simulator.pods import create, host
from tests.support.azure_fakes import PLACE
from tests.support.gpu_settings import given_settings
from tests.support.scheduling import queue
from tests.support.waiting import until

D16 = "Standard_D16ds_v5"
CONTRIBUTOR = "b24988ac-6180-42a0-ab88-20f7382dd24c"
GPU = {"nvidia.com/gpu": "1"}
SETTINGS = (
    "pools.h100gpu.capacity={platform: h100}",
    "pools.h100reg={sku: Standard_NC40ads_H100_v5, driver: {source: operator}, subnet: 10.40.3.0/26, priority: Regular,"
    " scale: {min: 0, max: 3}, osDisk: {type: Managed, sizeGb: 512}, capacity: {platform: h100, warm: 1}}",
)
LIMITS = {"quota": {"lowPriorityCores": 40}, "capacity": {D16: 2}}
"""Quota for one Spot node with an H100, and two machines of the size that is reserved."""


@pytest.mark.deep  # in `make test`: test_scheduling_expander.py, test_scheduling_reclaim.py, test_azure_reservations.py
def test_spot_ends_a_warm_node_is_taken_and_a_reservation_is_full(
    users_tools: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """One cluster for all three, because a control plane costs more than what is shown in it."""
    folder, settings = tmp_path_factory.mktemp("capacity"), given_settings(*SETTINGS).settings
    with autoscaled_cluster(users_tools, folder, settings, LIMITS, {**PATIENT, "expander": "priority"}) as place:
        place.cluster.install(settings)
        define(place.cluster)
        install(place.cluster)
        place.cluster.apply(queue("leaf"))
        place.gpu_pool("h100gpu")
        place.gpu_pool("h100reg", maxCount=3)
        waits_for_the_order(place)
        falls_back(place)
        takes_a_warm_node(place)
        fills_a_reservation(place)


def task(place: Autoscaled, name: str) -> None:
    """A Pod of the platform that both pools serve, as the program's template for OSMO places it."""
    (item,) = [each for each in gpu_platforms(place.settings) if each.name == "h100"]
    spec = platform_template(place.settings, item)["spec"]
    placed: dict[str, Any] = {"nodeSelector": spec["nodeSelector"], "tolerations": spec["tolerations"]}
    queued = {"kai.scheduler/queue": "leaf"}
    create(place.cluster.client, name, WORK, labels=queued, requests=GPU, schedulerName=SCHEDULER, **placed)


def runs_on(place: Autoscaled, name: str) -> str:
    until(lambda: host(place.cluster.client, name, WORK), f"{name} gets no node")
    return host(place.cluster.client, name, WORK)


def waits_for_the_order(place: Autoscaled) -> None:
    """Without the ConfigMap no pool grows, as in the real autoscaler; with it, the Spot pool is first."""
    task(place, "first")
    until(lambda: place.says("first"), "the scheduler says nothing")
    assert (place.nodes("h100gpu"), place.nodes("h100reg")) == ([], [])
    for item in priority_expander(place.settings):
        place.cluster.apply(item)
    assert runs_on(place, "first") in place.nodes("h100gpu")
    assert place.nodes("h100reg") == []


def falls_back(place: Autoscaled) -> None:
    """The Spot quota is used up, so the second task gets a node on demand."""
    task(place, "second")
    assert runs_on(place, "second") in place.nodes("h100reg")
    assert "low priority vcpu quota left" in place.autoscaler_says()
    assert len(place.nodes("h100gpu")) == 1


def warm_pods(place: Autoscaled) -> list[dict[str, Any]]:
    path = f"/api/v1/namespaces/{OPERATOR_NAMESPACE}/pods"
    found: list[dict[str, Any]] = place.cluster.client.get(path)["items"]
    return [each for each in found if each["metadata"]["name"].startswith("warm-")]


def warm_hosts(place: Autoscaled) -> list[str]:
    return [str(at(each, "spec.nodeName", "")) for each in warm_pods(place)]


def takes_a_warm_node(place: Autoscaled) -> None:
    planned = warm_nodes(place.settings)
    assert planned is not None
    for item in (planned.queue, *planned.objects):
        place.cluster.apply(item)
    until(lambda: any(warm_hosts(place)), "no node is kept ready")
    (ready,) = warm_hosts(place)
    before = set(place.nodes("h100reg"))
    assert ready in before
    task(place, "third")
    assert runs_on(place, "third") == ready
    until(lambda: any(each and each != ready for each in warm_hosts(place)), "the node that was taken is not replaced")
    assert set(place.nodes("h100reg")) - before == set(warm_hosts(place))


def fills_a_reservation(place: Autoscaled) -> None:
    """A pool without the reservation leaves its machine alone; the pool that has it gets no second one."""
    azure, name = place.azure, "Microsoft.ManagedIdentity/userAssignedIdentities/plane"
    group = azure.put("CapacityReservationGroup", capacityReservationGroupName="kept", location=PLACE)
    given = {"capacityReservationGroupName": "kept", "capacityReservationName": "one", "location": PLACE}
    azure.put("CapacityReservation", **given, sku={"name": D16, "capacity": 1})
    plane = azure.cloud.azure().get(azure.id(name))
    assert plane is not None
    azure.assign(CONTRIBUTOR, plane.outputs["principalId"], group.id, 90)
    place.pool("open", D16)
    place.pool("kept", D16, capacityReservationGroupID=group.id)
    # One pool after the other: the machine that is not reserved goes to the pool that asks first.
    for pool, pods in (("open", "ab"), ("kept", "cd")):
        for pod in pods:
            place.create(pod, requests={"cpu": "12"}, nodeSelector={"agentpool": pool})
        until(lambda pods=pods: len(place.hosts(*pods)) == 1, f"{pool} has no machine, or both")
    until(lambda: "sufficient capacity for the requested VM size" in place.autoscaler_says(), "nothing is refused")
    assert (place.count("open"), place.count("kept")) == (1, 1)
