"""Names of Azure resources, and identifiers derived from them."""

from __future__ import annotations

import uuid
from dataclasses import dataclass

PROJECT = "physical-ai"

_ASSIGNMENTS = uuid.UUID("0d6e5b0c-6a0f-5d0e-9a53-2f8f7e0f6f3b")


@dataclass(frozen=True)
class Names:
    """Names of a stack's resources, with the abbreviations of the Cloud Adoption Framework.

    >>> Names("dev-westus2").resource_group
    'rg-physical-ai-dev-westus2'
    """

    stack: str

    @property
    def resource_group(self) -> str:
        return f"rg-{PROJECT}-{self.stack}"

    @property
    def node_resource_group(self) -> str:
        """Name of the resource group that AKS creates for the nodes.

        ARM allows 80 characters, and the group must not exist before.
        """
        return f"{self.resource_group}-nodes"

    @property
    def cluster(self) -> str:
        return f"aks-{PROJECT}-{self.stack}"

    @property
    def dns_prefix(self) -> str:
        """First label of the API server's DNS name; ARM allows 54 characters."""
        return f"{PROJECT}-{self.stack}"[:54].rstrip("-")

    @property
    def virtual_network(self) -> str:
        return f"vnet-{PROJECT}-{self.stack}"

    @property
    def security_group(self) -> str:
        return f"nsg-{PROJECT}-{self.stack}"

    def nat_gateway(self, suffix: str = "") -> str:
        return "-".join(filter(None, ("ng", PROJECT, self.stack, suffix)))

    def nat_address(self, suffix: str = "") -> str:
        return "-".join(filter(None, ("pip", PROJECT, self.stack, suffix)))

    @property
    def route_table(self) -> str:
        return f"rt-{PROJECT}-{self.stack}"

    @property
    def dns_resolver(self) -> str:
        return f"dnspr-{PROJECT}-{self.stack}"

    @property
    def vpn_gateway(self) -> str:
        return f"vgw-{PROJECT}-{self.stack}"

    @property
    def vpn_address(self) -> str:
        return f"pip-{PROJECT}-vpn-{self.stack}"

    @property
    def peering(self) -> str:
        """Name of the peering on both sides; a hub has one peering for each of its stacks."""
        return f"peer-{PROJECT}-{self.stack}"

    @property
    def zone_link(self) -> str:
        """Name of the link from a private DNS zone to this stack's network; the link to the hub's network ends with
        `-hub`.
        """
        return f"link-{PROJECT}-{self.stack}"

    def private_endpoint(self, target: str) -> str:
        return f"pep-{PROJECT}-{target}-{self.stack}"

    @property
    def workspace(self) -> str:
        return f"log-{PROJECT}-{self.stack}"

    @property
    def monitor_workspace(self) -> str:
        return f"amw-{PROJECT}-{self.stack}"

    @property
    def data_collection(self) -> str:
        """Name that the data collection endpoint, rule and association share. These resources bring metrics into the
        Azure Monitor workspace.
        """
        return f"dc-{PROJECT}-{self.stack}"[:44].rstrip("-")

    @property
    def configuration_endpoint(self) -> str:
        """Name of the data collection endpoint from which agents in a private network take their configuration."""
        return f"dce-{PROJECT}-{self.stack}"[:44].rstrip("-")

    @property
    def monitor_scope(self) -> str:
        return f"ampls-{PROJECT}-{self.stack}"

    def scoped(self, resource: str) -> str:
        """Name of a resource's entry in a private link scope, which may contain other stacks' resources, too."""
        return f"{resource}-{PROJECT}-{self.stack}"

    @property
    def container_logs(self) -> str:
        """Name of the rule that brings the output of containers into the workspace."""
        return f"dcr-logs-{PROJECT}-{self.stack}"[:64].rstrip("-")

    @property
    def grafana(self) -> str:
        """Name of Managed Grafana. ARM allows 30 characters."""
        return f"graf-{self.stack}"[:30].rstrip("-")

    def action_group(self, receiver: str) -> str:
        return f"ag-{PROJECT}-{receiver}-{self.stack}"

    def rule_group(self, theme: str) -> str:
        return f"{theme}-{self.stack}"

    def reservations(self, pool: str) -> str:
        """Name of the group of a pool's capacity reservations."""
        return f"crg-{PROJECT}-{pool}-{self.stack}"

    def identity(self, use: str) -> str:
        return f"id-{PROJECT}-{use}-{self.stack}"


def subnet_name(pool: str) -> str:
    return f"snet-{pool}"


def role_definition_id(subscription_id: str, role_guid: str) -> str:
    """Id of a built-in role in the form in which ARM returns it, so that a refresh finds no difference."""
    return f"/subscriptions/{subscription_id}/providers/Microsoft.Authorization/roleDefinitions/{role_guid}"


def role_assignment_name(scope: str, principal_id: str, role_guid: str) -> str:
    """GUID that depends on scope, principal and role only.

    ARM refuses a second assignment of a role to a principal on a scope under another name (409 RoleAssignmentExists),
    and it refuses to change any of the three under the same name, so the name is a function of all three. ARM ids are
    case-insensitive.
    """
    return str(uuid.uuid5(_ASSIGNMENTS, "|".join((scope.lower(), principal_id.lower(), role_guid.lower()))))
