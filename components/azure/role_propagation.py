"""Retries while role assignments take effect, which takes minutes in Azure, and while Azure is busy with a cluster."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable

import pulumi

from physical_ai.readiness.azure_failures import base_seconds, hint, is_busy, max_attempts, retry_delay


def wait_for_roles(name: str) -> pulumi.ErrorHook:
    """Hook that makes the engine repeat an operation until the roles that it needs are in effect and no other operation
    on the cluster is in progress. After a fixed time the operation fails.

    Other failures are not repeated. If there is a `hint` for a failure, the hook logs the hint.
    """
    base = base_seconds(os.environ)

    async def wait(args: pulumi.ErrorHookArgs) -> bool:
        attempt = len(args.errors)
        seconds = retry_delay(args.errors, attempt, base)
        if seconds is None:
            if args.errors and (text := hint(args.errors[0])):
                pulumi.log.warn(f"{args.name}: {text}")
            return False
        busy = is_busy(args.errors[0])
        reason = "another operation is in progress in Azure" if busy else "a role assignment is not in effect yet"
        pulumi.log.info(
            f"{args.name}: {reason}; attempt {attempt} of {max_attempts(args.errors[0])} failed, next in {seconds:g} s"
        )
        await asyncio.sleep(seconds)
        return True

    def hook(args: pulumi.ErrorHookArgs) -> Awaitable[bool]:
        return wait(args)

    return pulumi.ErrorHook(name, hook)
