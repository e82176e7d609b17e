"""Pools of AMD's GPUs beside NVIDIA's: each is offered, tainted and served under its vendor's own names."""

from __future__ import annotations

from typing import Any

import pytest

from physical_ai.catalog import vm_size
from physical_ai.catalog.vendors import AMD, NVIDIA, vendor_of
from physical_ai.planning.evidence_objects import evidence_objects
from physical_ai.settings import Pool, load
from physical_ai.settings.facts import acceptance
from physical_ai.settings.facts import gpu as gpu_facts
from physical_ai.settings.facts import osmo as osmo_facts
from physical_ai.settings.facts import pools as facts
from physical_ai.settings.facts.node_labels import pool_labels
from physical_ai.settings.rules.compat import gpu_stacks
from tests.support.amd_settings import MI300X, STACK, mixed_settings

POOL: dict[str, Any] = {
    "sku": MI300X,
    "driver": {"source": "operator"},
    "scale": {"count": 1},
    "subnet": "10.0.0.0/24",
}


def amd(**changes: Any) -> Pool:
    return Pool.model_validate({**POOL, **changes})


def test_the_vendor_of_a_size_follows_from_its_pci_address() -> None:
    gpu = vm_size(MI300X).gpu
    assert gpu is not None
    assert (gpu.vendor, gpu.count) == (AMD, 8)
    assert vendor_of("10de:2321") is NVIDIA
    with pytest.raises(ValueError, match="NVIDIA, AMD"):
        vendor_of("8086:0bd5")


def test_a_pool_offers_and_is_tainted_with_the_resource_of_its_vendor() -> None:
    assert facts.gpu_resource(amd()) == "amd.com/gpu"
    assert gpu_facts.gpu_resources(amd()) == {"amd.com/gpu": 8}
    spot = amd(priority="Spot")
    assert facts.node_taints(spot)[0] == "amd.com/gpu=present:NoSchedule"
    assert {"key": "amd.com/gpu", "operator": "Exists", "effect": "NoSchedule"} in facts.tolerations(spot)


def test_nothing_of_nvidias_stack_is_asked_for_on_the_nodes_of_another_vendor() -> None:
    settings = mixed_settings()
    assert list(gpu_facts.amd_pools(settings)) == ["mi300x"]
    assert "mi300x" not in gpu_facts.operator_pools(settings)
    assert "mi300x" not in gpu_facts.device_plugin_configs(settings)
    assert "mi300x" not in gpu_stacks(settings)
    assert gpu_facts.driver_version(settings, settings.pools["mi300x"]) == "6.4.3"
    assert gpu_facts.driver_version(load(STACK).settings, settings.pools["mi300x"]) is None
    labels = pool_labels("mi300x", settings.pools["mi300x"])
    assert not [key for key in labels if key.startswith("nvidia.com/")]


def test_osmo_has_no_platform_on_the_pool_and_counts_none_of_its_gpus() -> None:
    settings = mixed_settings()
    assert "mi300x" not in {item.pool for item in osmo_facts.platforms(settings)}
    assert set(osmo_facts.gpu_capacity(settings)) == {"nvidia.com/gpu"}


def test_acceptance_runs_no_program_of_nvidias_there() -> None:
    assert all("AMD" in each.skipped for each in acceptance.pool_checks(amd(), "burn-in"))


def test_the_evidence_of_gpus_leaves_the_pool_out_and_that_of_machines_does_not() -> None:
    found = evidence_objects(mixed_settings())
    assert found is not None
    machine, gpus = (str(each["spec"]["template"]["spec"]["affinity"]) for each in found.daemon_sets)
    assert "mi300x" in gpus
    assert "mi300x" not in machine
