"""Bars of the steps that the first deployment of a stack takes longest for, in the slow case."""

from __future__ import annotations

from docs.generator.pictures.gantt import Bar, gantt
from physical_ai.repository import PROJECT_NAME
from workbench.cli.deployment_time import deployment_time
from workbench.cli.policy_pack import declared_resources
from workbench.cli.requested_stack import read_stack
from workbench.costs.schedule import Placed

STACK = "dev-southeastasia"
SHORTEST = 4
"""Minutes below which a step has no bar, unless everything waits for it."""


def first_deployment() -> str:
    """Bars of the steps, first those of the chain that decides the total time."""
    found = deployment_time(STACK, declared_resources(read_stack(STACK), preview=False))
    path = [each for each in found.slow.path if each.step.minutes >= 1]
    others = [each for each in found.slow.steps.values() if each.step.minutes >= SHORTEST and each not in path]
    bars = [_bar(each, strong=True) for each in path]
    bars += [_bar(each) for each in sorted(others, key=lambda each: (each.start, each.step.name))]
    described = f"{found.fast.minutes:.0f} to {found.slow.minutes:.0f} minutes. The slow case waits for: "
    described += ", ".join(f"{_name(each)} until {each.end:.0f}" for each in path)
    return gantt(f"The first deployment of {STACK}, slow case, in minutes", f"{described}.", bars)


def _bar(placed: Placed, *, strong: bool = False) -> Bar:
    return Bar(_name(placed), placed.start, placed.end, strong)


def _name(placed: Placed) -> str:
    """Type and name of a resource, without the prefix that all names of the program have."""
    return placed.step.name.replace(f" {PROJECT_NAME}-", " ")
