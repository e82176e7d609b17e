"""Settings by their former names: read with a warning that names version and replacement, and refused later."""

from __future__ import annotations

from pathlib import Path

import pytest

from physical_ai.releases import renames
from physical_ai.releases.notes import Release
from physical_ai.settings import Overlay, SettingsError, load
from physical_ai.settings.layers import former_names, merge
from tests.support.releases import FIRST, release, v
from tests.support.team_project import STACK, TeamProject

NOTES = (
    FIRST,
    release(
        "0.2.0",
        renamed=(
            {"from": "monitoring.keepDays", "to": "monitoring.retentionDays", "until": "0.4.0"},
            {"from": "pools.*.most", "to": "pools.*.scale.max", "until": "0.4.0"},
        ),
    ),
    release(
        "0.3.0",
        deprecated=({"path": "protect", "instead": "Write locks.", "until": "0.5.0"},),
        removed=({"path": "cluster.speed", "instead": "Remove the line: the size decides."},),
    ),
)


@pytest.fixture
def project(tmp_path: Path) -> TeamProject:
    return TeamProject.made(tmp_path / "team")


@pytest.fixture(autouse=True)
def version(monkeypatch: pytest.MonkeyPatch) -> None:
    run_as(monkeypatch, "0.3.0")


def run_as(monkeypatch: pytest.MonkeyPatch, version: str, notes: tuple[Release, ...] = NOTES) -> None:
    """The program as if it were another version with these notes."""
    forced = renames.in_force(notes, v(version))
    warned = renames.deprecated(notes, v(version))
    monkeypatch.setattr(former_names, "in_force", lambda: forced)
    monkeypatch.setattr(former_names, "deprecated", lambda: warned)
    monkeypatch.setattr(merge, "former", lambda path: renames.former(path, notes))


def test_a_former_name_sets_the_present_one_and_warns_with_file_line_version_and_replacement(
    project: TeamProject,
) -> None:
    project.write("stacks/layers/env/dev.yaml", "monitoring:\n  keepDays: 31\n")
    loaded = project.load()
    assert loaded.settings.monitoring.retention_days == 31
    (row,) = loaded.explain("monitoring.retentionDays")
    assert row.origin == "stacks/layers/env/dev.yaml"
    (warning,) = [str(each) for each in loaded.warnings if "keepDays" in str(each)]
    assert warning == (
        "stacks/layers/env/dev.yaml:2: warning: monitoring.keepDays\n"
        "  'keepDays' was renamed in version 0.2.0.\n"
        "  Write monitoring.retentionDays, or let `physai upgrade` rewrite it. Version 0.4.0 refuses the former name."
    )


def test_a_stack_file_and_the_command_line_may_have_former_names(project: TeamProject) -> None:
    text = (project.stacks / f"Pulumi.{STACK}.yaml").read_text()
    project.write(f"stacks/Pulumi.{STACK}.yaml", f"{text}  physical-ai:monitoring: {{keepDays: 31}}\n")
    loaded = project.load()
    assert loaded.settings.monitoring.retention_days == 31
    assert "physical-ai:monitoring.keepDays" in "".join(map(str, loaded.warnings))
    assert "Write physical-ai:monitoring.retentionDays" in "".join(map(str, loaded.warnings))
    given = load(STACK, [Overlay.assign(["monitoring.keepDays=32", "pools.h100gpu.most=5"])])
    assert given.settings.monitoring.retention_days == 32
    assert given.settings.pools["h100gpu"].scale.max == 5


def test_a_wrong_value_under_a_former_name_names_the_line(project: TeamProject) -> None:
    project.write("stacks/layers/env/dev.yaml", "monitoring:\n  keepDays: many\n")
    with pytest.raises(SettingsError, match=r"stacks/layers/env/dev\.yaml:2: monitoring\.retentionDays"):
        project.load()


def test_a_deprecated_setting_works_and_warns_with_version_and_replacement(project: TeamProject) -> None:
    project.write("stacks/layers/base.yaml", "# ours\nprotect: true\n")
    loaded = project.load()
    assert loaded.settings.protect
    assert (
        "stacks/layers/base.yaml:2: warning: protect\n"
        "  'protect' is deprecated since version 0.3.0, and 0.5.0 refuses it.\n  Write locks."
    ) in [str(each) for each in loaded.warnings]


def test_both_names_in_one_file_are_refused(project: TeamProject) -> None:
    project.write("stacks/layers/env/dev.yaml", "monitoring:\n  retentionDays: 30\n  keepDays: 31\n")
    with pytest.raises(SettingsError) as caught:
        project.load()
    assert "stacks/layers/env/dev.yaml:3: monitoring.keepDays" in str(caught.value)
    assert "the former name of monitoring.retentionDays, which the file has, too" in str(caught.value)


def test_after_its_time_a_former_name_is_refused_with_the_present_one(
    project: TeamProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_as(monkeypatch, "0.4.0")
    project.write("stacks/layers/env/dev.yaml", "monitoring: {keepDays: 31}\n")
    with pytest.raises(SettingsError) as caught:
        project.load()
    assert "'keepDays' was renamed in version 0.2.0.\n  Write monitoring.retentionDays" in str(caught.value)


def test_a_removed_setting_is_told_what_to_write_instead(project: TeamProject) -> None:
    project.write("stacks/layers/base.yaml", "cluster: {speed: fast}\n")
    with pytest.raises(SettingsError) as caught:
        project.load()
    assert "'speed' was removed in version 0.3.0.\n  Remove the line: the size decides." in str(caught.value)


def test_another_version_than_the_pinned_one_is_said_with_the_errors_that_it_explains(project: TeamProject) -> None:
    project.write("requirements.txt", "# pins\nphysical-ai==0.9.0 \\\n    --hash=sha256:0\n")
    said = "requirements.txt:2: warning: physical-ai\n  The project pins version 0.9.0 of the platform, and version "
    assert said in "".join(map(str, project.load().warnings))
    project.write("stacks/layers/env/dev.yaml", "pools: {h100gpu: {keyOfTheFuture: 1}}\n")
    with pytest.raises(SettingsError) as caught:
        project.load()
    assert "keyOfTheFuture" in str(caught.value)
    assert said in str(caught.value)
