"""What happens when Azure refuses: waiting for role assignments, which take minutes to work, and words of advice."""

from __future__ import annotations

import asyncio
import os
import re
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


_MAY_EXIST = (
    "error occurred:",
    "errors occurred:",
    "resource init failed",
    "failed to initialize completely",
    "partially created",
    "long-running operation",
    "long running operation",
)
"""How a failure reads after which the resource may exist all the same.

The engine words a partial creation as a list, "1 error occurred:" (InitError, Go's multierror); the azure-native
provider answers so when the PUT was accepted and its long-running operation then failed; "failed to initialize
completely" is a Helm release's. In lower case.
"""


def may_exist(error: str) -> bool:
    """Whether the resource may have been made although `error` was reported.

    Such a creation must not be repeated: the provider refuses to create what exists, and with that refusal the engine
    drops what it knew of the resource, which then runs on in Azure under nobody's hand. Left alone, the engine keeps
    it in state, and the next `up` updates it.
    """
    return any(sign in error.lower() for sign in _MAY_EXIST)


def role_is_pending(error: str) -> bool:
    """Whether `error`, a provider's message, is one that a role assignment's propagation explains."""
    return any(sign in error for sign in _ROLE_IS_PENDING)


def should_retry(errors: Sequence[str], attempt: int, base: float = DEFAULT_SECONDS) -> float | None:
    """Seconds to wait before trying again, or None to give up.

    `errors` are the failures so far, newest first; `attempt` counts them, from 1. With the default base the delays are
    15, 30, then 60 seconds: twelve minutes in all, where Azure's documentation speaks of up to ten. Only a request that
    was refused at once is repeated, never one that may have left something behind.

    >>> should_retry(["LinkedAuthorizationFailed: no permission to join the subnet"], 1)
    15.0
    >>> should_retry(["SkuNotAvailable: ..."], 1) is None
    True
    >>> should_retry(["1 error occurred:\\n\\t* Code=\\"LinkedAuthorizationFailed\\" ..."], 1) is None
    True
    """
    if not errors or attempt >= MAX_ATTEMPTS or not role_is_pending(errors[0]) or may_exist(errors[0]):
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


_BESIDE_AN_AUTOSCALER = re.compile(
    r"\bcount\b.{0,40}\b(between|minCount|maxCount|min_count|max_count)\b|manually scale", re.IGNORECASE | re.DOTALL
)


def advice(error: str) -> str | None:
    """What to do about a failure whose own words do not tell; None where they do."""
    if role_is_pending(error) and may_exist(error):
        return "it exists, and failed while it was set up. Run the command again: it updates what is there."
    if _BESIDE_AN_AUTOSCALER.search(error):
        return (
            "Azure was sent the node count of an earlier deployment, which does not fit the new scale. "
            "docs/settings.md, 'Changing a pool's scale', has the way in two steps."
        )
    if "PropertyChangeNotAllowed" in error:
        return "this cannot be changed on what exists; docs/settings.md, 'What cannot be changed', has the way round."
    return None


def wait_for_roles(name: str) -> pulumi.ErrorHook:
    """A hook that makes the engine repeat an operation until the roles it needs work, or the bound is reached.

    What is not repeated is told with `advice` where there is some.
    """
    base = base_seconds(os.environ)

    async def wait(args: pulumi.ErrorHookArgs) -> bool:
        attempt = len(args.errors)
        seconds = should_retry(args.errors, attempt, base)
        if seconds is None:
            if args.errors and (hint := advice(args.errors[0])):
                pulumi.log.warn(f"{args.name}: {hint}")
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
