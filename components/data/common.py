"""Code that the data services share: where they are declared, and which of them resist deletion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pulumi

from physical_ai.settings.facts.data_services import DataFacts, DataNames

ENABLED = {True: "Enabled", False: "Disabled"}
"""ARM's words for a switch that is on or off."""


@dataclass(frozen=True)
class Place:
    """Resource group, region, names and tags of a stack's data services, and facts from the settings that all of them
    need, such as public access and protection.
    """

    names: DataNames
    resource_group_name: pulumi.Input[str]
    location: str
    tags: Mapping[str, str]
    plan: DataFacts

    @property
    def public_access(self) -> str:
        """Value of `publicNetworkAccess` for every data service."""
        return ENABLED[self.plan.public]

    def kept(self, parent: pulumi.Resource) -> pulumi.ResourceOptions:
        """Resource options for children of `parent` that contain data; they are protected from deletion if the stack's
        data is protected.
        """
        return pulumi.ResourceOptions(parent=parent, protect=True if self.plan.protected else None)
