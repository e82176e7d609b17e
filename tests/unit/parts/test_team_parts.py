"""Parts of a team's own: beside the platform's, listed in the project, and in place of none."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from parts.team_list import team_names
from physical_ai.input_errors import PartError
from physical_ai.planning.part_files import hiding_faults
from physical_ai.repository import PARTS, ROOT
from tests.support.team_project import STACK, TeamProject

PART = """
from __future__ import annotations

from parts.part import Part, PartPlan
from parts.site_notes.model import SiteNotes

METADATA = {"name": "site", "namespace": "site"}


def wanted(settings):
    return settings.parts.of(SiteNotes) is not None


def plan(settings, root):
    found = settings.parts.of(SiteNotes)
    if found is None:
        return None, []
    notes = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": METADATA, "data": {"text": found.text}}
    return PartPlan((), before=(notes,)), []


PART = Part(
    name="site_notes",
    title="Notes of the site",
    setting=("parts", "siteNotes"),
    resource_type="robots:index:SiteNotes",
    resource_name="site-notes",
    owned={},
    wanted=wanted,
    plan=plan,
)
"""
MODEL = '''
from physical_ai.settings.models.base import Model


class SiteNotes(Model):
    """Notes of the site."""

    text: str = "none"


SETTINGS = SiteNotes
'''
NAMESPACES = """
apiVersion: v1
kind: Namespace
metadata:
  name: site
  labels: {pod-security.kubernetes.io/enforce: restricted}
"""


@pytest.fixture
def project(tmp_path: Path) -> TeamProject:
    made = TeamProject.made(tmp_path / "team")
    made.write("parts/site_notes/part.py", PART)
    made.write("parts/site_notes/model.py", MODEL)
    made.write("parts/site_notes/namespaces.yaml", NAMESPACES)
    made.write("parts/parts.yaml", "- site_notes\n")
    return made


def physai(project: TeamProject, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "workbench.cli", *arguments],
        cwd=project.folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "agents/grid_driver")))},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.deep  # in `make test`: lists and faults of own parts, below
def test_an_own_part_is_declared_beside_the_platforms_parts(project: TeamProject) -> None:
    project.write("stacks/layers/base.yaml", "parts: {siteNotes: {text: hello}}\n")
    program = """
import json, sys
from tests.support.recording import record
from physical_ai.repository import PROJECT
names = sorted(each.name for each in record(sys.argv[1]).resources if "site" in each.name)
print(json.dumps([str(PROJECT), names]))
"""
    done = subprocess.run(
        [sys.executable, "-c", program, STACK],
        cwd=project.folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    folder, names = json.loads(done.stdout.splitlines()[-1])
    assert folder == str(project.folder)
    assert names == [
        "physical-ai-namespaces-site",
        "physical-ai-site-notes",
        "physical-ai-site-notes-site-site-config-map",
    ]


def test_a_part_with_the_name_of_one_of_the_platforms_is_refused(project: TeamProject) -> None:
    project.write("parts/slurm/part.py", PART)
    project.write("parts/parts.yaml", "- site_notes\n- slurm\n- wether\n")
    done = physai(project, "explain", STACK, "osmo.mode")
    assert done.returncode == 2
    for text in (
        "parts/parts.yaml: slurm\n  The platform has a part 'slurm' already.\n  Remove the line",
        "parts/slurm/part.py: (file)\n  The platform has a part 'slurm', which this file does not replace.",
        "parts/parts.yaml: wether\n  'wether' is listed, and there is no parts/wether/part.py.",
    ):
        assert text in done.stderr


def faults(project: TeamProject, *listed: str) -> list[str]:
    return [str(each) for each in hiding_faults(PARTS, project.folder, listed)]


def test_an_own_part_and_values_of_the_platforms_parts_are_no_fault(project: TeamProject) -> None:
    project.write("parts/slurm/slurm-values.yaml", "a: b\n")
    assert faults(project, "site_notes") == []


@pytest.mark.parametrize("package", ["parts", "components", "workbench"])
def test_a_package_that_would_hide_one_of_the_platforms_is_refused(project: TeamProject, package: str) -> None:
    project.write(f"{package}/__init__.py", "")
    (text,) = faults(project)
    assert text.startswith(f"{package}/__init__.py: (file)\n  The file makes the folder a package")


def test_the_platforms_own_checkout_hides_nothing() -> None:
    assert list(hiding_faults(PARTS, ROOT, ())) == []


@pytest.mark.parametrize(
    ("text", "message"), [("a: b\n", "a list of names"), ("- 1\n", "a list of names"), ("[", "YAML")]
)
def test_a_list_of_another_form_is_refused(project: TeamProject, text: str, message: str) -> None:
    project.write("parts/parts.yaml", text)
    with pytest.raises(PartError, match=message):
        team_names(project.folder / "parts")
