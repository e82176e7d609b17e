"""Check for PodDisruptionBudgets that would make AKS refuse an upgrade. It runs in previews, and before the upgrade is
requested.
"""

from __future__ import annotations

import asyncio
import base64
import datetime
from collections.abc import Awaitable

import pulumi
from pulumi_azure_native import containerservice

from physical_ai.readiness.client import connect
from physical_ai.readiness.kubeconfig import exec_kubeconfig
from physical_ai.readiness.reader import Missing, Unreachable, Unusable
from physical_ai.readiness.upgrade_budgets import blocking, is_forced, is_upgrade, refusal


def budgets_let_go(
    name: str, resource_group_name: pulumi.Input[str], cluster_name: str, until: datetime.datetime | None
) -> pulumi.ResourceHook:
    """Hook for updates of the cluster and its pools: it fails an upgrade that a PodDisruptionBudget in the cluster
    blocks.

    If the deployer's identity cannot read the cluster, the hook only warns, and AKS itself decides. The hook runs in
    previews too.
    """

    async def check(args: pulumi.ResourceHookArgs) -> None:
        old, new = [await pulumi.Output.from_input(each).future() for each in (args.old_inputs, args.new_inputs)]
        if not is_upgrade(old, new) or is_forced(until, datetime.datetime.now(datetime.UTC)):
            return
        group = await pulumi.Output.from_input(resource_group_name).future()
        try:
            found = await asyncio.to_thread(_read, str(group), cluster_name)
        except (Missing, Unreachable, Unusable, ValueError, LookupError) as problem:
            unread = f"The disruption budgets of {cluster_name} cannot be read, which AKS reads before an upgrade"
            pulumi.log.warn(f"{unread}: {problem}")
            return
        if (problem := refusal(found, until)) is not None:
            raise pulumi.RunError(f"{args.name}\n  {problem}")

    def hook(args: pulumi.ResourceHookArgs) -> Awaitable[None]:
        return check(args)

    return pulumi.ResourceHook(name, hook, pulumi.ResourceHookOptions(on_dry_run=True))


def _read(group: str, cluster: str) -> list[str]:
    answer = containerservice.list_managed_cluster_user_credentials(
        resource_group_name=group, resource_name=cluster, format="exec"
    )
    text = exec_kubeconfig(base64.b64decode(answer.kubeconfigs[0].value).decode())
    return blocking(connect(text))
