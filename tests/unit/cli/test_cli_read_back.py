"""Which changes of a preview only say that Azure lists the pools in their cluster."""

from __future__ import annotations

from typing import Any

import pytest

from physical_ai.catalog.engine_values import UNKNOWN
from physical_ai.cli.preview.changes import Run, Step
from physical_ai.cli.preview.read_back import significant

CLUSTER = "azure-native:containerservice:ManagedCluster"
CREDENTIAL = "azure-native:managedidentity:FederatedIdentityCredential"


def run(*steps: Step) -> Run:
    return Run({(step.urn, step.op): step for step in steps})


def step(kind: str, *properties: str, op: str = "update", **new: Any) -> Step:
    return Step(f"urn:{kind}:{properties}", kind, op, properties, new=new)


LISTED = step(CLUSTER, "agentPoolProfiles[1]", "agentPoolProfiles[2]")


def test_pools_that_azure_lists_in_the_cluster_are_no_change_and_neither_is_what_that_makes_unknown() -> None:
    assert significant(run(LISTED, step(CREDENTIAL, "issuer", issuer=UNKNOWN))) == []


@pytest.mark.parametrize(
    "other",
    [
        step(CLUSTER, "agentPoolProfiles[1]", "kubernetesVersion"),
        step(CLUSTER, "agentPoolProfiles[0].vmSize"),
        step(CLUSTER, "agentPoolProfiles[1]", op="replace"),
        step(CREDENTIAL, "issuer", "subject", issuer=UNKNOWN, subject="system:serviceaccount:a:b"),
        step("kubernetes:core/v1:ConfigMap", "data.key", data={"key": "other"}),
        step("kubernetes:core/v1:ConfigMap", op="delete"),
    ],
)
def test_every_other_change_counts(other: Step) -> None:
    steps = [other] if other.type == CLUSTER else [LISTED, other]
    assert significant(run(*steps)) == [other]


def test_an_unknown_value_counts_where_the_cluster_really_changes() -> None:
    cluster, credential = step(CLUSTER, "kubernetesVersion"), step(CREDENTIAL, "issuer", issuer=UNKNOWN)
    assert significant(run(cluster, credential)) == [cluster, credential]
