"""The text about what replacing or deleting a resource costs."""

from __future__ import annotations

from typing import Any

import pytest

from physical_ai.catalog.own_names import DRIVER_LABEL
from simulator.home import Home
from simulator.simulation import Simulation
from workbench.cli.changes import Step
from workbench.cli.preview.impact import impact, is_disruptive
from workbench.cli.preview.model import Deployed
from workbench.cli.preview.sources import deployed_now

POOL = "azure-native:containerservice:AgentPool"
DRIVER = "kubernetes:nvidia.com/v1alpha1:NVIDIADriver"


def step(op: str, type: str = POOL, **more: Any) -> Step:
    return Step("urn:x::y::z::name", type, op, **more)


def impact_text(change: Step, nodes: int = 0, minutes: int = 45) -> str:
    return " ".join(impact(change, nodes, minutes))


@pytest.mark.parametrize(
    ("source", "expected"),
    [("operator", "GPU Operator installs"), ("grid", "GRID agent installs"), ("aks", "node image")],
)
def test_a_replaced_pool_shows_how_its_driver_is_installed_again(source: str, expected: str) -> None:
    replaced = step("replace", new={"nodeLabels": {DRIVER_LABEL: source}})
    shown = impact_text(replaced, nodes=3)
    assert "3 nodes lost" in shown
    assert expected in shown
    assert "up to 45 minutes" in shown
    assert "45" not in impact_text(replaced, nodes=3, minutes=0)


def test_a_pool_without_gpus_has_no_driver_to_install() -> None:
    assert "driver" not in impact_text(step("replace", new={"vmSize": "A"}), nodes=1)


def test_an_autoscaled_pool_may_lose_more_than_it_has_now() -> None:
    shown = impact_text(step("delete", old={"enableAutoScaling": True, "maxCount": 8}))
    assert shown.startswith("0 nodes lost, up to 8")
    assert "minutes" not in shown


@pytest.mark.parametrize("type", ["azure-native:operationalinsights:Workspace", "kubernetes:core/v1:Namespace"])
def test_what_holds_state_is_disruptive_to_lose_and_harmless_to_update(type: str) -> None:
    assert is_disruptive(step("replace", type))
    assert impact(step("delete", type), 0, 45)
    assert not is_disruptive(step("update", type))
    assert impact(step("update", type), 0, 45) == []


RELEASE = "kubernetes:helm.sh/v3:Release"


def release_step(name: str, old: str, new: str) -> Step:
    inputs = [{"name": name, "chart": name, "version": each} for each in (old, new)]
    return step("update", RELEASE, old=inputs[0], new=inputs[1], properties=("version",))


def test_another_version_of_the_scheduler_says_what_restarts() -> None:
    shown = impact_text(release_step("kai-scheduler", "v0.16.0", "v0.17.0"))
    assert "running Pods stay" in shown
    assert "retracted" not in shown
    assert impact(release_step("gpu-operator", "v26.3.3", "v26.7.1"), 0, 45) == []


def test_a_lower_number_after_a_retracted_version_is_no_downgrade() -> None:
    shown = impact_text(release_step("kai-scheduler", "v0.20.1", "v0.17.0"))
    assert "v0.20.1 was retracted" in shown
    assert "the change to v0.17.0 is no downgrade" in shown


def test_a_configmap_is_not_grave() -> None:
    assert not is_disruptive(step("replace", "kubernetes:core/v1:ConfigMap"))


def test_another_driver_version_is_installed_though_nothing_is_replaced() -> None:
    assert "installed again" in impact_text(step("update", DRIVER, properties=("spec.version",)))
    assert impact_text(step("update", DRIVER, properties=("spec.tolerations[2]",))) == ""


def test_before_the_first_up_nothing_is_deployed(tmp_path: Any) -> None:
    assert deployed_now(Simulation("dev-westus2", Home(tmp_path))) == Deployed(exists=False)
