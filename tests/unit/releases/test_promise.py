"""The promise of docs/upgrades.md, kept by the notes of each release."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from physical_ai.releases.notes import DATA, Deprecation, Release, notes_in
from physical_ai.releases.versions import Version
from tests.support.cases import in_one_test
from tests.support.releases import release

KEPT = 2
"""Minor releases for which a former name works before 1.0.0."""
KEPT_FOR_GOOD = ("AgentPool", "ManagedCluster")
"""Kinds of resources that only a major release replaces or deletes."""


def broken(note: Release, earlier: Sequence[Release]) -> Iterator[str]:
    """Promises that the notes of a release break."""
    number = note.number
    if number.patch:
        given = {"renamed": note.renamed, "removed": note.removed, "outputs": note.outputs}
        yield from (f"a patch release has {key}" for key, value in given.items() if value)
        yield from (f"a patch release has {e.type} {e.what}" for e in note.resources if e.what != "restarted")
        yield from (f"a patch release requires the step {e.id}" for e in note.steps if e.required)
        if not note.back.open:
            yield "a patch release has no way back"
    for each in (*note.renamed, *note.outputs, *note.deprecated):
        until = Version.parse(each.until)
        if until.major == number.major and (number.major or until.minor < number.minor + KEPT):
            name = each.path if isinstance(each, Deprecation) else each.old
            yield f"{name} works until {until} only"
    warned = {e.path: e.until for each in earlier for e in each.deprecated}
    for each in note.removed:
        if not each.cut and (each.path not in warned or Version.parse(warned[each.path]) > number):
            yield f"{each.path} is removed without a warning in an earlier release"
        if not each.cut and number.major and number.minor:
            yield f"{each.path} is removed by a minor release"
    if number.minor or number.patch:
        for effect in note.resources:
            if effect.type.endswith(KEPT_FOR_GOOD) and effect.what in ("replaced", "deleted"):
                yield f"an {effect.type} is {effect.what} by a minor release"
    for step in note.steps:
        if step.required and step.when == "after":
            yield f"the step {step.id} comes after the deployment, so that nothing can require it"


def test_the_notes_keep_the_promise() -> None:
    notes = notes_in(DATA)
    assert [text for place, note in enumerate(notes) for text in broken(note, notes[:place])] == []


RENAME = {"from": "a", "to": "b", "until": "0.4.0"}
WARNED = release("0.2.0", deprecated=[{"path": "a", "instead": "x", "until": "0.4.0"}])
REMOVED = {"path": "a", "instead": "x"}
POOL = {"type": "AgentPool", "what": "replaced", "why": "x"}
STEP = {"id": "s", "text": "x", "when": "before", "required": True}


@in_one_test(
    ("note", "text"),
    [
        (release("0.2.1", renamed=[{**RENAME, "until": "0.5.0"}]), "a patch release has renamed"),
        (release("0.2.1", resources=[{"type": "t", "what": "replaced", "why": "x"}]), "a patch release has t replaced"),
        (release("0.2.1", steps=[STEP]), "a patch release requires the step s"),
        (release("0.2.1", back={"open": False, "text": "x"}), "a patch release has no way back"),
        (release("0.3.0", renamed=[RENAME]), "a works until 0.4.0 only"),
        (release("0.3.0", outputs=[RENAME]), "a works until 0.4.0 only"),
        (release("1.2.0", renamed=[{**RENAME, "until": "1.9.0"}]), "a works until 1.9.0 only"),
        (release("1.2.0", removed=[REMOVED]), "a is removed by a minor release"),
        (release("0.3.0", resources=[POOL]), "an AgentPool is replaced by a minor release"),
        (release("0.3.0", removed=[REMOVED]), "a is removed without a warning in an earlier release"),
        (release("0.5.0", removed=[{**REMOVED, "path": "b"}]), "b is removed without a warning in an earlier release"),
        (release("0.3.0", steps=[{**STEP, "when": "after"}]), "the step s comes after the deployment, so that nothing"),
    ],
)
def test_a_note_that_breaks_it_is_found(note: Release, text: str) -> None:
    assert any(each.startswith(text) for each in broken(note, [WARNED]))


@pytest.mark.parametrize(
    "note",
    [
        release("0.2.0", renamed=[RENAME], outputs=[RENAME], steps=[STEP]),
        release("0.9.0", renamed=[{**RENAME, "until": "1.0.0"}]),
        release("1.0.0", removed=[REMOVED], resources=[POOL]),
        release("1.2.0", renamed=[{**RENAME, "until": "2.0.0"}]),
        release("0.4.0", removed=[REMOVED]),
        release("0.3.0", removed=[{**REMOVED, "cut": True}]),
        release("0.2.1", resources=[{"type": "t", "what": "restarted", "why": "x"}]),
    ],
)
def test_a_note_that_keeps_it_passes(note: Release) -> None:
    assert list(broken(note, [WARNED])) == []
