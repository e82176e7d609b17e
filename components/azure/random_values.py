"""Random values that are generated once and kept, encrypted, in the stack's state."""

from __future__ import annotations

from collections.abc import Mapping

import pulumi
import pulumi_random
from pulumi_random import RandomBytes

__all__ = ["RandomBytes", "RandomPassword", "generated_password"]


class RandomPassword(pulumi_random.RandomPassword):
    """Random text of letters and digits. A change of `keepers`, or of any other input, makes a new text.

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


def generated_password(
    name: str, length: int, generation: int, opts: pulumi.ResourceOptions, *, first: str | None = None
) -> pulumi.Output[str]:
    """Password number `generation`, the newest password of the resource `name`.

    The function declares one resource for each password from number 1 on. Older passwords remain in the state, because
    Pulumi refuses to delete or replace a protected resource.

    Args:
        name: name of the resource, with `{}` for the number of the generation.
        first: name of the first generation's resource, if that name has no number.
    """
    names = [first or name.format(1), *(name.format(number) for number in range(2, generation + 1))]
    return [RandomPassword(each, length=length, opts=opts) for each in names][-1].result
