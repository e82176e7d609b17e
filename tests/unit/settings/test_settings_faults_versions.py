"""Versions of Kubernetes and node systems that do not work together, or whose support ends."""

from __future__ import annotations

import datetime

import pytest

from physical_ai.findings import Severity
from physical_ai.settings import load
from physical_ai.settings.rules.check import check
from tests.unit.settings.settings_faults import expect, faults_of, warned


def test_ubuntu_2204_ends_with_kubernetes_136() -> None:
    assert not warned("pools.h100gpu.osSku=Ubuntu2204", "pools.rtxprogpu.osSku=Ubuntu2204")
    found = faults_of("pools.h100gpu.osSku=Ubuntu2204", "cluster.kubernetesVersion=1.37")
    expect(found, "pools.h100gpu.osSku", "works up to Kubernetes 1.36")


def test_operator_pools_with_different_node_systems_warn() -> None:
    other = "{sku: Standard_NC24ads_A100_v4, driver: {source: operator}, scale: {count: 1}, subnet: 10.40.9.0/27, "
    expect(warned(f"pools.a100={other} osSku: Ubuntu2204}}"), "pools.a100.osSku", "one node operating system")
    assert not warned(f"pools.a100={other} osSku: Ubuntu}}")


def test_support_of_a_kubernetes_version_ends_with_its_date() -> None:
    loaded = load("dev-westus2").settings
    assert not check(loaded, today=datetime.date(2027, 6, 30))
    (ended,) = check(loaded, today=datetime.date(2027, 7, 1))
    assert ended.severity is Severity.WARNING
    assert "ended in June 2027" in ended.problem
    (early,) = check(loaded, today=datetime.date(2026, 5, 1))
    assert "is due on AKS in June 2026" in early.problem


@pytest.mark.parametrize("channel", ["rapid", "stable"])
def test_a_channel_that_moves_the_minor_is_refused_with_its_reason(channel: str) -> None:
    found = faults_of(f"cluster.upgrades.channel={channel}")
    expect(found, "cluster.upgrades.channel", "downgrade")
    assert "patch, node-image or none" in found[0].problem


def test_an_exact_version_is_refused_beside_a_channel_that_leaves_it() -> None:
    expect(faults_of("cluster.kubernetesVersion='1.36.3'"), "cluster.kubernetesVersion", "downgrade", '"1.36"')
    for channel in ("none", "node-image"):
        assert not warned("cluster.kubernetesVersion='1.36.3'", f"cluster.upgrades.channel={channel}")


@pytest.mark.parametrize(
    ("nodes", "problem"),
    [("1.37", "never newer"), ("1.32", "at most 3 minors older"), ("1.36.9", None), ("1.33", None), ("1.36", None)],
)
def test_nodes_are_as_new_as_the_control_plane_or_a_little_older(nodes: str, problem: str | None) -> None:
    assignment = f"cluster.nodesVersion='{nodes}'"
    if problem is None:
        assert not [fault for fault in warned(assignment) if "nodesVersion" in fault.where]
    else:
        expect(faults_of(assignment), "cluster.nodesVersion", problem, '"1.33" to "1.36"')


@pytest.mark.parametrize(
    ("given", "says"),
    [("soon", "'soon' is not a time"), ("2026-12-01T04:00:00", "lacks the distance to UTC"), ("5", "not a time")],
)
def test_the_end_of_forced_upgrades_is_a_moment(given: str, says: str) -> None:
    expect(faults_of(f"cluster.upgrades.forceUntil='{given}'"), "cluster.upgrades.forceUntil", says)
