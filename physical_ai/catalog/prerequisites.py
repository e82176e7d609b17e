"""Programs that a deployment to Azure needs on the machine it starts from, and plans of GitHub for pipelines."""

from __future__ import annotations

import datetime
from functools import lru_cache
from typing import Literal

from physical_ai.catalog.load import DATA, read_mapping, row
from physical_ai.catalog.row import Row, Text

FILE = "prerequisites.yaml"


class Tool(Row):
    """A program on the machine from which somebody deploys."""

    name: Text
    command: Text
    version: Text
    """Required version. A name in braces, such as `{pulumi}`, stands for a version that the checkout pins or a stack
    sets.
    """
    when: Literal["always", "hand", "osmo", "pipeline"]
    purpose: Text
    get: Text
    source: Text
    date: datetime.date


class Plan(Row):
    """A plan of GitHub, and what it gives to pipelines."""

    repository: Text
    plan: Text
    gives: Text
    source: Text
    date: datetime.date


@lru_cache(maxsize=1)
def tools() -> tuple[Tool, ...]:
    """Every program that a user has to install, in the order in which a first deployment uses the programs."""
    return tuple(row(Tool, each, f"{FILE}: {each.get('name')}") for each in read_mapping(DATA / FILE)["tools"])


@lru_cache(maxsize=1)
def plans() -> tuple[Plan, ...]:
    """GitHub's plans, from the plan with the fewest features for private repositories to the plan with the most."""
    return tuple(row(Plan, each, f"{FILE}: {each.get('plan')}") for each in read_mapping(DATA / FILE)["plans"])
