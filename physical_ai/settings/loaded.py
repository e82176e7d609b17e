"""A stack's settings, with the origin of each value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from physical_ai.nested import is_mapping
from physical_ai.planning.plan import Plan
from physical_ai.settings.faults import Fault, SettingsError, fault
from physical_ai.settings.layers.merge import Merged, merge
from physical_ai.settings.layers.names import StackName
from physical_ai.settings.layers.paths import NotAPath, Path, parse, show
from physical_ai.settings.layers.shape import below, tree
from physical_ai.settings.layers.stack_file import PREFIX
from physical_ai.settings.models.tree import Settings
from physical_ai.settings.suggestions import suggestion

DEFAULT = "default"
"""Origin of a value that no file sets: the default in the settings model."""
STACK_NAME = "stack name"


@dataclass(frozen=True)
class Explained:
    """An effective setting and its origin."""

    path: str
    value: Any
    """Value as in YAML; None where nothing is set."""
    origin: str
    """Origin of the value: the file that set it (or removed it, with null), `default`, or `stack name`."""


@dataclass(frozen=True)
class Loaded:
    """Settings of a stack, with the origin of each value."""

    settings: Settings
    merged: Merged
    warnings: list[Fault]
    """Warnings about settings and about chart values."""
    plan: Plan
    served: tuple[Settings, ...] = ()
    """Settings of the other stacks whose clusters this stack's OSMO control plane serves."""

    @property
    def raw(self) -> dict[str, Any]:
        """Merged data of the stack's files, without the defaults of the models. It has the form of a stack file: null
        removes a value that a layer below the stack file sets.
        """
        below = self.merged.layers[: self.merged.rank(self.merged.last)]
        return _over(merge(below, self.merged.last).data, self.merged.data)

    def for_azure(self, refusals: Sequence[Fault] = ()) -> None:
        """Raises SettingsError if a value is only a placeholder, such as an address from an example.

        `refusals`: other reasons not to deploy, reported in the same error.
        """
        faults = [warning.as_error() for warning in self.warnings if warning.stand_in]
        if faults or refusals:
            raise SettingsError([*faults, *refusals])

    @cached_property
    def _rows(self) -> list[Explained]:
        data = dump(self.settings)
        rows = [Explained(key, data.pop(key), STACK_NAME) for key in ("environment", "region")]
        for path, value in below(tree(), data):
            layer = self.merged.sources.get(path)
            rows.append(Explained(show(path), value, layer.label if layer else DEFAULT))
        return rows

    def explain(self, path: str | None = None) -> list[Explained]:
        """Effective settings at and below a path; all of them without a path.

        Raises SettingsError, with the nearest setting, if the setting does not exist.
        """
        if not path:
            return list(self._rows)
        try:
            wanted: Path = parse(path.removeprefix(PREFIX))
        except NotAPath as error:
            raise SettingsError([fault("(command line)", path, str(error), error.fix)]) from None
        found = [row for row in self._rows if parse(row.path)[: len(wanted)] == wanted]
        if not found:
            values = {parse(row.path): row.value for row in self._rows}
            fix = suggestion(wanted, values, str(StackName(self.settings.environment, self.settings.region)))
            raise SettingsError([fault("(command line)", path, f"There is no setting '{path}'.", fix)])
        return found


def _over(below: Mapping[str, Any], data: Mapping[str, Any]) -> dict[str, Any]:
    """`data` with null for each key that only `below` has, at any depth."""
    kept = {
        key: _over(below[key], value) if is_mapping(value) and is_mapping(below.get(key)) else value
        for key, value in data.items()
    }
    return {**kept, **{key: None for key in below if key not in data}}


def dump(settings: Settings) -> dict[str, Any]:
    """Settings as JSON-like data with YAML's keys; a value that is not set is None."""
    return settings.model_dump(mode="json", by_alias=True)
