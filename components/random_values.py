"""Random values that exist once, in the stack's state, where they are encrypted.

The resources are those of Pulumi's provider `random`, without its Python package: two resources need no SDK.
"""

from __future__ import annotations

from collections.abc import Mapping

import pulumi

PLUGIN_VERSION = "4.21.4"
"""Of the provider `random`, which the engine installs where it is missing. PyPI, pulumi-random, 2026-10."""


class RandomPassword(pulumi.CustomResource):
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
        # Special characters would need an escape in URLs, command lines and configuration files.
        inputs = {"length": length, "special": False, "minLower": 1, "minUpper": 1, "minNumeric": 1}
        kept = {"keepers": dict(keepers)} if keepers else {}
        outputs = {"result": None, "bcryptHash": None}
        token = "random:index/randomPassword:RandomPassword"  # noqa: S105 - a type
        super().__init__(token, name, {**inputs, **kept, **outputs}, _own(opts))

    @property
    @pulumi.getter
    def result(self) -> pulumi.Output[str]:
        return _secret(self, "result")


class RandomBytes(pulumi.CustomResource):
    """Bytes from a cryptographic source.

    Attributes:
        base64: the bytes in base64 with padding, secret.
    """

    def __init__(self, name: str, *, length: int, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(
            "random:index/randomBytes:RandomBytes", name, {"length": length, "base64": None, "hex": None}, _own(opts)
        )

    @property
    @pulumi.getter
    def base64(self) -> pulumi.Output[str]:
        return _secret(self, "base64")


def _secret(resource: pulumi.CustomResource, name: str) -> pulumi.Output[str]:
    value: pulumi.Output[str] = pulumi.get(resource, name)  # pyright: ignore[reportUnknownMemberType]  # untyped
    return pulumi.Output.secret(value)


def _own(opts: pulumi.ResourceOptions | None) -> pulumi.ResourceOptions:
    own = pulumi.ResourceOptions(
        version=PLUGIN_VERSION, additional_secret_outputs=["result", "bcryptHash", "base64", "hex"]
    )
    return pulumi.ResourceOptions.merge(opts, own)
