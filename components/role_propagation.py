"""Waiting for role assignments: a fresh one takes minutes until every service honours it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Mapping, Sequence

import pulumi

RETRY_SECONDS_VARIABLE = "PHYSICAL_AI_RETRY_SECONDS"
"""Environment variable with the first delay in seconds; a simulated Azure needs less patience than the real one."""

DEFAULT_SECONDS = 15.0
MAX_ATTEMPTS = 14
_LONGEST = 4

_ROLE_IS_PENDING = (
    "CustomKubeletIdentityMissingPermissionError",
    "LinkedAuthorizationFailed",
    "InsufficientSubnetPermissions",
    "User does not have access to the resource in Azure",
    "is forbidden: User",
)
"""What AKS, ARM and the API server's Azure authorizer say while a role is missing, or not yet known to them.

"is forbidden: User" is Kubernetes' RBAC refusal; other refusals, such as Pod Security's "is forbidden: violates", stay
refused however long one waits.
"""


def role_is_pending(error: str) -> bool:
    """Whether `error`, a provider's message, is one that a role assignment's propagation explains."""
    return any(sign in error for sign in _ROLE_IS_PENDING)


def should_retry(errors: Sequence[str], attempt: int, base: float = DEFAULT_SECONDS) -> float | None:
    """Seconds to wait before trying again, or None to give up.

    `errors` are the failures so far, newest first; `attempt` counts them, from 1. With the default base the delays are
    15, 30, then 60 seconds: twelve minutes in all, where Azure's documentation speaks of up to ten.

    >>> should_retry(["LinkedAuthorizationFailed: no permission to join the subnet"], 1)
    15.0
    >>> should_retry(["SkuNotAvailable: ..."], 1) is None
    True
    """
    if not errors or attempt >= MAX_ATTEMPTS or not role_is_pending(errors[0]):
        return None
    return base * min(2 ** (attempt - 1), _LONGEST)


def base_seconds(environment: Mapping[str, str]) -> float:
    """The first delay, from PHYSICAL_AI_RETRY_SECONDS when it is set.

    Raises:
        pulumi.RunError: the variable is not a number of at least 0.
    """
    text = environment.get(RETRY_SECONDS_VARIABLE)
    if text is None:
        return DEFAULT_SECONDS
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < float("inf"):
        raise pulumi.RunError(f"{RETRY_SECONDS_VARIABLE} is {text!r}; write seconds, such as {DEFAULT_SECONDS:g}.")
    return seconds


def wait_for_roles(name: str) -> pulumi.ErrorHook:
    """A hook that makes the engine repeat an operation until the roles it needs work, or the bound is reached."""
    base = base_seconds(os.environ)

    async def wait(args: pulumi.ErrorHookArgs) -> bool:
        attempt = len(args.errors)
        seconds = should_retry(args.errors, attempt, base)
        if seconds is None:
            return False
        pulumi.log.info(
            f"{args.name}: a role assignment is not in effect yet; try {attempt} of {MAX_ATTEMPTS} failed, "
            f"next in {seconds:g} s"
        )
        await asyncio.sleep(seconds)
        return True

    def hook(args: pulumi.ErrorHookArgs) -> Awaitable[bool]:
        return wait(args)

    return pulumi.ErrorHook(name, hook)
