"""Workflows for the pools of a stack that a control plane serves: that stack's platforms and nodes count."""

from __future__ import annotations

from typing import Any

import pytest

from physical_ai.settings import Overlay, Settings, load
from tests.unit.settings.test_osmo_access import ACCESS, DATA
from workbench.osmo.lint import check_text, of_stack

WORKFLOW = """workflow:
  name: example
  timeout: {exec_timeout: 12h}
  resources:
    default: {platform: PLATFORM, gpu: 1, cpu: 8, memory: 64Gi, storage: 100Gi}
  tasks:
  - name: train
    image: registry.example/trainer:1.2@sha256:5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef
    command: [python, train.py]
    environment: {NVIDIA_DRIVER_CAPABILITIES: all}
"""
BACKEND = {"mode": "backend", "serviceUrl": "https://osmo.contoso.com", "backendName": "sweden"}


def settings(stack: str, **given: Any) -> Settings:
    return load(stack, [Overlay("test", given)]).settings


OWN = settings("dev-westus2", dataServices=DATA, osmo={"mode": "platform", "access": ACCESS})
SERVED = settings(
    "prod-swedencentral",
    osmo={**BACKEND, "platforms": {"h100gpu": {"name": "train"}}},
)


def found(platform: str, pool: str | None) -> list[str]:
    context = of_stack(OWN, pool, served=(SERVED,))
    return [each.rule for each in check_text(WORKFLOW.replace("PLATFORM", platform), "w.yaml", context).findings]


@pytest.mark.parametrize(
    ("platform", "pool", "rules"),
    [
        ("train", "sweden", []),
        ("h100", "sweden", ["platform-unknown"]),
        ("train", None, ["platform-unknown"]),
        # The nodes of development are Spot machines, those of production are not.
        ("h100", None, ["spot-checkpoint"]),
    ],
)
def test_a_workflow_runs_on_the_platforms_of_its_pools_cluster(
    platform: str, pool: str | None, rules: list[str]
) -> None:
    assert found(platform, pool) == rules


def test_the_configuration_knows_the_pools_of_all_clusters() -> None:
    assert {"default", "sweden"} <= set(of_stack(OWN, served=(SERVED,)).config.pool_names)
    assert "sweden" not in of_stack(OWN).config.pool_names
