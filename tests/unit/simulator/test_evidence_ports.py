"""What the recording program reads of the InfiniBand ports of a simulated machine, and what exporters print of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpu_evidence import collect
from physical_ai.catalog import vm_size
from simulator.faults.defects import DEFECTS
from simulator.gpu.hardware import of_size
from simulator.gpu.live.evidence import write_machine
from simulator.gpu.node_state import Host, NodeState
from simulator.metrics import node_exporter


@pytest.mark.parametrize(
    ("defects", "states"),
    [("", ["ACTIVE"] * 8), ("port-down", ["DOWN", *["ACTIVE"] * 7]), ("adapter-missing", ["ACTIVE"] * 7)],
)
def test_a_machine_with_infiniband_shows_its_ports(tmp_path: Path, defects: str, states: list[str]) -> None:
    hardware = of_size(vm_size("Standard_ND96isr_H100_v5"))
    assert hardware is not None
    node = {"metadata": {"name": "nd-0", "annotations": {DEFECTS: defects}}}
    write_machine(tmp_path, node, NodeState("v26.7.0", hardware, host=Host("580.173.02")))
    found = collect.ports(tmp_path)
    assert found is not None
    assert [each["state"] for each in found] == states


def test_a_machine_without_adapters_has_no_class_of_them(tmp_path: Path) -> None:
    hardware = of_size(vm_size("Standard_NC40ads_H100_v5"))
    assert hardware is not None
    write_machine(tmp_path, {"metadata": {"name": "nc-0"}}, NodeState("v26.7.0", hardware, host=Host("580.173.02")))
    assert collect.ports(tmp_path) is None


def test_a_port_that_is_down_is_down_in_its_series() -> None:
    lines = [line for line in node_exporter.page(8, 1).splitlines() if line.startswith("node_infiniband_state_id{")]
    assert [line.rpartition(" ")[2] for line in lines] == ["1", *["4"] * 7]
