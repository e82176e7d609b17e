"""Networks for Pods: what is declared of them, and what is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from parts.network_operator.networks import address_pools, macvlan_networks
from physical_ai.planning.osmo_platforms import pod_templates
from physical_ai.settings import Overlay, Settings, SettingsError, load
from physical_ai.settings.rules.check import check
from tests.support.cases import in_one_test

RAIL: dict[str, Any] = {"interface": "ens2f0np0", "subnet": "192.168.100.0/24", "mtu": 9000}
OTHER = {"interface": "ens2f1np1", "subnet": "192.168.101.0/24"}
OPERATOR: dict[str, Any] = {"ofedDriver": "host", "devicePlugin": "none", "secondaryNetwork": True, "nvIpam": True}


def stack(*assignments: str, networks: dict[str, Any] | None = None, **operator: Any) -> Settings:
    given = {**OPERATOR, **operator, "networks": {"rail-0": RAIL} if networks is None else networks}
    return load("onprem-lab", [Overlay.assign([f"networkOperator={json.dumps(given)}", *assignments])]).settings


def test_a_network_has_addresses_for_the_nodes_with_gpus_and_an_interface_of_the_hosts() -> None:
    settings = stack()
    operator = settings.network_operator
    assert operator is not None
    assert address_pools(settings, operator) == {
        "rail-0": {
            "subnet": "192.168.100.0/24",
            "perNodeBlockSize": 16,
            "nodeSelector": {
                "nodeSelectorTerms": [
                    {"matchExpressions": [{"key": "agentpool", "operator": "In", "values": [pool]}]}
                    for pool in settings.pools
                ]
            },
        }
    }
    assert macvlan_networks(operator) == {
        "rail-0": {
            "networkNamespace": "osmo-workflows",
            "master": "ens2f0np0",
            "mode": "bridge",
            "mtu": 9000,
            "ipam": '{"type":"nv-ipam","poolName":"rail-0"}',
        }
    }


def test_a_network_of_some_pools_selects_their_nodes_alone() -> None:
    settings = stack(networks={"rail-0": {**RAIL, "pools": ["b200"], "gateway": "192.168.100.1"}})
    assert settings.network_operator is not None
    pool = address_pools(settings, settings.network_operator)["rail-0"]
    (term,) = pool["nodeSelector"]["nodeSelectorTerms"]
    assert (term["matchExpressions"][0]["values"], pool["gateway"]) == (["b200"], "192.168.100.1")


def test_nothing_is_declared_unless_it_is_asked_for() -> None:
    settings = stack(networks={})
    assert settings.network_operator is not None
    assert address_pools(settings, settings.network_operator) == {}
    assert macvlan_networks(settings.network_operator) == {}


@in_one_test(
    ("change", "operator", "path", "words"),
    [
        ({}, {"secondaryNetwork": False}, "networkOperator.secondaryNetwork", "Without Multus"),
        ({}, {"nvIpam": False}, "networkOperator.nvIpam", "no addresses"),
        ({"interface": "an-interface-too-long"}, {}, "rail-0.interface", "at most 15 characters"),
        ({"interface": "eth0/1"}, {}, "rail-0.interface", "at most 15 characters"),
        ({"subnet": "192.168.100.5/24"}, {}, "rail-0.subnet", "not the first address of its range"),
        ({"subnet": "192.168.100.0/31"}, {}, "rail-0.subnet", "no addresses for Pods"),
        ({"subnet": "192.168.100.0/28"}, {}, "rail-0.addressesPerNode", "each node takes 16"),
        ({"subnet": "192.168.100.0/27"}, {}, "rail-0.addressesPerNode", "can have 3 nodes"),
        ({"addressesPerNode": 0}, {}, "rail-0.addressesPerNode", ""),
        ({"gateway": "192.168.101.1"}, {}, "rail-0.gateway", "not the address of a device"),
        ({"gateway": "192.168.100.255"}, {}, "rail-0.gateway", "not the address of a device"),
        ({"mtu": 20000}, {}, "rail-0.mtu", ""),
        ({"mode": "bridged"}, {}, "rail-0.mode", ""),
        ({"pools": ["h100"]}, {}, "rail-0.pools", "no GPU pool h100"),
    ],
)
def test_what_cannot_work_is_refused(change: dict[str, Any], operator: dict[str, Any], path: str, words: str) -> None:
    with pytest.raises(SettingsError) as refused:
        stack(networks={"rail-0": {**RAIL, **change}}, **operator)
    assert path in str(refused.value)
    assert words in str(refused.value)


def test_names_are_those_of_kubernetes_and_two_networks_do_not_overlap() -> None:
    with pytest.raises(SettingsError, match="the name of a network"):
        stack(networks={"Rail_0": RAIL})
    other = {**RAIL, "interface": "ens2f1np1", "subnet": "192.168.100.128/25"}
    with pytest.raises(
        SettingsError, match=r"overlaps 192\.168\.100\.0/24 \(networkOperator\.networks\.rail-0\.subnet\)"
    ):
        stack(networks={"rail-0": RAIL, "rail-1": other})


def test_on_azure_they_are_reported_and_kept_apart_from_its_network() -> None:
    def on_azure(subnet: str) -> Settings:
        networks = {"rail-0": {**RAIL, "subnet": subnet}}
        given = json.dumps({**OPERATOR, "networks": networks})
        return load("dev-westus2", [Overlay.assign([f"networkOperator={given}"])]).settings

    found = [each for each in check(on_azure("192.168.100.0/24")) if each.rule == "pod-network"]
    assert ["no layer 2" in each.problem for each in found] == [True]
    with pytest.raises(SettingsError, match=r"network\.addressSpace"):
        on_azure("10.40.0.0/20")


@pytest.mark.parametrize(
    ("networks", "named", "words"),
    [
        ({"rail-0": RAIL}, "[rail-7]", "There is no network rail-7"),
        ({}, "[rail-0]", "Describe it in networkOperator.networks"),
        ({"rail-0": {**RAIL, "pools": ["rtxpro"]}}, "[rail-0]", "get no addresses of rail-0"),
    ],
)
def test_a_platform_names_networks_that_its_nodes_have(networks: dict[str, Any], named: str, words: str) -> None:
    with pytest.raises(SettingsError) as refused:
        stack(f"osmo.platforms.b200.networks={named}", networks=networks)
    assert "osmo.platforms.b200.networks" in str(refused.value)
    assert words in str(refused.value)


def test_tasks_of_a_platform_name_its_networks() -> None:
    settings = stack("osmo.platforms.b200.networks=[rail-0, rail-1]", networks={"rail-0": RAIL, "rail-1": OTHER})
    metadata = pod_templates(settings)["platform-b200"]["metadata"]
    assert metadata["annotations"] == {"k8s.v1.cni.cncf.io/networks": "rail-0,rail-1"}
    assert "annotations" not in pod_templates(settings)["platform-rtxpro"]["metadata"]
