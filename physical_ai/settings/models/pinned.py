"""Type of a setting with the version of a chart: the pinned versions are its values, and the newest is its default."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, PydanticKnownError, core_schema

from physical_ai.catalog.charts import newest_chart, pinned_versions


@dataclass(frozen=True)
class PinnedVersion:
    """Constraint of a setting to the pinned versions of a chart.

    The pins are read at the first validation, not at import, so that a mistake in the pins is reported with file and
    key like any other fault.
    """

    chart: str

    @property
    def newest(self) -> Callable[[], str]:
        """Function that returns the newest pinned version, for use as `default_factory`."""
        return lambda: newest_chart(self.chart).version

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self._checked, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {**handler(schema), "default": self.newest(), "enum": list(pinned_versions(self.chart))}

    def _checked(self, value: str) -> str:
        versions = pinned_versions(self.chart)
        if value not in versions:
            *first, last = map(repr, versions)
            expected = f"{', '.join(first)} or {last}" if first else last
            raise PydanticKnownError("literal_error", {"expected": expected})
        return value
