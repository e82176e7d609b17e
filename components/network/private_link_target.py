"""Target of a private endpoint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pulumi


@dataclass(frozen=True)
class PrivateTarget:
    """A service that can have a private endpoint.

    Attributes:
        name: short name, such as `vault`.
        group: Private Link sub-resource of the service, such as `registry`.
        after: resources that must exist before the endpoint. An endpoint registers the DNS names that the service has
            when the endpoint is created, so all names must exist by then.
    """

    name: str
    resource_id: pulumi.Input[str]
    group: str
    after: Sequence[pulumi.Resource] = ()
