"""Random values that exist once, in the stack's state, where they are encrypted."""

from __future__ import annotations

from collections.abc import Mapping

import pulumi
import pulumi_random
from pulumi_random import RandomBytes

__all__ = ["RandomBytes", "RandomPassword"]


class RandomPassword(pulumi_random.RandomPassword):
    """Text of letters and digits. Another `keepers` makes another text; every other change does too.

    Attributes:
        result: the text, secret.
    """

    def __init__(
        self,
        name: str,
        *,
        length: int,
        keepers: Mapping[str, str] | None = None,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__(  # pyright: ignore[reportUnknownMemberType]  # its `__props__` has no type
            name,
            length=length,
            # Special characters would need an escape in URLs, command lines and configuration files.
            special=False,
            min_lower=1,
            min_upper=1,
            min_numeric=1,
            keepers=keepers,
            opts=opts,
        )
