"""Differences between program and state that are no drift, because Azure itself adds or sorts values: rows, reading,
and the check of a difference.
"""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Literal, cast

from physical_ai.catalog.load import DATA, read_rows, row
from physical_ai.catalog.rows import Row, Text

FILE = DATA / "tolerated_differences.yaml"
ABSENT = object()
"""Stand-in for the value of a path that does not exist."""


class Tolerated(Row):
    """A property of a Pulumi resource type that Azure changes by itself, and the change that is tolerated."""

    type: Text
    path: Text
    added: Mapping[str, Any] | None = None
    value: Any = None
    """Value that Azure fills in if the program declares none; None if the field `added` describes Azure's change
    instead, or if every value is tolerated.
    """
    names: tuple[Text, ...] = ()
    of: tuple[Text, ...] = ()
    """Names of the lists that Azure may return in another order."""
    reason: Text
    source: Text
    how: Literal["seen", "read", "believed"]
    date: datetime.date

    @property
    def lists(self) -> tuple[str, ...]:
        """Names of the input lists that this row is about. Azure adds the fields in `added` to the elements of these
        lists; empty for a row without `added`.
        """
        return self.of if self.added is not None else ()

    def fits(self, type_: str, path: str, value: Any) -> bool:
        if type_ != self.type or not re.fullmatch(self.path, path):
            return False
        if self.value is not None:
            return value == self.value
        if self.added is None:
            return True
        if not isinstance(value, Mapping):
            return False
        given = {key: each for key, each in cast("Mapping[str, Any]", value).items() if key not in self.names}
        return given == self.added


@lru_cache(maxsize=1)
def tolerated_differences() -> tuple[Tolerated, ...]:
    return tuple(row(Tolerated, each, f"{FILE.name}: {each.get('path')}") for each in read_rows(FILE))


def without_added(type_: str, name: str, value: Any) -> Any:
    """Returns the list `value` of the property `name` for a comparison: sorted, and without elements and fields that
    Azure adds.
    """
    if not isinstance(value, list):
        return [] if value is None else value
    kept: list[Any] = []
    for index, element in enumerate(cast("list[Any]", value)):
        at = f"{name}[{index}]"
        if tolerated(type_, at, element, ABSENT) is not None:
            continue
        bare = element
        if isinstance(element, Mapping):
            members = cast("Mapping[str, Any]", element).items()
            bare = {key: each for key, each in members if tolerated(type_, f"{at}.{key}", each, ABSENT) is None}
        kept.append(bare)
    return sorted(kept, key=lambda element: json.dumps(element, sort_keys=True, default=str))


def tolerated(type_: str, path: str, before: Any, after: Any) -> Tolerated | None:
    """First row that tolerates the difference between `before` and `after` at `path`; None if no row does.

    A row without `value` and `added` tolerates every difference at its path. Any other row tolerates a difference only
    if `before` or `after` is `ABSENT`, and the other one is the value that the row describes. Azure's value is in
    `before` in a preview after a refresh, and in `after` in the refresh itself.
    """
    for each in tolerated_differences():
        if each.added is None and each.value is None and each.fits(type_, path, None):
            return each
        sides = [value for value in (before, after) if value is not ABSENT]
        if len(sides) == 1 and each.fits(type_, path, sides[0]):
            return each
    return None
