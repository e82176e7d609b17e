"""API versions that azure-native sends, and values of properties that are only published from a certain API version
on.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from functools import lru_cache
from typing import Annotated, Literal

from pydantic import StringConstraints

from physical_ai.catalog.load import DATA, CatalogError, read_mapping, row
from physical_ai.catalog.rows import Row, Text

How = Literal["seen", "read", "believed"]
Version = Annotated[str, StringConstraints(pattern=r"^\d{4}-\d\d-\d\d(-preview)?$")]
FILE = "api_versions.yaml"
NAT_GATEWAY, PUBLIC_ADDRESS = "Microsoft.Network/natGateways", "Microsoft.Network/publicIPAddresses"
STANDARD_V2 = "StandardV2"


class TypeVersion(Row):
    """API versions of one ARM type: the version that azure-native sends, and the newest stable one."""

    sent: Version
    stable: Version
    """The newest version that is not a preview."""

    @property
    def is_preview(self) -> bool:
        return self.sent.endswith("-preview")

    @property
    def is_superseded(self) -> bool:
        """True for a preview version that is older than the newest stable version."""
        return self.is_preview and self.stable > self.sent


class PublishedValue(Row):
    """A value that a property of an ARM type can have, and the first API version whose documentation contains the
    value.
    """

    type: Text
    path: Text
    value: Text
    published: Version
    source: Text
    against: Text | None = None
    """Evidence that Azure accepts the value in API versions before `published` too; None without such evidence."""
    how: How
    date: datetime.date


class ApiVersions(Row):
    """The whole table of API versions, and its source."""

    sdk: Text
    source: Text
    how: How
    date: datetime.date
    types: Mapping[str, TypeVersion]
    values: tuple[PublishedValue, ...]


@lru_cache(maxsize=1)
def api_versions() -> ApiVersions:
    """The table of API versions. Raises CatalogError if the list of values names a type that the list of types
    lacks.
    """
    given = read_mapping(DATA / FILE)
    types = {name: row(TypeVersion, each, f"{FILE}: {name}") for name, each in given["types"].items()}
    values = tuple(row(PublishedValue, each, f"{FILE}: {each.get('value')}") for each in given["values"])
    unknown = sorted({each.type for each in values} - set(types))
    if unknown:
        raise CatalogError(f"{FILE}: values of types that the table lacks: {', '.join(unknown)}")
    return row(ApiVersions, {**given, "types": types, "values": values}, FILE)


def published_value(arm_type: str, path: str, value: str) -> PublishedValue | None:
    """Row about `value` of the property at `path`, from the table of published values; None if the table has no such
    row.
    """
    return next(
        (each for each in api_versions().values if (each.type, each.path, each.value) == (arm_type, path, value)), None
    )


def sends_published(arm_type: str, path: str, value: str) -> bool:
    """True if the API version that azure-native sends for `arm_type` is published with `value` for the property at
    `path`. Also True if the table of published values has no row about the value.

    Only Azure itself knows whether it accepts the value.

    >>> sends_published("Microsoft.Network/natGateways", "sku.name", "Standard")
    True
    """
    known = published_value(arm_type, path, value)
    return known is None or api_versions().types[arm_type].sent >= known.published


def sends_standard_v2() -> bool:
    """True if the API versions that azure-native sends for NAT gateways and for public IP addresses are both published
    with the SKU StandardV2.
    """
    return all(sends_published(each, "sku.name", STANDARD_V2) for each in (NAT_GATEWAY, PUBLIC_ADDRESS))
