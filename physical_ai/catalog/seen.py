"""Facts about Azure and Kubernetes that this project believed, and that a recording of a real cluster has disproved:
reading of `seen.yaml`, whose rows have the believed value and the seen value.

`physai compare FILE --write` adds rows. The simulator uses the rows about VM sizes and about values that ARM fills in;
`timings.py` uses the rows about timings. The other rows wait until somebody corrects the file that they name as `home`.
"""

from __future__ import annotations

import datetime
from functools import lru_cache
from typing import Any, Literal

from physical_ai.catalog.load import DATA, read_rows, row
from physical_ai.catalog.rows import Row, Text

FILE = DATA / "seen.yaml"
NOTHING = "(absent)"
"""Value of `believed` in a row about a value that this project did not know."""


class Seen(Row):
    """One fact about Azure or Kubernetes: the value that this project assumed, and the value that a recording of a real
    cluster has shown.
    """

    about: Text
    subject: Text
    path: Text
    believed: Any
    seen: Any
    home: Text
    """File that contains the believed value."""
    source: Text
    how: Literal["seen"]
    date: datetime.date


@lru_cache(maxsize=1)
def seen_facts() -> tuple[Seen, ...]:
    """All rows of seen.yaml. Raises CatalogError."""
    return tuple(row(Seen, each, f"{FILE.name}: {each.get('subject')}") for each in read_rows(FILE))


def seen_in_bodies(arm_type: str) -> dict[str, Any]:
    """Values that ARM was seen to fill in for a resource type and that the simulator did not know, by the value's path
    in the resource's body.
    """
    return {
        each.path: each.seen
        for each in seen_facts()
        if each.about == "azure" and each.believed == NOTHING and each.subject.partition(" ")[0] == arm_type
    }


def seen_of_size(size: str, kind: str) -> dict[str, str]:
    """Amounts of resources that a node of a VM size was seen to have, by resource.

    Args:
        kind: `capacity` or `allocatable`.
    """
    head = f"{kind}."
    return {
        each.path.removeprefix(head): str(each.seen)
        for each in seen_facts()
        if each.about == "size" and each.subject == size and each.path.startswith(head)
    }
