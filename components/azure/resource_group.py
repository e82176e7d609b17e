"""The stack's resource group, which contains all its Azure resources."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pulumi
from pulumi_azure_native import resources


@dataclass(frozen=True)
class ResourceGroupArgs:
    name: str
    location: str
    tags: Mapping[str, str]


class ResourceGroup(pulumi.ComponentResource):
    """Resource group of one stack. Each stack has its own group, so that its cost, access and deletion are separate
    from other stacks'.
    """

    group: resources.ResourceGroup
    name: pulumi.Output[str]

    def __init__(self, name: str, args: ResourceGroupArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("physical-ai:azure:ResourceGroup", name, {}, opts)
        self.group = resources.ResourceGroup(
            f"{name}-group",
            resource_group_name=args.name,
            location=args.location,
            tags=args.tags,
            opts=pulumi.ResourceOptions(parent=self),
        )
        self.name = self.group.name
        self.register_outputs({"name": self.name})
