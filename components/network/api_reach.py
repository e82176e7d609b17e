"""Check that refuses a change of the nodes' public address which would cut the nodes off from the API server."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from typing import Any

import pulumi
from pulumi_azure_native import containerservice

from physical_ai.citations import cited
from physical_ai.settings.facts.outbound import cut_off
from physical_ai.settings.guards import is_map

_FIX = cited(
    "Change the form in two steps: set network.outbound.form to the present form and network.outbound.next to the new"
    " one, and deploy; then remove both, and deploy again (docs/settings.md, how nodes reach the internet)."
)


def keep_api_server(
    name: str, resource_group_name: pulumi.Input[str], cluster_name: str, address: pulumi.Output[str]
) -> pulumi.ResourceHook:
    """Hook for the update of a subnet: it fails if the subnet changes to a NAT gateway whose address the cluster does
    not accept.

    The nodes reach the API server through their NAT gateway, with its public address. Subnets are updated before the
    cluster, so the cluster has to accept the new address before the subnet gets the gateway. The hook asks Azure for
    the accepted addresses instead of reading the state, which a failed earlier run may have left wrong. It runs in
    previews too.
    """

    async def check(args: pulumi.ResourceHookArgs) -> None:
        if _gateway(args.old_inputs) == _gateway(args.new_inputs):
            return
        group = await pulumi.Output.from_input(resource_group_name).future()
        ranges = _authorized(str(group), cluster_name)
        known = await address.future() if await address.is_known() else None
        if problem := cut_off(ranges, known):
            raise RuntimeError(f"The nodes of {args.name} would lose their API server: {problem}. {_FIX}")

    def hook(args: pulumi.ResourceHookArgs) -> Awaitable[None]:
        return check(args)

    return pulumi.ResourceHook(name, hook, pulumi.ResourceHookOptions(on_dry_run=True))


def _gateway(inputs: Mapping[str, Any] | None) -> Any:
    found = (inputs or {}).get("natGateway")
    return found.get("id") if is_map(found) else found


def _authorized(group: str, cluster: str) -> list[str]:
    """Address ranges from which the cluster accepts requests now; empty if the cluster accepts all addresses or does
    not exist.
    """
    try:
        found = containerservice.get_managed_cluster(resource_group_name=group, resource_name=cluster)
    except Exception as problem:
        if "NotFound" in str(problem):
            return []
        raise
    profile = found.api_server_access_profile
    return list((profile.authorized_ip_ranges if profile else None) or [])
