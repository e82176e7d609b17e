"""Disruption budgets for which AKS refuses an upgrade, as previews and `physai check` name them."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any

import pytest

from physical_ai.readiness.upgrade_budgets import PATH, blocking, is_forced, is_upgrade, never_lets_go, refusal
from tests.support.cases import in_one_test

NOW = datetime.datetime(2026, 11, 27, 12, tzinfo=datetime.UTC)
SLURM = {
    "metadata": {"namespace": "slurm", "name": "slurm-workers-pdb-slurm"},
    "spec": {"maxUnavailable": 0},
    "status": {"expectedPods": 0},
}


def budget(spec: dict[str, Any], pods: int) -> dict[str, Any]:
    return {"metadata": {"namespace": "a", "name": "b"}, "spec": spec, "status": {"expectedPods": pods}}


@in_one_test(
    ("spec", "pods", "why"),
    [
        ({"maxUnavailable": 0}, 0, "maxUnavailable is 0"),
        ({"maxUnavailable": "0%"}, 2, "maxUnavailable is 0%"),
        ({"minAvailable": 1}, 1, "minAvailable is 1, of 1 Pod"),
        ({"minAvailable": "100%"}, 2, "minAvailable is 100%, of 2 Pods"),
        ({"minAvailable": 1}, 2, None),
        ({"maxUnavailable": 1}, 1, None),
        ({"maxUnavailable": "34%"}, 3, None),
        ({"minAvailable": 0}, 0, None),
        ({}, 1, None),
    ],
)
def test_why_a_budget_keeps_aks_from_upgrades(spec: dict[str, Any], pods: int, why: str | None) -> None:
    assert never_lets_go(budget(spec, pods)) == why


def test_the_budgets_of_operators_are_read_from_the_cluster() -> None:
    def get(path: str, parameters: Mapping[str, str]) -> Any:
        assert path == PATH
        return {"items": [SLURM, budget({"maxUnavailable": 1}, 3)]}

    found = blocking(get)
    assert found == ["slurm/slurm-workers-pdb-slurm (maxUnavailable is 0)"]
    text = refusal(found, None)
    assert text is not None
    assert "UnsatisfiablePDB" in text
    assert "slurm-workers-pdb-slurm" in text
    assert "cluster.upgrades.forceUntil" in text
    assert refusal([], None) is None
    assert "2026-11-27T12:00:00+00:00 has passed" in str(refusal(found, NOW))


@pytest.mark.parametrize(
    ("old", "new", "upgrade"),
    [
        ({"kubernetesVersion": "1.35"}, {"kubernetesVersion": "1.36"}, True),
        ({"orchestratorVersion": "1.35"}, {"orchestratorVersion": "1.36"}, True),
        (
            {"agentPoolProfiles": [{"orchestratorVersion": "1.35"}]},
            {"agentPoolProfiles": [{"orchestratorVersion": "1.36"}]},
            True,
        ),
        ({"kubernetesVersion": "1.36", "tags": {}}, {"kubernetesVersion": "1.36", "tags": {"a": "b"}}, False),
        (None, {"kubernetesVersion": "1.36"}, False),
    ],
)
def test_only_a_change_of_version_is_an_upgrade(old: Any, new: Any, upgrade: bool) -> None:
    assert is_upgrade(old, new) == upgrade


def test_a_forced_upgrade_has_an_end() -> None:
    assert is_forced(NOW + datetime.timedelta(hours=1), NOW)
    assert not is_forced(NOW - datetime.timedelta(hours=1), NOW)
    assert not is_forced(None, NOW)
