"""Base class of all rows in the catalogue's data files: no extra fields, immutable, no coercion."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from pydantic.alias_generators import to_camel

Text = Annotated[str, StringConstraints(min_length=1)]
Minutes = tuple[Annotated[float, Field(ge=0)], Annotated[float, Field(ge=0)]]
"""Shortest and longest usual duration, in minutes."""
Offered = Literal["yes", "no", "unknown"]
"""Availability of an Azure service, or of a variant of it, in a region."""


class Row(BaseModel):
    """One row of a data file: no extra fields, immutable, no coercion."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        alias_generator=to_camel,
        validate_by_name=True,
        strict=True,
        allow_inf_nan=False,
        # Building the validators late saves a fifth of a command's start: most commands read few of the catalogue's
        # files.
        defer_build=True,
    )
