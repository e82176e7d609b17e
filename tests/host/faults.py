"""What can go wrong on a node, and what then has to come of it. The tables are in `faults_*.py`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from tests.host.harness import Harness
from tests.host.installers import NEW

Act = Callable[[Harness], None]


def nothing(harness: Harness) -> None:
    """Leave the harness as it is."""


def inject(name: str, *, once: bool = False) -> Act:
    """A fault of the node's tools."""
    return lambda harness: harness.node.fault(name, once=once)


def remove(name: str) -> Act:
    """That fault ends."""
    return lambda harness: harness.node.mend(name)


@dataclass(frozen=True)
class Fault:
    """One fault, how it is made, and its outcome."""

    name: str
    ends: Literal["recovers", "waits", "stops"]
    """`recovers`: verified without help. `waits`: continues once the cause is gone. `stops`: a person has to act."""
    outcome: str
    """A sentence for the table in docs: what the agent does."""
    disk: Act = nothing
    """Before the node boots."""
    live: Act = nothing
    """On the running node, before the agent starts; with `served`, once the agent's driver is in service."""
    served: bool = False
    says: str = ""
    """What the node's condition (or the agent's memory, see `where`) has to tell; a regular expression."""
    where: Literal["condition", "memory"] = "condition"
    mend: Act | None = None
    """The cause goes."""
    runs_nothing: bool = False
    """No installer may have been run while the fault lasts."""
    still: str = ""
    """Version that goes on serving while the fault lasts."""
    gate: Literal["closed", "open", ""] = ""
    """What the gate has to be while the fault lasts; empty: either, if reported."""
    then: Act = nothing
    """What has to be seen in the end."""
    serves: str = NEW
    """Version in service in the end; empty: none."""
    deep: bool = False
    """Left out of `make test`: a fault beside it takes the same way through the agent."""
