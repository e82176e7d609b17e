"""Table of the effects of changes on running work (ways.yaml), and the search for the row of one change."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, model_validator

from physical_ai.catalog.load import read_rows, row
from physical_ai.catalog.row import Row, Text
from physical_ai.kubernetes.objects import at
from physical_ai.kubernetes.objects import name as name_of
from workbench.impact.changes import Change, only_touches, touches

FILE = Path(__file__).with_name("ways.yaml")
Scope = Literal[
    "pool",
    "cluster",
    "nvidia",
    "nvidia-nodes",
    "mig",
    "driver",
    "selected",
    "grid",
    "claims",
    "namespace",
    "queue",
    "kai",
    "workflows",
    "network",
    "new",
    "none",
]
FateName = Literal["untouched", "waits", "cut", "restarted", "ended"]
Back = Literal["new-nodes", "same-nodes", "never", ""]
Operation = Literal["create", "update", "replace", "delete"]


class Way(Row):
    """A row of the table: a kind of change, and its effect on running work. ways.yaml explains the fields."""

    way: Text
    kind: tuple[Text, ...] = ()
    types: str = ""
    op: tuple[Operation, ...]
    touches: tuple[Text, ...] = ()
    only: tuple[Text, ...] = ()
    name: tuple[Text, ...] = ()
    env: str = ""
    fewer: bool = False
    scope: Scope
    fate: FateName
    sure: bool = True
    drain: bool = False
    order: Literal["at-once", "one-by-one"] = "at-once"
    minutes: tuple[float, float] = Field(default=(0, 0))
    back: Back = ""
    jobs: Literal["waits", "policy", ""] = ""
    says: Text
    read: bool
    source: Text
    date: datetime.date

    @model_validator(mode="after")
    def _has_a_type(self) -> Way:
        if bool(self.kind) == bool(self.types):
            raise ValueError("exactly one of kind and types is required")
        if self.minutes[0] > self.minutes[1]:
            raise ValueError("minutes are from the least to the most")
        return self

    def fits(self, change: Change, nodes: int | None = None) -> bool:
        """True if the row applies to `change`. `nodes`: present number of nodes of the pool that changes, if known."""
        return (
            (change.kind in self.kind if self.kind else change.type.startswith(self.types))
            and change.op in self.op
            and (not self.name or object_name(change) in self.name)
            and (not self.touches or touches(change, self.touches))
            and (not self.only or only_touches(change, self.only))
            and (not self.env or _has_variable(change, self.env))
            and (not self.fewer or removed_nodes(change, nodes) > 0)
        )


def way_of(change: Change, nodes: int | None = None) -> Way | None:
    """First row of ways.yaml that fits a change; None if no row fits, and the change's impact is therefore not
    known.

    Args:
        nodes: Present number of nodes of the pool that changes; None if it is not known, or no pool changes.
    """
    return next((each for each in ways() if each.fits(change, nodes)), None)


def way_named(name: str) -> Way:
    """Row of ways.yaml with the name `name`.

    Raises:
        KeyError: No row has this name.
    """
    return {each.way: each for each in ways()}[name]


def object_name(change: Change) -> str:
    """Name of the Kubernetes object, Helm release or node pool that a change is about; for any other resource, the
    resource's name in the program.
    """
    inputs = change.old or change.new
    return str(name_of(inputs) or inputs.get("agentPoolName") or inputs.get("name") or change.name)


def _has_variable(change: Change, wanted: str) -> bool:
    """True if the toolkit of a GPU Operator's release has the variable `wanted`, NAME= and the begin of its value."""
    listed: list[Mapping[str, Any]] = at(change.new, "values.toolkit.env") or []
    return any(f"{each.get('name')}={each.get('value')}".startswith(wanted) for each in listed)


def removed_nodes(change: Change, nodes: int | None = None) -> int:
    """Number of nodes by which a pool shrinks that has a fixed size after the change; 0 for every other change.

    Args:
        nodes: Present number of nodes. It counts for a pool that the autoscaler has resized since its creation.
    """
    before, after = change.old.get("count"), change.new.get("count")
    if change.old.get("enableAutoScaling") and nodes is not None:
        before = nodes
    if change.new.get("enableAutoScaling") or not isinstance(before, int) or not isinstance(after, int):
        return 0
    return max(before - after, 0)


@lru_cache(maxsize=1)
def ways() -> tuple[Way, ...]:
    """All rows of ways.yaml, in the order in which `way_of` tries them."""
    return tuple(row(Way, each, f"{FILE.name}: {each.get('way')}") for each in read_rows(FILE))
