"""Impact of changes on running work, predicted by a preview and then made: what was said is what happens to the Pods.

The simulated cluster is the witness: its API server, controllers and models know nothing of ways.yaml. Every change is
one row of a table, every Pod a column; PHYSAI_RECORD_AGREEMENT=1 writes the file from which
docs/reference/impact-agreement.md is made.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple
from pathlib import Path
from typing import Any

import pytest
import yaml

from physical_ai.repository import ROOT
from simulator.kubernetes.client import Client
from simulator.simulation import Simulation
from tests.simulator.agreement_changes import ALL_BACK, BASE, CHANGES, ORDERED, Change
from tests.simulator.agreement_submissions import Submissions
from tests.simulator.agreement_work import KINDS, begin, guard, observed, of_pods, settle, unguard, waits, works
from tests.simulator.physai import physai
from tests.support.waiting import until
from workbench.impact.agreement import FILE, UNSEEN, Cell, agreement, table

pytestmark = pytest.mark.deep
RECORD = "PHYSAI_RECORD_AGREEMENT"
FOLDER = "PHYSAI_AGREEMENT_FOLDER"
"""Variable with a folder that keeps the cells of each change, so that a run that was interrupted can be continued."""
KEPT = Path(os.environ.get(FOLDER, ""))
GUARDED = "serve"
CONFLICT = "please apply your changes to the latest version"
"""Part of the API server's answer to a request whose object another client changes at the same moment."""
GATE_SECONDS = "20"
"""Seconds for which `up` waits for GPUs: an upgrade that waits for work does not end before the work."""
LEAST = 0.95
"""Share of the cells in which prediction and observation have to agree."""
SECONDS = 60.0
"""Seconds for which a prediction may take to come true after `up` has ended."""
STAYING: list[str] = []
"""Settings of the changes that stay."""
CELLS: list[Cell] = []
"""Cells of the changes that have been made so far, in this order."""


HELD: list[tuple[str, ...]] = []
"""Settings of the last change that was made as a whole."""
HOLD_SECONDS = 2.0
"""Seconds for which what was predicted has to stay true: four simulated minutes."""


def up(*options: str, refused: str = "") -> None:
    """Makes a change. A gate may remain closed, of a node that waits for work."""
    if [options] == HELD:
        return
    HELD.clear()
    answer = physai("up", *options, expect=(0, 1))
    if CONFLICT in answer.out + answer.err:
        answer = physai("up", *options, expect=(0, 1))
    said = answer.out + answer.err
    assert refused in said if refused else answer.code == 0 or "gate" in said, said
    if answer.code == 0:
        HELD.append(options)


@pytest.fixture(scope="module")
def submissions(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Submissions]:
    made = Submissions(tmp_path_factory.mktemp("submitted"))
    yield made
    made.end()


def predicted(options: Sequence[str]) -> dict[str, tuple[str, bool]]:
    """Fate of each Pod and its certainty, as the preview of the change says it."""
    shown = physai("preview", "--json", *options).json["impact"]
    if shown is None:
        return dict.fromkeys(of_pods(), ("untouched", True))  # nothing that exists changes
    assert shown["workKnown"], shown
    assert shown["notJudged"] == [], shown["notJudged"]
    return {name_of(each): (str(each["fate"]), bool(each["sure"])) for each in shown["work"]}


def name_of(pod: Mapping[str, Any]) -> str:
    kind, _, name = str(pod["owner"]).partition(" ")
    return name.rpartition("/")[2] if kind == "Deployment" else str(pod["task"] or pod["pod"])


def cluster(simulation: Simulation) -> Client:
    return simulation.clusters().client(simulation.clusters().ids()[0])


def make(simulation: Simulation, title: str, options: Sequence[str], refused: str = "") -> list[Cell]:
    """Predicts a change, makes it, and waits until what was predicted for certain has come true, or time is up."""
    before, said = works(cluster(simulation)), predicted(options)
    up(*options, refused=refused)
    sure = {
        work: "untouched" if fate in UNSEEN else fate
        for work, (fate, certain) in said.items()
        if certain and work in before
    }
    found = observed(lambda: cluster(simulation), before, sure, SECONDS, HOLD_SECONDS)
    kinds = of_pods()
    return [Cell(title, kinds[work], work, *said[work], found[work]) for work in before if work in said]


@pytest.mark.parametrize("change", ORDERED, ids=lambda each: each.title)
def test_what_the_preview_says_happens_to_the_work(
    running: Simulation, submissions: Submissions, change: Change, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The change, and the way back: each is predicted and made."""
    monkeypatch.setenv("PHYSICAL_AI_GATE_SECONDS", GATE_SECONDS)
    if kept := kept_cells(change.title):
        CELLS.extend(kept)
        STAYING.extend(change.settings if change.stays else ())
        return
    is_all_back = change.title == ALL_BACK
    start = (*BASE, *(STAYING if change.stays or is_all_back else change.before))
    up(*start)
    begin(cluster(running), submissions)
    if change.during:
        up(*start, *change.during)
        until(lambda: waits(cluster(running)), "no upgrade waits for work")
        begin(cluster(running), submissions)
    if change.budget:
        guard(cluster(running), GUARDED)
    try:
        cells = make(running, change.title, BASE if is_all_back else (*start, *change.settings), change.refused)
    finally:
        unguard(cluster(running), GUARDED)
    if change.stays:
        STAYING.extend(change.settings)
    elif change.has_way_back:
        cells += make(running, f"{change.title}, back", start)
    settle(cluster(running), submissions)
    keep(change.title, cells)


def keep(title: str, cells: Sequence[Cell]) -> None:
    CELLS.extend(cells)
    if os.environ.get(FOLDER):
        KEPT.mkdir(parents=True, exist_ok=True)
        (KEPT / f"{title}.json").write_text(json.dumps([astuple(each) for each in cells]))
    print(table(cells))


def kept_cells(title: str) -> list[Cell]:
    """Cells of a change that a run before this one has kept; none without such a run."""
    file = KEPT / f"{title}.json"
    return [Cell(*each) for each in json.loads(file.read_text())] if os.environ.get(FOLDER) and file.exists() else []


def test_predictions_agree_with_what_happened() -> None:
    """The last one: needs the cells of all changes above."""
    rows = {each.change for each in CELLS}
    taken_back = [each for each in CHANGES if each.has_way_back and not each.stays]
    wanted = {each.title for each in CHANGES} | {f"{each.title}, back" for each in taken_back}
    if os.environ.get(RECORD):
        write(FILE, CELLS)
    if rows != wanted:
        pytest.skip(f"not all changes were made: {', '.join(sorted(wanted - rows))}")
    print(table(CELLS))
    found = agreement(CELLS)
    assert found.share >= LEAST, found.text
    unexplained = [each for each in found.differences if not each.reason]
    assert unexplained == [], "differences without a reason in workbench/impact/agreement_reasons.yaml"


def write(file: Path, cells: Sequence[Cell]) -> None:
    kinds = {key: kind.title for key, kind in KINDS.items()}
    document: dict[str, Any] = {
        "kinds": kinds,
        "cells": [[each.change, each.kind, each.work, each.fate, each.sure, each.seen] for each in cells],
    }
    made = f"{RECORD}=1, {Path(__file__).relative_to(ROOT)}"
    head = f"# Predictions of the impact and what the simulator then showed. Made by {made}\n"
    file.write_text(head + yaml.safe_dump(document, sort_keys=False, default_flow_style=None, width=200))
