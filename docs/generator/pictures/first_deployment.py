"""Bars of the steps that the first deployment of a stack takes longest for, in the slow case."""

from __future__ import annotations

from collections.abc import Iterator

from docs.generator.pictures.mermaid import diagram
from physical_ai.repository import PROJECT_NAME
from workbench.cli.deployment_time import DeploymentTime, deployment_time
from workbench.cli.policy_pack import declared_resources
from workbench.cli.requested_stack import read_stack
from workbench.costs.schedule import Placed

STACK = "dev-southeastasia"
SHORTEST = 4
"""Minutes below which a step has no bar, unless everything waits for it."""
WIDTH = (
    '%%{init: {"gantt": {"useWidth": 460, "leftPadding": 20, "rightPadding": 20, "fontSize": 13, "barHeight": 18}}}%%'
)
"""Width in pixels of a phone, on which a wider picture would shrink to letters that nobody can read."""
MILLISECONDS = 60_000


def first_deployment() -> str:
    """Gantt chart of the steps, with the chain that decides the total time."""
    found = deployment_time(STACK, declared_resources(read_stack(STACK), preview=False))
    total = f"{found.fast.minutes:.0f} to {found.slow.minutes:.0f} minutes"
    title = f"The first deployment of {STACK}, slow case, in minutes"
    path = ", ".join(f"{_name(each)} until {each.end:.0f}" for each in found.slow.path if each.step.minutes >= 1)
    return diagram(f"{WIDTH}\ngantt", title, f"{total}. The slow case waits for: {path}.", _lines(found))


def _lines(found: DeploymentTime) -> Iterator[str]:
    yield "dateFormat x"
    yield "axisFormat %M"
    yield "tickInterval 10minute"
    path = [each for each in found.slow.path if each.step.minutes >= 1]
    others = [each for each in found.slow.steps.values() if each.step.minutes >= SHORTEST and each not in path]
    yield from (_bar(each, "crit, ") for each in path)
    yield from (_bar(each, "") for each in sorted(others, key=lambda each: (each.start, each.step.name)))


def _bar(placed: Placed, mark: str) -> str:
    return f"{_name(placed)} :{mark}{placed.start * MILLISECONDS:.0f}, {placed.end * MILLISECONDS:.0f}"


def _name(placed: Placed) -> str:
    """Type and name of a resource, without the prefix that all names of the program have."""
    return placed.step.name.replace(f" {PROJECT_NAME}-", " ").replace(":", " ").replace(",", " ")
