"""Random sequences of changes, faults and evictions: no workflow is lost by a change that the impact calls harmless.

The cluster is the fast model of `tests/support/impact_world.py`, which is held against the cells that the simulator has
recorded (workbench/impact/agreement.yaml). PHYSAI_SEED chooses other sequences, PHYSAI_SEQUENCES their number; a
failure prints the seed and the steps. PHYSAI_SEQUENCES_FOLDER keeps what is done, so that a run can be continued.
"""

from __future__ import annotations

import datetime
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.simulator.agreement_changes import BASE, CHANGES
from tests.simulator.agreement_work import KINDS, of_pods
from tests.support.impact_effects import CHANGE
from tests.support.impact_world import DONE, EVICTION, FAULT, UPGRADE, Pod, World
from tests.support.planned_changes import Planned, planned
from tests.support.recording import merged, record
from workbench.cli.preview.work import pool_facts
from workbench.impact import Fate, Impact, Work, judge
from workbench.impact.agreement import FILE, read_cells
from workbench.policies import Resource

pytestmark = pytest.mark.deep
STACK = "dev-westus2"
NOW = datetime.datetime(2026, 11, 28, 12, tzinfo=datetime.UTC)
SEED = int(os.environ.get("PHYSAI_SEED", "1"))
SEQUENCES = int(os.environ.get("PHYSAI_SEQUENCES", "200"))
FOLDER = os.environ.get("PHYSAI_SEQUENCES_FOLDER", "")
STEPS = 12
Settings = tuple[str, ...]
TARGETS: tuple[Settings, ...] = tuple(
    dict.fromkeys(
        [
            BASE,
            *((*BASE, *each.before) for each in CHANGES),
            *((*BASE, *each.before, *each.settings) for each in CHANGES),
        ]
    )
)
"""Settings between which a sequence moves: the base, and each change of the table."""


@cache
def resources(options: Settings) -> tuple[Resource, ...]:
    """Resources that the program declares with these `--set` options."""
    given: Any = {}
    for option in options:
        if option != "--set":
            path, _, text = option.partition("=")
            value: Any = yaml.safe_load(text)
            for key in reversed(path.split(".")):
                value = {key: value}
            given = merged(given, value)
    return record(STACK, given).resources


def work_of(world: World) -> list[Work]:
    return [
        Work(
            "osmo-workflows" if pod.task else "default",
            pod.name,
            f"workflow {pod.owner}" if pod.task else f"{'Deployment' if pod.controlled else 'Pod'} {pod.owner}",
            pod.gang,
            pod.name if pod.task else "",
            "ReplicaSet" if pod.controlled else "",
            pod.node,
            pod.pool if pod.node else "",
            pod.gpus,
            NOW - datetime.timedelta(hours=1) if pod.node else None,
            labels=pod.labels,
            needs_pool=True,
            vendor="NVIDIA" if pod.gpus else "",
        )
        for pod in world.pods.values()
    ]


def judged(world: World, steps: Sequence[Planned]) -> Impact:
    counts = Counter(node.pool for node in world.nodes.values())
    pools = [{**inputs, "name": name} for name, inputs in world.pools().items()]
    return judge(steps, work_of(world), pool_facts(pools, counts), NOW)


def is_harmless(impact: Impact) -> bool:
    """True if no workflow may end, as far as the impact says it."""
    assert impact.not_judged == ()
    return all(each.fate not in (Fate.RESTARTED, Fate.ENDED) for each in impact.effects if each.work.is_workflow)


class Run:
    """One random sequence, and what was done in it."""

    def __init__(self, seed: int) -> None:
        self.seed, self.done = seed, list[str]()
        self.settings = BASE
        self.world = World(resources(BASE), seed)
        self.harmless, self.refused = 0, 0
        self._number = 0

    def run(self) -> None:
        for _ in range(4):
            self.submit()
        for _ in range(STEPS):
            act = self.world.random.choices(
                [self.change, self.submit, self.finish, self.fault, self.evict], (6, 3, 1, 1, 1)
            )[0]
            before = len(self.world.ends)
            act()
            lost = [each for each in self.world.ends[before:] if each.pod.task and each.cause in (CHANGE, UPGRADE)]
            assert not lost, f"seed {self.seed}: {lost} after\n  " + "\n  ".join(self.done)

    def change(self) -> None:
        target = self.world.random.choice([each for each in TARGETS if each != self.settings])
        steps = planned(resources(self.settings), resources(target))
        words = " ".join(target[len(BASE) :: 1][1::2]) or "the base"
        if is_harmless(judged(self.world, steps)):
            self.harmless += 1
            self.done.append(f"change to {words}")
            self.settings = target
            self.world.change(steps, resources(target))
        else:
            self.refused += 1
            self.done.append(f"change to {words} would end workflows: not made")

    def submit(self) -> None:
        self._number += 1
        pools = [name for name in self.world.pools() if self.world.gpus(name)]
        if not pools:
            return
        name, choose = f"w{self._number}", self.world.random
        kind = choose.choice(["task", "task", "gang", "service", "pod"])
        first, second = choose.choice(pools), choose.choice(pools)
        self.done.append(f"{kind} {name} on {first}{f' and {second}' if kind == 'gang' else ''}")
        if kind == "gang":
            self.world.add(
                *(
                    Pod(f"{name}-{index}", name, pool, gang=name, task=True, leads=not index)
                    for index, pool in enumerate((first, second))
                )
            )
        else:
            self.world.add(Pod(name, name, first, controlled=kind == "service", task=kind == "task"))

    def finish(self) -> None:
        owners = sorted({pod.owner for pod in self.world.pods.values() if pod.task and pod.node})
        if owners:
            owner = self.world.random.choice(owners)
            self.done.append(f"{owner} ends by itself")
            self.world.end([pod for pod in self.world.pods.values() if pod.owner == owner], DONE)
            self.world.settle()

    def fault(self) -> None:
        """A node that Azure takes away, as a Spot machine or for a fault."""
        if self.world.nodes:
            node = self.world.random.choice(sorted(self.world.nodes))
            self.done.append(f"{node} is lost")
            self.world.remove([node], FAULT)
            self.world.settle()

    def evict(self) -> None:
        running = sorted(pod.name for pod in self.world.pods.values() if pod.node)
        if running:
            pod = self.world.random.choice(running)
            self.done.append(f"{pod} is evicted")
            self.world.end([self.world.pods[pod]], EVICTION)
            self.world.settle()


def test_no_workflow_is_lost_by_changes_that_are_called_harmless() -> None:
    kept = Path(FOLDER) / f"seed-{SEED}" if FOLDER else None
    first = int(kept.read_text()) if kept is not None and kept.exists() else 0
    made, refused, ends = 0, 0, Counter[str]()
    for index in range(first, SEQUENCES):
        sequence = Run(SEED * 100_000 + index)
        sequence.run()
        made, refused = made + sequence.harmless, refused + sequence.refused
        ends.update(each.cause for each in sequence.world.ends if each.pod.task)
        if kept is not None:
            kept.parent.mkdir(parents=True, exist_ok=True)
            kept.write_text(str(index + 1))
    print(
        f"seed {SEED}: {SEQUENCES - first} sequences, {made} changes made, {refused} not; ends of tasks: {dict(ends)}"
    )
    if not first and SEQUENCES >= 100:
        assert made > SEQUENCES
        assert refused > SEQUENCES / 2
        assert ends[FAULT] + ends[EVICTION] > SEQUENCES / 4, "nothing else ends workflows in the model"


SEEN = {(each.change, each.work): each for each in (read_cells()[0] if FILE.exists() else [])}
"""Recorded cells by change and Pod."""


@pytest.mark.parametrize(
    "change",
    [each for each in CHANGES if (each.title, "serve") in SEEN and not each.refused],
    ids=lambda each: each.title,
)
def test_the_model_does_what_the_simulator_did(change: Any) -> None:
    before, after = (*BASE, *change.before), (*BASE, *change.before, *change.settings)
    world = World(resources(before), 1)
    kinds = of_pods()
    for kind in KINDS.values():
        pods = [
            Pod(
                *(name, name, pool, kind.gpus),
                gang=kind.workflow if kind.submitted else "",
                controlled=kind.controlled,
                task=bool(kind.workflow),
                leads=kind.submitted and not index,
            )
            for index, (name, pool) in enumerate(kind.pods)
        ]
        world.add(*pods)
    assert all(pod.node for pod in world.pods.values()), world.pods
    world.change(planned(resources(before), resources(after)), resources(after))
    running = {pod.owner: pod for pod in world.pods.values() if pod.node}
    ended = {each.pod.owner for each in world.ends}
    found = {work: "untouched" if work not in ended else "restarted" if work in running else "ended" for work in kinds}
    # Nothing decides which node comes first, or goes: where the prediction is not certain, either may happen.
    cells = {work: SEEN[change.title, work] for work in kinds if (change.title, work) in SEEN}
    sure = [work for work, cell in cells.items() if cell.sure]
    assert {work: found[work] for work in sure} == {work: cells[work].seen for work in sure}
    assert all(replace(cell, seen=found[work]).agrees for work, cell in cells.items())
