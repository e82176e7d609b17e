"""The models of nv-ipam, of networks of the Network Operator and of Multus, against what the originals write."""

from __future__ import annotations

import json
from typing import Any

import pytest

from parts.network_operator.networks import address_pools, macvlan_networks
from simulator.charts.crds import definitions
from simulator.network_operator import networks as model
from tests.unit.parts.network_operator.test_networks import RAIL, stack

Json = dict[str, Any]


def node(name: str, pool: str = "b200") -> Json:
    return {"metadata": {"name": name, "labels": {"agentpool": pool}}}


def addresses(subnet: str = "192.168.100.0/28", size: int = 4, **more: Any) -> Json:
    selector = {
        "nodeSelectorTerms": [{"matchExpressions": [{"key": "agentpool", "operator": "In", "values": ["b200"]}]}]
    }
    spec = {"subnet": subnet, "perNodeBlockSize": size, "nodeSelector": selector, **more}
    return {"metadata": {"name": "rail-0"}, "spec": spec}


def network(**spec: Any) -> Json:
    return {
        "apiVersion": "mellanox.com/v1alpha1",
        "kind": "MacvlanNetwork",
        "metadata": {"name": "rail-0", "uid": "u"},
        "spec": {
            "networkNamespace": "osmo-workflows",
            "master": "ens2f0np0",
            "mode": "bridge",
            "ipam": '{"type": "nv-ipam", "poolName": "rail-0"}',
            **spec,
        },
    }


def test_a_definition_is_what_the_operator_s_manifest_renders() -> None:
    made = model.attachment(network(mtu=9000))
    assert made["metadata"]["namespace"] == "osmo-workflows"
    assert json.loads(made["spec"]["config"]) == {
        "cniVersion": "0.3.1",
        "name": "rail-0",
        "type": "macvlan",
        "master": "ens2f0np0",
        "mode": "bridge",
        "mtu": 9000,
        "ipam": {"type": "nv-ipam", "poolName": "rail-0"},
    }
    assert model.attachment(network(networkNamespace=""))["metadata"]["namespace"] == "default"
    assert json.loads(model.attachment(network(ipam=""))["spec"]["config"])["ipam"] == {}


def test_each_node_has_a_block_after_the_subnet_s_own_address_and_before_that_of_broadcasts() -> None:
    nodes = [node("c"), node("a"), node("b"), node("d"), node("other", "rtxpro")]
    assert model.allocations(addresses(), nodes) == [
        {"nodeName": "a", "startIP": "192.168.100.1", "endIP": "192.168.100.4"},
        {"nodeName": "b", "startIP": "192.168.100.5", "endIP": "192.168.100.8"},
        {"nodeName": "c", "startIP": "192.168.100.9", "endIP": "192.168.100.12"},
    ], "the fourth would end at the address of broadcasts"


def test_a_node_keeps_its_block_and_that_of_a_node_that_went_is_free() -> None:
    pool = addresses()
    pool["status"] = {"allocations": model.allocations(pool, [node("a"), node("b")])}
    assert [each["startIP"] for each in model.allocations(pool, [node("b"), node("c")])] == [
        "192.168.100.5",
        "192.168.100.1",
    ]


def pod(name: str, wanted: str = "rail-0", on: str = "a", phase: str = "Running", **annotations: str) -> Json:
    given = {model.WANTED: wanted, **annotations} if wanted else annotations
    metadata = {"name": name, "namespace": "osmo-workflows", "annotations": given}
    return {"metadata": metadata, "spec": {"nodeName": on}, "status": {"phase": phase, "podIP": "10.0.0.9"}}


def given(pods: list[Json], **pool: Any) -> dict[str, list[Json]]:
    made = addresses(**pool)
    made["status"] = {"allocations": model.allocations(made, [node("a"), node("b")])}
    attached = {("osmo-workflows", "rail-0"): model.attachment(network())}
    found = model.interfaces(pods, {"rail-0": made}, attached)
    return {name: json.loads(text) for (_, name), text in found.items()}


def test_a_pod_that_names_a_network_has_a_second_interface_with_an_address_of_its_node() -> None:
    found = given([pod("one"), pod("two", "osmo-workflows/rail-0", on="b"), pod("three"), pod("plain", "")])
    assert {name: (each[1]["interface"], each[1]["ips"]) for name, each in found.items()} == {
        "one": ("net1", ["192.168.100.1"]),
        "three": ("net1", ["192.168.100.2"]),
        "two": ("net1", ["192.168.100.5"]),
    }
    assert {each[0]["interface"] for each in found.values()} == {"eth0"}


@pytest.mark.parametrize(
    "waiting",
    [pod("p", "rail-1"), pod("p", "default/rail-0"), pod("p", on="c"), pod("p", phase="Pending")],
)
def test_without_network_block_or_start_a_pod_has_none(waiting: Json) -> None:
    assert given([waiting]) == {}


@pytest.mark.parametrize(
    ("wanted", "lacks"),
    [
        ("rail-0", ""),
        ("osmo-workflows/rail-0", ""),
        ("rail-0@net5", ""),
        ('[{"name": "rail-0"}]', ""),
        ("rail-0,rail-9", "(rail-9) in namespace (osmo-workflows)"),
        ("default/rail-0", "(rail-0) in namespace (default)"),
        ('[{"name": "rail-0", "namespace": "default"}]', "(rail-0) in namespace (default)"),
        ("", ""),
    ],
)
def test_a_pod_whose_network_does_not_exist_has_no_sandbox(wanted: str, lacks: str) -> None:
    said = model.missing(pod("p", wanted), {("osmo-workflows", "rail-0")})
    assert bool(said) is bool(lacks)
    assert not lacks or f"cannot find a network-attachment-definition {lacks}" in said


def test_no_pod_gets_the_gateway_or_more_addresses_than_there_are() -> None:
    found = given([pod(f"p{number}") for number in range(5)], gateway="192.168.100.1")
    assert [each[1]["ips"][0] for each in found.values()] == ["192.168.100.2", "192.168.100.3", "192.168.100.4"]


def strange(value: Any, schema: Json, path: str = "spec") -> list[str]:
    """What a strict API server refuses: fields that are not there, or missing, and values of another type."""
    match value:
        case dict():
            fields: Json = value
            known: Json = schema.get("properties", {})
            lacking = [f"{path}.{key} is required" for key in schema.get("required", []) if key not in fields]
            unknown = [f"{path}.{key} is unknown" for key in fields if key not in known]
            inner = [
                each for key in fields if key in known for each in strange(fields[key], known[key], f"{path}.{key}")
            ]
            return [*lacking, *unknown, *inner]
        case list():
            items: list[Any] = value
            return [each for item in items for each in strange(item, schema["items"], f"{path}[]")]
        case _:
            right = {"string": str, "integer": int}[schema["type"]]
            allowed = value in schema.get("enum", [value]) and (
                isinstance(value, str) or value >= schema.get("minimum", 0)
            )
            return [] if isinstance(value, right) and allowed else [f"{path} is {value}"]


@pytest.mark.parametrize("release", ["v25.7.0", "v26.7.0"])
def test_what_a_stack_declares_fits_the_genuine_kinds(release: str) -> None:
    settings = stack(networks={"rail-0": {**RAIL, "gateway": "192.168.100.1"}}, version=release)
    operator = settings.network_operator
    assert operator is not None
    kinds = {
        each["spec"]["names"]["kind"]: each
        for chart in ("nv-ipam", "network-operator")
        for each in definitions(chart, release)
    }
    for kind, specs in (("IPPool", address_pools(settings, operator)), ("MacvlanNetwork", macvlan_networks(operator))):
        schema = kinds[kind]["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
        assert strange(specs["rail-0"], schema) == []
