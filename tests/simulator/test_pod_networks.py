"""Networks for Pods in a whole cluster: a Pod has a second interface, and nothing is left of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from simulator import leftovers
from simulator.existing_cluster import FOUND, id_of
from simulator.home import Home
from simulator.inventory import Inventory, differences, inventory
from simulator.kubernetes.definitions import DEFINITIONS
from simulator.simulation import Simulation
from tests.simulator.physai import physai
from tests.support.waiting import until
from workbench.cli.progress import Progress

STACK = "onprem-lab"
STATUS = "k8s.v1.cni.cncf.io/network-status"
RAILS = {
    "rail-0": {"interface": "ens2f0np0", "subnet": "192.168.100.0/24", "mtu": 9000, "pools": ["b200"]},
    "rail-1": {"interface": "ens2f1np1", "subnet": "192.168.101.0/24"},
}
OPERATOR = {"ofedDriver": "host", "devicePlugin": "none", "secondaryNetwork": True, "nvIpam": True, "networks": RAILS}
POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "two", "annotations": {"k8s.v1.cni.cncf.io/networks": "rail-0,rail-1"}},
    "spec": {"nodeName": "b200-1", "containers": [{"name": "main", "image": "ubuntu"}]},
}


@pytest.mark.deep
def test_a_pod_has_an_interface_on_each_network_that_it_names(home: Home, tmp_path: Path) -> None:
    overlay = tmp_path / "rails.yaml"
    platforms = {"b200": {"networks": ["rail-0", "rail-1"]}}
    overlay.write_text(yaml.safe_dump({"networkOperator": OPERATOR, "osmo": {"platforms": platforms}}))
    physai("up", STACK, "-f", str(overlay))
    simulation = Simulation(STACK, home)
    clusters = simulation.clusters()
    cluster = id_of(clusters)
    assert cluster is not None
    client = clusters.client(cluster)

    pools = "/apis/nv-ipam.nvidia.com/v1alpha1/namespaces/network-operator/ippools"

    def nodes_of(pool: str) -> list[str]:
        found: dict[str, Any] = client.get(f"{pools}/{pool}").get("status", {})
        return [each["nodeName"] for each in found.get("allocations", [])]

    def reasons(pod: str) -> set[str]:
        events = client.get("/api/v1/namespaces/osmo-workflows/events")["items"]
        return {each["reason"] for each in events if each["involvedObject"]["name"] == pod}

    until(lambda: nodes_of("rail-0") == ["b200-1"], "rail-0 has other nodes")
    until(lambda: nodes_of("rail-1") == ["b200-1", "rtxpro-1", "rtxpro-2"], "rail-1 has other nodes")
    pods = "/api/v1/namespaces/osmo-workflows/pods"
    client.request("POST", pods, POD)
    until(lambda: STATUS in client.get(f"{pods}/two")["metadata"]["annotations"], "the Pod has no second interface")
    given = json.loads(client.get(f"{pods}/two")["metadata"]["annotations"][STATUS])
    eth0, first, second = given
    assert (eth0["interface"], first["name"], first["ips"]) == ("eth0", "osmo-workflows/rail-0", ["192.168.100.1"])
    assert (second["interface"], second["ips"]) == ("net2", ["192.168.101.1"])
    lost = {**POD, "metadata": {"name": "lost", "annotations": {"k8s.v1.cni.cncf.io/networks": "rail-9"}}}
    client.request("POST", pods, lost)
    until(lambda: "FailedCreatePodSandBox" in reasons("lost"), "nobody says that the network is missing")
    item = client.get(f"{pods}/lost")
    assert item["status"]["phase"] == "Pending"
    assert item["status"]["containerStatuses"][0]["state"] == {"waiting": {"reason": "ContainerCreating"}}
    definitions = "/apis/k8s.cni.cncf.io/v1/namespaces/osmo-workflows/network-attachment-definitions"
    made = {"apiVersion": "k8s.cni.cncf.io/v1", "kind": "NetworkAttachmentDefinition", "metadata": {"name": "rail-9"}}
    client.request("POST", definitions, {**made, "spec": {"config": "{}"}})
    until(lambda: client.get(f"{pods}/lost")["status"]["phase"] == "Running", "the Pod does not start with its network")
    client.request("DELETE", f"{definitions}/rail-9")
    before: Inventory = json.loads((simulation.folder / FOUND).read_text())
    with Progress() as progress:
        simulation.destroy(progress)
    # The stack has `target.leave: nothing`: neither the kinds nor the label of the Network Operator remain.
    _, without_reason = leftovers.by_reason(differences(before, inventory(client)))
    assert without_reason == []
    kinds = {each["metadata"]["name"] for each in client.get(DEFINITIONS)["items"]}
    assert not {each for each in kinds if each.endswith(("nv-ipam.nvidia.com", "mellanox.com", "k8s.cni.cncf.io"))}
