"""Target of a private endpoint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pulumi


@dataclass(frozen=True)
class PrivateTarget:
    """A service that a private endpoint may be made for.

    Attributes:
        name: short name, such as `vault`.
        group: the sub-resource of the private link.
        after: resources that the endpoint waits for, so that all of the service's names exist when it is registered.
    """

    name: str
    resource_id: pulumi.Input[str]
    group: str
    after: Sequence[pulumi.Resource] = ()
