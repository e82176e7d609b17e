"""A Slurm cluster in a stack: its releases in order, its namespaces, and nothing of it by default."""

from __future__ import annotations

from typing import Any

from physical_ai.catalog.charts import newest_chart
from tests.unit.conftest import Simulate
from tests.unit.parts.slurm.test_settings_slurm import given

NAMESPACES = {"slinky", "slurm"}


def stack(simulate: Simulate, **changes: Any) -> Any:
    return simulate("dev-westus2", {**given(), **changes})


def test_nothing_of_it_unless_asked_for(simulate: Simulate) -> None:
    found = simulate("dev-westus2", {})
    assert not NAMESPACES & {each.inputs["metadata"]["name"] for each in found.of_type("Namespace")}
    assert not {"slurm", "slurm-operator"} & {each.inputs["name"] for each in found.of_type("Release")}


def test_the_cluster_comes_after_its_operator(simulate: Simulate) -> None:
    releases = {each.inputs["name"]: each for each in stack(simulate).of_type("Release")}
    cluster, operator = releases["slurm"], releases["slurm-operator"]
    assert operator.urn in cluster.options.depends_on
    assert releases["gpu-operator"].urn in operator.options.depends_on
    assert operator.inputs["version"] == newest_chart("slurm-operator").version
    assert cluster.inputs["version"] == newest_chart("slurm").version
    assert (operator.inputs["namespace"], cluster.inputs["namespace"]) == ("slinky", "slurm")
    assert cluster.inputs["values"]["nodesets"]["h100gpu"]["enabled"] is True


def test_its_namespaces_have_their_levels_and_are_isolated(simulate: Simulate) -> None:
    found = stack(simulate)
    levels = {
        each.inputs["metadata"]["name"]: each.inputs["metadata"]["labels"]["pod-security.kubernetes.io/enforce"]
        for each in found.of_type("Namespace")
    }
    assert {name: levels[name] for name in NAMESPACES} == {"slinky": "baseline", "slurm": "privileged"}
    guarded = {each.inputs["metadata"]["namespace"] for each in found.of_type("NetworkPolicy")}
    assert guarded >= NAMESPACES


def test_its_nodes_keep_others_out(simulate: Simulate) -> None:
    pool = stack(simulate).resource("AgentPool", "physical-ai-h100gpu-nodes").inputs
    assert "physical-ai/slurm=present:NoSchedule" in pool["nodeTaints"]
