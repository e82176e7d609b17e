"""A node to which Slurm gives no jobs, as `physai why` explains it."""

from __future__ import annotations

import pytest

from parts.slurm import names
from physical_ai.readiness.workloads import explain
from tests.support.workload_objects import Scene, node
from tests.unit.readiness.test_gates_slurm import pod

HOST = "aks-h100gpu-0"
OF_SLURM = {
    "slurm-drain": Scene(
        (pod(names.NODE, HOST, Mixed="", Drain="slurm-operator: (Bad: ECC)"),), (node("h100gpu", cordoned=True),)
    ),
    "slurm-drain-stuck": Scene(
        (pod(names.NODE, HOST, Idle="", Drain="slurm-operator: Pod is terminating"),), (node("h100gpu"),)
    ),
    "slurm-drain-by-others": Scene((pod(names.NODE, HOST, Idle="", Drain="fans"),), (node("h100gpu"),)),
}
"""Cause → a cluster in which the node has it."""


@pytest.mark.parametrize(
    ("cause", "expected", "evidence"),
    [
        ("slurm-drain", ["node-cordoned", "slurm-drain"], "slurm-operator: (Bad: ECC)"),
        ("slurm-drain-stuck", ["slurm-drain-stuck"], "slurm-operator: Pod is terminating"),
        ("slurm-drain-by-others", ["slurm-drain-by-others"], "fans"),
    ],
)
def test_a_drain_is_named_with_its_reason(cause: str, expected: list[str], evidence: str) -> None:
    _, found = explain(HOST, OF_SLURM[cause].workloads())
    assert [each.cause for each in found] == expected
    assert found[-1].evidence == evidence
    assert "?" not in found[-1].reason + found[-1].fix
