"""Base class of all settings models, which makes them strict, and types for addresses."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network
from typing import Annotated, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints
from pydantic.alias_generators import to_camel


def _not_a_number(value: object) -> object:
    # ipaddress reads 134744072 as 8.8.8.8, which is never meant.
    if isinstance(value, int):
        raise ValueError(f"{value} is not an address")
    return value


Cidr = Annotated[IPv4Network, BeforeValidator(_not_a_number)]
Address = Annotated[IPv4Address, BeforeValidator(_not_a_number)]

FORMS: dict[str, str] = {}
"""Description of each regular expression that settings have to match, for messages about texts that do not match it."""


def written(pattern: str, description: str) -> StringConstraints:
    """Constraint for text that matches a pattern. `description` completes the sentence "'x' is not …".

    Raises ValueError if the pattern already has another description: messages look the description up by the pattern.
    """
    if FORMS.setdefault(pattern, description) != description:
        raise ValueError(f"{pattern} is described as {FORMS[pattern]!r} already")
    return StringConstraints(pattern=pattern)


EntraId = Annotated[
    str,
    written(
        r"^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$",
        "an Entra object id, tenant id or client id: 8-4-4-4-12 hexadecimal digits",
    ),
]


ResourceGroupName = Annotated[
    str,
    written(r"^[A-Za-z0-9_.()-]{0,89}[A-Za-z0-9_()-]$", "the name of a resource group: at most 90 characters"),
]
SecretName = Annotated[str, written(r"^[A-Za-z][A-Za-z0-9]*$", "the name of a stack secret, like pagerUrl")]
PlatformName = Annotated[
    str,
    written(
        r"^[a-z][a-z0-9-]{0,30}[a-z0-9]$",
        "a platform's name: 2 to 32 lowercase letters, digits and hyphens, beginning with a letter, no hyphen last",
    ),
]
"""Name of an OSMO platform: the value of the field `platform` in workflows, and of a label on nodes and Pods."""
NamespaceName = Annotated[str, written(r"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$", "the name of a Kubernetes namespace")]
Generation = Annotated[int, Field(ge=1, le=50)]
"""Number of a generated password or key; a higher number replaces the password or key by a new one."""


class Model(BaseModel):
    """Base class of settings models: immutable, and an unknown key is an error.

    Values from files are not converted to the declared type, either (`settings.validate`).
    """

    model_config = ConfigDict(
        extra="forbid", frozen=True, alias_generator=to_camel, validate_by_name=True, allow_inf_nan=False
    )


class NotAzure(LookupError):
    """Raised for a setting that only a stack on Azure has."""


T = TypeVar("T")


def of_azure(setting: str, value: T | None) -> T:
    """The value of a setting that every stack on Azure has. Raises NotAzure if `value` is None, because the stack uses
    an existing cluster.
    """
    if value is None:
        raise NotAzure(f"{setting} is a setting of clusters on Azure, and this stack has none.")
    return value
