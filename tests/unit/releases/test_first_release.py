"""A project of each kept release is upgraded to the head: its files load, no setting or output is lost, and no resource
is replaced, unless the notes of the releases since then say so.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from components.outputs import OUTPUTS
from physical_ai.releases.notes import DATA, Release, Rename, notes_in
from physical_ai.releases.renames import keys, renamed
from tests.support.frozen_plan import (
    FIXTURES,
    RELEASE,
    Difference,
    Planned,
    differences,
    kept,
    plans_of,
    settings_paths,
    unannounced,
)
from tests.support.releases import release, v
from workbench.cli.upgrading.project import settings_files
from workbench.upgrade.rewriting import rewritten

KEPT = sorted(each.name for each in FIXTURES.iterdir())
FIX = (
    "mention it in the notes of the next release, in physical_ai/releases/data; while this release has no date there, "
    "keep it as it is now: python -m tests.support.frozen_plan write VERSION"
)
HEAD = notes_in(DATA)[-1].number
FEW = 1
"""Number of stacks that `make test` upgrades; the deep tests upgrade all."""


def since(version: str) -> list[Release]:
    """Notes of the releases after a version."""
    return [each for each in notes_in(DATA) if each.number > v(version)]


def lost(
    names: Iterable[str], known: Sequence[str], renames: Sequence[Rename], removed: Iterable[str] = ()
) -> set[str]:
    """Names of an older version that are no more, and that the notes neither rename nor remove."""
    gone = tuple(removed)
    found: set[str] = set()
    for name in names:
        present = name
        for rename in renames:
            if present == rename.old or present.startswith(f"{rename.old}."):
                head = ".".join(renamed(rename, keys(rename.old)))
                present = f"{head}{present.removeprefix(rename.old)}"
        if present not in known and not any(present == each or present.startswith(f"{each}.") for each in gone):
            found.add(name)
    return found


@pytest.mark.parametrize("version", KEPT)
def test_no_setting_of_the_release_is_lost(version: str) -> None:
    names = (FIXTURES / version / "settings.txt").read_text().split()
    renames = [each for note in since(version) for each in note.renamed]
    removed = [each.path for note in since(version) for each in note.removed]
    assert lost(names, list(settings_paths()), renames, removed) == set(), FIX


@pytest.mark.parametrize("version", KEPT)
def test_no_output_of_the_release_is_lost(version: str) -> None:
    names = (FIXTURES / version / "outputs.txt").read_text().split()
    known = [each.replace("‹name›", "*") for each in OUTPUTS]
    renames = [each for note in since(version) for each in note.outputs]
    assert lost(names, known, renames) == set(), FIX


@pytest.mark.parametrize("number", [FEW, pytest.param(None, marks=pytest.mark.deep)])
@pytest.mark.parametrize("version", KEPT)
def test_a_project_of_the_release_is_upgraded_without_a_replacement_that_the_notes_do_not_mention(
    version: str, number: int | None, tmp_path: Path
) -> None:
    project = tmp_path / "project"
    shutil.copytree(FIXTURES / version / "project", project)
    changed = rewritten(settings_files(project), since(version), HEAD)
    assert [each for each in changed.blocked if each.stops] == []
    for path, text in changed.texts.items():
        (project / path).write_text(text)
    stacks = sorted(file.stem for file in (FIXTURES / version).glob("*.yaml"))[:number]
    assert stacks
    for stack, now in plans_of(project, stacks).items():
        assert len(now) > 90, stack
        assert unannounced(differences(kept(version, stack), now), since(version)) == [], f"{stack}: {FIX}"


POOL = Planned("azure:AgentPool", "a", "Pool$AgentPool", {"vmSize": "s"})
CHART = Planned(RELEASE, "scheduler", "Kai$Release", {}, "kai v1")
CHANGED = [
    ([], "deleted"),
    ([replace(POOL, fixed={"vmSize": "t"})], "replaced"),
    ([replace(POOL, fixed={})], "replaced"),
    ([replace(POOL, parents="AgentPool")], "moved"),
]


@pytest.mark.parametrize(("after", "what"), CHANGED)
def test_a_change_that_replaces_a_resource_is_found_and_its_note_accepted(after: list[Planned], what: str) -> None:
    found = differences([POOL], after)
    assert [(each.what, each.name) for each in found] == [(what, "a")]
    assert unannounced(found, [release("0.2.0")]) == found
    told = release("0.2.0", resources=[{"type": "AgentPool", "name": "a", "what": what, "why": "x"}])
    assert unannounced(found, [told]) == []
    other = release("0.2.0", resources=[{"type": "AgentPool", "name": "b", "what": what, "why": "x"}])
    assert unannounced(found, [other]) == found


def test_another_version_of_a_chart_is_found_and_its_note_accepted() -> None:
    assert differences([POOL, CHART], [CHART, POOL]) == []
    found = differences([CHART], [replace(CHART, version="kai v2")])
    assert found == [Difference("chart", RELEASE, "scheduler", "kai v1 → kai v2")]
    told = release("0.2.0", charts=[{"chart": "kai", "from": "v1", "to": "v2"}])
    assert (unannounced(found, []), unannounced(found, [told])) == (found, [])


def test_a_name_that_is_lost_is_found_unless_the_notes_rename_or_remove_it() -> None:
    renames = release("0.2.0", renamed=[{"from": "a.*", "to": "b.*", "until": "0.4.0"}]).renamed
    assert lost(["a.*.x", "c"], ["b.*.x"], renames) == {"c"}
    assert lost(["a.*.x", "c.d"], ["b.*.x"], renames, ["c"]) == set()
    assert lost(["a.*.x"], ["a.*.y"], ()) == {"a.*.x"}
