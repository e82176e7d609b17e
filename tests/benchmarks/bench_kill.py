"""Kills `physai` at random moments, runs it again, and looks whether everything came together.

After each kill `physai up` has to succeed, a preview to show no change, and engine state, simulated Azure, API server
and process table to agree. The exit code is 1 when one of them did not. A round takes half a minute.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import psutil
from measure import (
    DEFAULT_STACK,
    Finished,
    Place,
    Strike,
    interrupt,
    kill_command,
    kill_engine,
    kill_group,
    note,
    place,
    table,
)
from orphans import discrepancies, remains

CHANGE = (
    *("--set", "pools.h100gpu.sku=Standard_NC80adis_H100_v5"),
    *("--set", "pools.rtxprogpu.scale={count: 2, min: null, max: null, initial: null}"),
    *("--set", "tags.round=kill"),
)
"""A pool replaced, another scaled, and nearly everything updated. The count fits the old bounds, for the way back."""


@dataclass(frozen=True)
class Scenario:
    """What is killed, and what has to work afterwards."""

    what: str
    rounds: int
    before: Callable[[Place], object]
    """Brings the stack into the state in which the killed command starts."""
    killed: tuple[str, ...]
    """The command that is killed; empty when it is a process of the control plane."""
    again: tuple[str, ...]
    """The command that has to make up for it."""
    strike: Strike = kill_group


def _nothing(_: Place) -> None:
    """The killed command begins with nothing there."""


def _up(here: Place) -> None:
    here.must("up")


SCENARIOS = {
    "up": Scenario("up from nothing", 20, _nothing, ("up",), ("up",)),
    "change": Scenario("up that replaces, scales, updates", 8, _up, ("up", *CHANGE), ("up", *CHANGE)),
    "command": Scenario("up, its engine left behind", 5, _nothing, ("up",), ("up",), kill_command),
    "engine": Scenario("the engine of an up", 5, _nothing, ("up",), ("up",), kill_engine),
    "ctrl-c": Scenario("up, by Ctrl-C", 5, _nothing, ("up",), ("up",), interrupt),
    "updown": Scenario("up from nothing, then down", 5, _nothing, ("up",), ("down",)),
    "undo": Scenario("a change, then up without it", 5, _up, ("up", *CHANGE), ("up",)),
    "preview": Scenario("preview", 3, _up, ("preview",), ("up",)),
    "down": Scenario("down, then up", 5, _up, ("down",), ("up",)),
    "downdown": Scenario("down, then down", 5, _up, ("down",), ("down",)),
    "apiserver": Scenario("kube-apiserver, then up", 1, _up, (), ("up",)),
    "everything": Scenario("the whole control plane, then up", 1, _up, (), ("up",)),
}


@dataclass(frozen=True)
class Outcome:
    scenario: str
    moment: float
    reached: str
    """The last thing the command said before it was killed."""
    seconds: float
    """How long the second run took."""
    problems: Sequence[str]


def main() -> None:
    options = _options()
    dice = random.Random(options.seed)  # noqa: S311 - to be repeatable, not secret
    outcomes: list[Outcome] = []
    for name in options.what:
        scenario = SCENARIOS[name]
        rounds = scenario.rounds if options.rounds is None else options.rounds
        with place(options.stack) as here:
            usual = _duration(here, scenario) if scenario.killed else 0.0
        for number in range(rounds):
            moment = dice.uniform(0, usual)
            if options.only is not None and number + 1 not in options.only:
                continue
            with place(options.stack) as here:
                outcome = _round(here, scenario, moment)
            note(f"{name} {number + 1}/{rounds}: {moment:.2f} s of {usual:.2f}, {_verdict(outcome)}")
            outcomes.append(outcome)
    _report(outcomes, options.seed)
    sys.exit(any(outcome.problems for outcome in outcomes))


def _duration(here: Place, scenario: Scenario) -> float:
    """Seconds the command takes without interruption."""
    scenario.before(here)
    return here.must(*scenario.killed).seconds


def _round(here: Place, scenario: Scenario, moment: float) -> Outcome:
    scenario.before(here)
    if scenario.killed:
        killed = here.physai(*scenario.killed, after=moment, strike=scenario.strike)
        reached = _reached(killed)
        if "Traceback" in killed.stderr:
            return Outcome(scenario.what, moment, reached, 0.0, ["a traceback", *killed.stderr.splitlines()[-12:]])
    else:
        reached = _kill_control_plane(here, scenario.what)
    again = here.physai(*scenario.again)
    if again.code != 0:
        lines = again.stderr.strip().splitlines()
        problems = [f"physai {scenario.again[0]} ended with {again.code}", *lines[-12:]]
    elif scenario.again[0] == "down":
        problems = remains(here)
    else:
        problems = [*discrepancies(here), *_planned(here, scenario.again[1:])]
    return Outcome(scenario.what, moment, reached, again.seconds, problems)


def _planned(here: Place, arguments: Sequence[str]) -> list[str]:
    """What a preview still wants to change."""
    preview = here.physai("preview", "--json", *arguments)
    if preview.code != 0:
        return [f"physai preview ended with {preview.code}", *preview.stderr.strip().splitlines()[-12:]]
    changes = [f"preview: {change['op']} {change['urn']}" for change in preview.document()["changes"]]
    return [*changes, *discrepancies(here)]


def _kill_control_plane(here: Place, what: str) -> str:
    folder = str(here.simulation.folder / "clusters" / "1")
    victims = [process for process in psutil.process_iter() if _works_in(process, folder)]
    if what.startswith("kube-apiserver"):
        victims = [process for process in victims if process.name() == "kube-apiserver"]
    for process in victims:
        os.kill(process.pid, signal.SIGKILL)
    return f"{len(victims)} killed"


def _works_in(process: psutil.Process, folder: str) -> bool:
    try:
        return process.cwd() == folder
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return False


def _reached(killed: Finished) -> str:
    if killed.code == 0:
        return "was done"
    steps = [
        line for line in killed.stderr.splitlines() if line.startswith(("created", "updated", "deleted", "replac"))
    ]
    return steps[-1].rsplit(" ", 2)[0] if steps else "before the first resource"


def _verdict(outcome: Outcome) -> str:
    return "\n  ".join(["FAILED", *outcome.problems]) if outcome.problems else "came together"


def _report(outcomes: Sequence[Outcome], seed: int) -> None:
    rows = [
        (o.scenario, o.moment, o.reached, o.seconds, "; ".join(o.problems)[:120] or "came together")
        for o in sorted(outcomes, key=lambda o: (o.scenario, o.moment))
    ]
    table(f"killed at random moments (seed {seed})", ("killed", "at s", "reached", "again s", "outcome"), rows)
    failed = sum(bool(o.problems) for o in outcomes)
    print(f"\n{len(outcomes) - failed} of {len(outcomes)} came together")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", default=["up"], choices=SCENARIOS, help="what to kill (default: up)")
    parser.add_argument("--rounds", type=int, help="kills for each (default: 20 for up, fewer for the others)")
    parser.add_argument("--only", type=int, nargs="*", metavar="ROUND", help="of these rounds only these, from 1")
    parser.add_argument("--seed", type=int, default=1, help="same seed, same fractions of the usual duration")
    parser.add_argument("--stack", default=DEFAULT_STACK)
    return parser.parse_args()


if __name__ == "__main__":
    main()
