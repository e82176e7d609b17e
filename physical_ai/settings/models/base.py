"""What all models of the settings share: strictness, and the forms of addresses."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, StringConstraints
from pydantic.alias_generators import to_camel


def _not_a_number(value: object) -> object:
    # ipaddress reads 134744072 as 8.8.8.8, which is never meant.
    if isinstance(value, int):
        raise ValueError(f"{value} is not an address")
    return value


Cidr = Annotated[IPv4Network, BeforeValidator(_not_a_number)]
Address = Annotated[IPv4Address, BeforeValidator(_not_a_number)]

FORMS: dict[str, str] = {}
"""A description of each pattern."""


def written(pattern: str, description: str) -> StringConstraints:
    """Text that matches a pattern. `description` completes the sentence "'x' is not …"."""
    FORMS[pattern] = description
    return StringConstraints(pattern=pattern)


class Model(BaseModel):
    """Frozen and closed: an unknown key is an error. Files are also read strictly (`settings.validate`)."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, alias_generator=to_camel, validate_by_name=True, allow_inf_nan=False
    )
