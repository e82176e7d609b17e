"""Longhorn and MetalLB in a stack: their releases, what follows them, and nothing of them by default."""

from __future__ import annotations

from typing import Any

from tests.unit.conftest import Simulate

BOTH: dict[str, Any] = {
    "storage": {"longhorn": {"defaultClass": False}},
    "loadBalancer": {"metallb": {"addresses": ["192.168.7.10-192.168.7.20"]}},
    "network": {"isolation": {"platform": "deny"}},
}
NAMESPACES = {"longhorn-system", "metallb-system"}


def test_nothing_of_them_unless_asked_for(simulate: Simulate) -> None:
    found = simulate("dev-westus2", {})
    assert not NAMESPACES & {each.inputs["metadata"]["name"] for each in found.of_type("Namespace")}
    assert not {"longhorn", "metallb"} & {each.inputs["name"] for each in found.of_type("Release")}


def test_objects_of_their_own_kinds_come_after_the_releases(simulate: Simulate) -> None:
    found = simulate("dev-westus2", BOTH)
    releases = {each.inputs["name"]: each for each in found.of_type("Release")}
    for kind, release in (
        ("VolumeSnapshotClass", "longhorn"),
        ("IPAddressPool", "metallb"),
        ("L2Advertisement", "metallb"),
    ):
        (item,) = found.of_type(kind)
        assert releases[release].urn in item.options.depends_on
    pool = found.of_type("IPAddressPool")[0].inputs
    assert pool["spec"]["addresses"] == ["192.168.7.10-192.168.7.20"]
    assert found.of_type("VolumeSnapshotClass")[0].inputs["driver"] == "driver.longhorn.io"


def test_their_namespaces_are_privileged_and_isolated(simulate: Simulate) -> None:
    found = simulate("dev-westus2", BOTH)
    levels = {
        each.inputs["metadata"]["name"]: each.inputs["metadata"]["labels"]["pod-security.kubernetes.io/enforce"]
        for each in found.of_type("Namespace")
    }
    assert {levels[each] for each in NAMESPACES} == {"privileged"}
    denied = {
        each.inputs["metadata"]["namespace"]
        for each in found.of_type("NetworkPolicy")
        if each.inputs["metadata"]["name"] == "default-deny"
    }
    assert denied >= NAMESPACES


def test_the_outputs_name_them(simulate: Simulate) -> None:
    releases = simulate("dev-westus2", BOTH).exports["releases"]
    assert releases["longhorn"] == {"version": "1.7.2", "namespace": "longhorn-system"}
    assert releases["metallb"] == {"version": "0.15.3", "namespace": "metallb-system"}
