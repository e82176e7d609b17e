"""Facts that a recording of a real cluster has shown otherwise than they were believed. Rows and reading.

`physai compare FILE --write` adds them. The simulator takes those about sizes, and what ARM fills in, which is a row of
tolerated_differences.yaml too; the others are kept with their home until somebody has changed it.
"""

from __future__ import annotations

import datetime
from functools import lru_cache
from typing import Any, Literal

from physical_ai.catalog.load import DATA, read_rows, row
from physical_ai.catalog.rows import Row, Text

FILE = DATA / "seen.yaml"
NOTHING = "(absent)"
"""Belief of who had no value."""


class Seen(Row):
    """One value of a recording."""

    about: Text
    subject: Text
    path: Text
    believed: Any
    seen: Any
    home: Text
    """The file that had the belief."""
    source: Text
    how: Literal["seen"]
    date: datetime.date


@lru_cache(maxsize=1)
def seen_facts() -> tuple[Seen, ...]:
    """All rows. Raises CatalogError."""
    return tuple(row(Seen, each, f"{FILE.name}: {each.get('subject')}") for each in read_rows(FILE))


def seen_in_bodies(arm_type: str) -> dict[str, Any]:
    """Values by path of the body that ARM was seen to fill in for a type, where the simulator had none."""
    return {
        each.path: each.seen
        for each in seen_facts()
        if each.about == "azure" and each.believed == NOTHING and each.subject.partition(" ")[0] == arm_type
    }


def seen_of_size(size: str, kind: str) -> dict[str, str]:
    """Amounts of a size by resource, as a node of it was seen to have them.

    Args:
        kind: `capacity` or `allocatable`.
    """
    head = f"{kind}."
    return {
        each.path.removeprefix(head): str(each.seen)
        for each in seen_facts()
        if each.about == "size" and each.subject == size and each.path.startswith(head)
    }
