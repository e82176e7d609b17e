"""Changes between two runs of the program, as a preview of Pulumi lists them, without an engine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from physical_ai.nested import at, is_mapping
from tests.support.frozen_plan import replacing
from workbench.policies import Resource


@dataclass(frozen=True)
class Planned:
    """One operation, with the fields of `workbench.impact.Change`."""

    name: str
    type: str
    op: str
    properties: tuple[str, ...] = ()
    old: Mapping[str, Any] = field(default_factory=dict[str, Any])
    new: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def kind(self) -> str:
        return self.type.rpartition(":")[2]


def planned(before: Iterable[Resource], after: Iterable[Resource]) -> list[Planned]:
    """Operations that lead from the resources of one run to those of another one."""
    old, new = ({(each.type, each.name): each for each in side if each.custom} for side in (before, after))
    return [step for key in sorted({*old, *new}) for step in _step(old.get(key), new.get(key))]


def _step(old: Resource | None, new: Resource | None) -> Iterator[Planned]:
    if new is None:
        assert old is not None
        yield Planned(old.name, old.type, "delete", (), old.inputs)
    elif old is None:
        yield Planned(new.name, new.type, "create", (), {}, new.inputs)
    elif paths := tuple(_paths(old.inputs, new.inputs)):
        fixed = {*replacing(new), *new.options.replace_on_changes}
        is_replaced = any(at(old.inputs, path) != at(new.inputs, path) for path in fixed)
        yield Planned(new.name, new.type, "replace" if is_replaced else "update", paths, old.inputs, new.inputs)


def _paths(old: Any, new: Any, path: str = "") -> Iterator[str]:
    """Paths of the values that differ. A list is one value."""
    if is_mapping(old) and is_mapping(new):
        for key in sorted({*old, *new}):
            yield from _paths(old.get(key), new.get(key), f"{path}.{key}" if path else str(key))
    elif old != new:
        yield path
