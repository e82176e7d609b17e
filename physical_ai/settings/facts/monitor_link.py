"""Connection of a stack to Azure Monitor through a private link scope, and what remains public. Pure functions."""

from __future__ import annotations

from dataclasses import dataclass

from physical_ai.settings.facts.network_access import private_api_server
from physical_ai.settings.facts.private_network import private_network
from physical_ai.settings.models.private_network import AccessMode
from physical_ai.settings.models.tree import Settings


@dataclass(frozen=True)
class MonitorLink:
    """A private link scope of Azure Monitor, either created by the stack or existing."""

    ingestion: AccessMode
    query: AccessMode
    scope: str | None
    """Id of an existing private link scope, whose access modes belong to the scope's owner; None where the stack
    creates the scope.
    """

    @property
    def reads_inside_only(self) -> bool:
        """True where data cannot be read from the internet."""
        return self.query == "PrivateOnly"


def sends_to_monitor(settings: Settings) -> bool:
    """True where anything in the cluster sends data to Azure Monitor.

    Diagnostic settings do not count: Azure itself transports the control plane's logs (Azure docs,
    azure-monitor/fundamentals/private-link-design, logs and metrics through diagnostic settings).
    """
    return settings.monitoring.metrics == "azure" or settings.monitoring.container_logs is not None


def monitor_link(settings: Settings) -> MonitorLink | None:
    """Private link to Azure Monitor. None if the network mode or the access to Azure Monitor is public, or if nothing
    in the cluster sends data to Azure Monitor.
    """
    given = private_network(settings)
    if given is None or given.monitor.access == "public" or not sends_to_monitor(settings):
        return None
    query: AccessMode = "PrivateOnly" if private_api_server(settings) else "Open"
    return MonitorLink(given.monitor.ingestion, given.monitor.query or query, given.monitor.scope)
