"""The kubelet of a pool: what AKS accepts, and Pods that no node would take."""

from __future__ import annotations

import pytest

from physical_ai.settings import Overlay, SettingsError, load
from physical_ai.settings.models.kubelet import Kubelet
from simulator.azure.rules.pool_nodes import POLICIES
from tests.unit.settings.settings_faults import expect, faults_of, warned

H100 = "pools.h100gpu.kubelet"
ND = (
    "pools.ndgpu={sku: Standard_ND96isr_H100_v5, driver: {source: operator}, subnet: 10.40.3.0/26, priority: Regular,"
    " scale: {count: 2}, fabric: infiniband}",
    "networkOperator={}",
)
STATIC = "cpuManagerPolicy: static"


def test_the_settings_have_the_values_that_azure_accepts() -> None:
    """Azure's values are the simulated Azure's own, from another source than the settings'."""
    fields = Kubelet.model_json_schema()["properties"]
    assert {name: tuple(fields[name]["enum"]) for name in POLICIES} == POLICIES


@pytest.mark.parametrize(
    ("assignments", "path", "problem", "fix"),
    [
        ((f"{H100}={{topologyManagerPolicy: numa}}",), f"{H100}.topologyManagerPolicy", "not", "single-numa-node"),
        ((f"{H100}={{}}",), H100, "Is empty; write topologyManagerPolicy", ""),
        ((f"{H100}={{podMaxPids: 9}}",), f"{H100}.podMaxPids", "not a setting", "cpuManagerPolicy"),
    ],
)
def test_refused(assignments: tuple[str, ...], path: str, problem: str, fix: str) -> None:
    expect(faults_of(*assignments), path, problem, fix)


@pytest.mark.parametrize(
    ("assignments", "path", "problem"),
    [
        ((*ND, f"pools.ndgpu.kubelet={{topologyManagerPolicy: single-numa-node, {STATIC}}}"), "ndgpu", "4 of 8"),
        ((f"{H100}={{topologyManagerPolicy: restricted}}",), "h100gpu", "leaves their CPUs anywhere"),
    ],
)
def test_doubtful(assignments: tuple[str, ...], path: str, problem: str) -> None:
    found = [each for each in warned(*assignments) if each.where == f"pools.{path}.kubelet.topologyManagerPolicy"]
    assert [each.problem for each in found if problem in each.problem], found


def test_what_serves_is_accepted_without_a_word() -> None:
    of_all = f"pools.ndgpu.kubelet={{topologyManagerPolicy: restricted, {STATIC}}}"
    for assignments in ((*ND, of_all), (f"{H100}={{topologyManagerPolicy: best-effort}}",), (f"{H100}={{{STATIC}}}",)):
        assert not [each for each in warned(*assignments) if "kubelet" in each.where]


def test_nodes_that_exist_are_configured_by_their_owner() -> None:
    with pytest.raises(SettingsError) as caught:
        load("onprem-lab", [Overlay.assign([f"pools.b200.kubelet={{{STATIC}}}"])])
    assert [each.where for each in caught.value.faults] == ["pools.b200.kubelet"]
