"""The daily loop as whole commands, and which processes take its processor time.

`up` deploys from nothing with warm tools and runs a workflow, as `make up` does. The first preview after it loads what
commands import into the resident process, unless that had the time to; the others run in copies of it.
"""

from __future__ import annotations

import argparse
import os
import statistics
from collections import defaultdict

from measure import DEFAULT_STACK, note, place, table
from shares import measured, print_shares

from physical_ai.repository import ROOT

SAMPLE = ROOT / "workbench" / "osmo" / "samples" / "train-and-evaluate.yaml"
STEPS = {
    "up": ("up", "--run", str(SAMPLE)),
    "first preview": ("preview",),
    "preview": ("preview",),
    "status": ("status",),
    "up again": ("up",),
    "down": ("down",),
}
GOALS = {"up": 15.0, "preview": 2.0, "down": 8.0}
"""Seconds on two processors without other work."""


def main() -> None:
    options = _options()
    walls: dict[str, list[float]] = defaultdict(list)
    processor: dict[str, list[dict[str, float]]] = defaultdict(list)
    for number in range(options.times):
        with place(options.stack) as here:
            for step, (command, *arguments) in STEPS.items():
                with measured(here.home.folder) as shares:
                    walls[step].append(here.must(command, *arguments).seconds)
                processor[step].append(shares.by_name())
        note(f"round {number + 1} of {options.times}")
    rows = [
        [step, statistics.median(found), _total(processor[step]), GOALS.get(step, "")] for step, found in walls.items()
    ]
    load = os.getloadavg()[0]
    table(f"{options.stack}, median of {options.times}, load {load:.1f}", ("", "seconds", "processor", "goal"), rows)
    for step, found in processor.items():
        print_shares(step, found)


def _total(found: list[dict[str, float]]) -> float:
    return statistics.median(sum(each.values()) for each in found)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=1, help="rounds; the medians are printed (default: 1)")
    parser.add_argument("--stack", default=DEFAULT_STACK)
    return parser.parse_args()


if __name__ == "__main__":
    main()
