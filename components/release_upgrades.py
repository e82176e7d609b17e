"""A check of the GPU Operator's upgrades, just before Helm runs them."""

from __future__ import annotations

from typing import Any

import pulumi

from physical_ai.settings.plans.release_upgrade import refusal


def checked_upgrades(name: str, new_version: str) -> pulumi.ResourceHook:
    """A hook that fails an update, in previews too, when the running release cannot be upgraded to the new one.

    A hook, because only the engine has both: the settings contain the new version, the state the running one.
    """

    def check(args: pulumi.ResourceHookArgs) -> None:
        old: Any = args.old_inputs
        if (problem := refusal(old, new_version)) is not None:
            raise pulumi.RunError(f"gpuOperator.version\n  {problem}")

    return pulumi.ResourceHook(name, check, pulumi.ResourceHookOptions(on_dry_run=True))
