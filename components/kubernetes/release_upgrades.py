"""Hooks that check changes that cannot be undone, just before they are made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pulumi

from physical_ai.planning.release_upgrade import key_refusal, osmo_refusal, refusal

Judge = Callable[[Mapping[str, Any] | None, Mapping[str, Any] | None], str | None]
"""Function of a resource's old and new inputs. Returns a description of the problem with the change; None if there is
no problem.
"""


def checked_upgrades(name: str, new_version: str) -> pulumi.ResourceHook:
    """Hook that fails an update of the GPU Operator if the installed release cannot be upgraded to `new_version`."""
    return _checked(name, "gpuOperator.version", lambda old, _new: refusal(old, new_version))


def checked_osmo(name: str, new_tag: str) -> pulumi.ResourceHook:
    """Hook that fails an update of OSMO's control plane to an older release."""
    return _checked(name, "osmo.imageTag", lambda old, _new: osmo_refusal(old, new_tag))


def kept_key(name: str) -> pulumi.ResourceHook:
    """Hook that fails an update of the vault's secret if the update would change the master encryption key."""
    return _checked(name, "secrets.osmoMek", key_refusal)


def _checked(name: str, where: str, judge: Judge) -> pulumi.ResourceHook:
    """Hook that fails an update, in previews too, if `judge` finds a problem with it.

    A hook is used because it gets both the old inputs from the state and the new inputs from the settings; the program
    itself knows only the new ones.
    """

    async def check(args: pulumi.ResourceHookArgs) -> None:
        # Secrets among the inputs are Outputs; unknown ones resolve to None.
        old, new = [await pulumi.Output.from_input(each).future() for each in (args.old_inputs, args.new_inputs)]
        if (problem := judge(old, new)) is not None:
            raise pulumi.RunError(f"{where}\n  {problem}")

    return pulumi.ResourceHook(name, check, pulumi.ResourceHookOptions(on_dry_run=True))
