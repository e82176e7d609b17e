"""A team's project: its layers and values lie above the platform's, and messages name the file of each."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from parts.kube_prometheus.plan import kube_prometheus_plan
from physical_ai.nested import at
from physical_ai.planning.gpu_operator.files import pool_names
from physical_ai.repository import (
    HAS_PROJECT,
    INSTALLED,
    IS_CHECKOUT,
    PARTS,
    PROJECT,
    ROOT,
    find_project,
    installed_label,
)
from physical_ai.settings import Overlay, SettingsError, load
from physical_ai.settings.layers.names import existing, layer_folders, profiles, target_layer
from physical_ai.settings.new_stack import NewFiles, propose, verified
from tests.support.team_project import STACK, TeamProject
from workbench.cli.pull_request.affected import own_files


@pytest.fixture
def project(tmp_path: Path) -> TeamProject:
    return TeamProject.made(tmp_path / "team")


def origin(project: TeamProject, path: str) -> str:
    (row,) = project.load().explain(path)
    return row.origin


def refusal(project: TeamProject) -> str:
    with pytest.raises(SettingsError) as caught:
        project.load()
    return str(caught.value)


def test_a_stack_file_alone_has_the_settings_of_the_platforms_stack(project: TeamProject) -> None:
    own, platforms = project.load(), load(STACK)
    assert own.settings == platforms.settings
    assert own.plan == platforms.plan


def test_each_layer_of_the_team_lies_above_the_platforms_of_the_same_name(project: TeamProject) -> None:
    project.write("stacks/layers/base.yaml", "monitoring: {dailyQuotaGb: 7, retentionDays: 31}\n")
    project.write("stacks/layers/env/dev.yaml", "pools: {h100gpu: {scale: {max: 3}}}\n")
    loaded = project.load()
    # The platform's layer of the environment is above the team's base.
    assert loaded.settings.monitoring.daily_quota_gb == load(STACK).settings.monitoring.daily_quota_gb
    assert origin(project, "monitoring.dailyQuotaGb") == f"{installed_label()}/layers/env/dev.yaml"
    assert (loaded.settings.monitoring.retention_days, origin(project, "monitoring.retentionDays")) == (
        31,
        "stacks/layers/base.yaml",
    )
    assert loaded.settings.pools["h100gpu"].scale.max == 3
    assert origin(project, "pools.h100gpu.scale.max") == "stacks/layers/env/dev.yaml"


def test_an_environment_of_the_teams_own_needs_no_layer_of_the_platform(project: TeamProject) -> None:
    project.write("stacks/layers/env/field.yaml", (INSTALLED / "stacks/layers/env/dev.yaml").read_text())
    stack = (project.stacks / f"Pulumi.{STACK}.yaml").read_text()
    project.write("stacks/Pulumi.field-westus2.yaml", stack)
    assert project.load("field-westus2").settings.environment == "field"
    assert existing(project.stacks) == [STACK, "field-westus2"]


def test_a_profile_of_the_teams_own_is_beside_the_platforms(project: TeamProject) -> None:
    project.write("stacks/layers/profile/lab.yaml", "osmo: {mode: namespaces}\n")
    assert {"lab", "onprem"} <= set(profiles(project.stacks))
    stack = (project.stacks / f"Pulumi.{STACK}.yaml").read_text()
    project.write(f"stacks/Pulumi.{STACK}.yaml", f"{stack}  physical-ai:profile: lab\n")
    assert project.load().settings.osmo.mode == "namespaces"


def test_a_mistake_in_a_layer_of_the_team_names_its_file_and_line(project: TeamProject) -> None:
    project.write("stacks/layers/env/dev.yaml", "pools:\n  h100gpu:\n    scale: {mx: 3}\n")
    assert "stacks/layers/env/dev.yaml:3: pools.h100gpu.scale.mx" in refusal(project)


def test_a_wrong_environment_is_told_the_platforms_environments(project: TeamProject) -> None:
    (project.stacks / f"Pulumi.{STACK}.yaml").rename(project.stacks / "Pulumi.dve-westus2.yaml")
    with pytest.raises(SettingsError, match="Did you mean 'dev-westus2'"):
        project.load("dve-westus2")


VALUES = "values/gpu-operator/values.yaml"


def test_a_values_file_of_the_team_is_merged_over_the_platforms(project: TeamProject) -> None:
    project.write(VALUES, "dcgmExporter: {resources: {limits: {memory: 999Mi}}}\n")
    values = project.load().plan.gpu.values
    before = load(STACK).plan.gpu.values
    assert at(values, "dcgmExporter.resources.limits.memory") == "999Mi"
    assert without(values, "dcgmExporter") == without(before, "dcgmExporter")
    assert [each for each in project.load().warnings if VALUES in str(each)] == []


def without(values: Mapping[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name != key}


def test_a_dead_key_in_the_teams_values_names_the_teams_file_and_a_key_of_the_platforms_its_own(
    project: TeamProject,
) -> None:
    project.write(VALUES, "dcgmExporter:\n  serviceMonitr: {enabled: true}\n")
    assert f"{VALUES}:2: dcgmExporter.serviceMonitr" in refusal(project)


def test_a_values_file_of_a_part_is_merged_over_the_parts_own(project: TeamProject) -> None:
    settings = load(STACK, [Overlay.assign(["monitoring.metrics=kube-prometheus"])]).settings
    plan, _ = kube_prometheus_plan(settings, PARTS)
    project.write("parts/kube_prometheus/kube-prometheus-stack-values.yaml", "defaultRules: {create: true}\n")
    own, faults = kube_prometheus_plan(settings, project.folder / "parts")
    assert plan is not None
    assert own is not None
    before, after = (each.release("release").values for each in (plan, own))
    assert faults == []
    assert (at(before, "defaultRules.create"), at(after, "defaultRules.create")) == (False, True)
    assert without(before, "defaultRules") == without(after, "defaultRules")


def test_a_values_file_for_a_pool_that_no_stack_has_is_refused(project: TeamProject) -> None:
    project.write("values/gpu-operator/pools/h200gpu.yaml", "driver: {}\n")
    assert "values/gpu-operator/pools/h200gpu.yaml: (file)\n  No stack has a pool 'h200gpu'." in refusal(project)


def test_a_new_stack_is_proposed_and_verified_above_the_platforms_layers(project: TeamProject) -> None:
    proposal = propose("prod-westus2", project.stacks)
    assert proposal.region_layer
    assert {"h100gpu", "rtxprogpu"} <= {pool.name for pool in proposal.pools}
    text = (ROOT / "stacks/Pulumi.prod-westus2.yaml").read_text()
    loaded = verified("prod-westus2", NewFiles({Path("Pulumi.prod-westus2.yaml"): text}), project.stacks)
    assert loaded.settings.environment == "prod"
    assert existing(project.stacks) == [STACK]


def test_the_pools_of_the_platforms_layers_are_known(project: TeamProject) -> None:
    assert {"h100gpu", "rtxprogpu"} <= pool_names(project.stacks)


def test_a_pull_request_is_judged_by_the_teams_files(project: TeamProject) -> None:
    project.write("stacks/layers/env/dev.yaml", "tags: {a: b}\n")
    assert own_files(project.stacks)[STACK] == {f"stacks/Pulumi.{STACK}.yaml", "stacks/layers/env/dev.yaml"}


def test_a_folder_without_a_project_has_complete_layers_of_its_own(tmp_path: Path) -> None:
    """Such as a copy of a checkout's stacks."""
    assert list(layer_folders(tmp_path / "stacks")) == ["stacks/layers"]
    assert list(target_layer("existing", tmp_path / "stacks")) == [
        "stacks/layers/base.yaml",
        "stacks/layers/target/existing.yaml",
    ]


def test_the_project_is_the_nearest_one_and_a_checkout_is_its_own(project: TeamProject, tmp_path: Path) -> None:
    below = project.folder / "stacks" / "layers"
    below.mkdir(parents=True)
    assert find_project(below) == project.folder
    assert find_project(tmp_path) == ROOT
    assert find_project(tmp_path, str(project.folder)) == project.folder
    project.write("Pulumi.yaml", "name: another\n")
    assert find_project(below) == ROOT
    assert (IS_CHECKOUT, HAS_PROJECT, PROJECT) == (True, True, ROOT)


def test_another_checkout_is_no_project_of_a_team(project: TeamProject) -> None:
    project.write("physical_ai/repository.py", "")
    assert find_project(project.folder) == ROOT
