"""What the identity of drift detection may read: exactly the kinds that the program declares, and no Secret."""

from __future__ import annotations

import pulumi
import pytest

from physical_ai.planning import manifests
from tests.support import amd_settings
from tests.support.recording import record
from tests.unit.components.test_components_control_plane import PLATFORM
from tests.unit.conftest import Simulate
from tests.unit.parts.network_operator.test_components_network_operator import POOL as ND_POOL

GROUP = "11111111-1111-1111-1111-111111111111"
READERS = {"access": {"principals": [{"principalId": GROUP, "role": "drift-reader"}]}}
CHECKED = {"health": {"acceptance": {"diagnoseIdle": "0 3 * * *"}}}
OF_AKS_READER = {
    "Namespace",
    "ConfigMap",
    "DaemonSet",
    "ServiceAccount",
    "ResourceQuota",
    "NetworkPolicy",
    "CronJob",
    "Job",
}
"""Declared kinds that AKS RBAC Reader reads (Azure built-in roles, containers)."""
LEFT_OUT = {"Secret", "Release"}


def readable() -> set[str]:
    role, _ = manifests.load("drift-reader.yaml")
    assert {verb for rule in role["rules"] for verb in rule["verbs"]} == {"get"}
    return {resource for rule in role["rules"] for resource in rule["resources"]}


def test_it_reads_each_kind_that_the_program_declares_and_nothing_else(simulate: Simulate) -> None:
    declared = {
        each.type.rpartition(":")[2]
        for stack, settings in (
            ("dev-westus2", {**READERS, **CHECKED, "monitoring": {"metrics": "kube-prometheus"}}),
            ("prod-westus2", {**CHECKED, "monitoring": {"metrics": "azure"}}),
            ("dev-westus2", PLATFORM),
            ("dev-southeastasia", {}),
            ("prod-westeurope", {}),
            (amd_settings.STACK, amd_settings.GIVEN),
            ("dev-westus2", {"networkOperator": {}, "pools": {"ndgpu": ND_POOL}}),
        )
        for each in simulate(stack, settings).resources
        if each.type.startswith("kubernetes:")
    }
    assert set(map(plural, declared - OF_AKS_READER - LEFT_OUT)) == readable()


def plural(kind: str) -> str:
    if kind.endswith("y"):
        return f"{kind.lower()[:-1]}ies"
    return f"{kind.lower()}{'es' if kind.endswith('s') else 's'}"


def test_a_named_group_is_bound_and_reads_the_rest_by_its_azure_role(simulate: Simulate) -> None:
    recording = simulate("dev-westus2", READERS)
    binding = recording.resource("ClusterRoleBinding", "physical-ai-drift-reader")
    assert [(each["kind"], each["name"]) for each in binding.inputs["subjects"]] == [("Group", GROUP)]
    assert len([each for each in recording.of_type("RoleAssignment") if each.inputs["principalId"] == GROUP]) == 2


def test_without_a_drift_reader_there_is_no_role(simulate: Simulate) -> None:
    names = {each.name for each in simulate("dev-westus2").of_type("ClusterRole")}
    assert not any("drift" in name for name in names)


def test_a_person_cannot_be_one() -> None:
    person = {"principalId": GROUP, "principalType": "User", "role": "drift-reader"}
    with pytest.raises(pulumi.RunError, match=r"access\.principals\[0\]\.principalType"):
        record("dev-westus2", {"access": {"principals": [person]}})
