"""Rules about private access to Azure Monitor: networks that share DNS need one common scope, and a private scope cuts
off public access.
"""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network

from physical_ai.catalog.private_link import MONITOR_SUBNET
from physical_ai.settings.facts.monitor_link import MonitorLink, monitor_link
from physical_ai.settings.facts.private_network import PRIVATE, has_way_in, linked_to_hub, private_network
from physical_ai.settings.layers.paths import Path
from physical_ai.settings.models.private_network import MonitorAccess
from physical_ai.settings.models.tree import Settings
from physical_ai.settings.rules.finding import Rule, SettingFinding, Trust, error, warning

SMALLEST_ENDPOINTS = 28
"""Prefix length of the smallest endpoint subnet that this module judges. It reports prefix lengths from here to
`MONITOR_SUBNET` as too small for Azure Monitor; another rule reports even smaller subnets.
"""
_MONITOR: Path = (*PRIVATE, "monitor")
_HUB: Path = (*PRIVATE, "hub")
_DESIGN = "Azure docs, azure-monitor/fundamentals/private-link-design"
ONE_SCOPE = Rule("monitor-one-scope", f"{_DESIGN}, hub-spoke networks")
TRACES = Rule("monitor-traces", f"{_DESIGN}, access modes")
SUBNET = Rule("monitor-subnet", f"{_DESIGN}, subnet size")
READERS = Rule("monitor-readers", f"{_DESIGN}, network isolation")


def check_monitor_link(settings: Settings, trust: Trust) -> Iterator[SettingFinding]:
    """Findings of all rules about the private link scope of Azure Monitor."""
    given = private_network(settings)
    if given is None or not trust(PRIVATE, ("network", "mode"), ("monitoring",)):
        return
    link = monitor_link(settings)
    if link is None:
        if given.monitor not in (MonitorAccess(), MonitorAccess(access="public")):
            problem = "It has no effect: Azure Monitor is public here, or nothing is sent to it."
            yield warning(_MONITOR, problem, "monitoring.metrics: azure, or monitoring.containerLogs; or remove it.")
        return
    if link.scope is None and linked_to_hub(settings):
        yield from _shared_names(given.hub is not None and given.hub.dns_zones is not None)
    if link.scope is None:
        yield from _own_scope(settings, link, given.endpoint_subnet)
    if link.reads_inside_only and not has_way_in(given):
        problem = "Logs, metrics and dashboards would be unreachable: the network has no way in."
        fix = "query: Open, or network.private.vpn or network.private.hub."
        yield error((*_MONITOR, "query"), problem, fix, others=(PRIVATE,), rule=READERS)


def _own_scope(settings: Settings, link: MonitorLink, subnet: IPv4Network) -> Iterator[SettingFinding]:
    traces = settings.monitoring.traces
    if link.ingestion == "PrivateOnly" and traces is not None and traces.connection_secret is not None:
        problem = "The network may send to the stack's own workspaces only, so that traces do not reach Application"
        problem += " Insights."
        fix = "network.private.monitor.ingestion: Open, or traces.endpoint with an address in the network."
        place: Path = ("monitoring", "traces", "connectionSecret")
        yield error(place, problem, fix, others=((*_MONITOR, "ingestion"),), rule=TRACES)
    if MONITOR_SUBNET < subnet.prefixlen <= SMALLEST_ENDPOINTS:
        problem = f"{subnet} is too small: the endpoint of Azure Monitor alone takes eleven addresses."
        yield error((*PRIVATE, "endpointSubnet"), problem, f"Use a /{MONITOR_SUBNET} or larger.", rule=SUBNET)


def _shared_names(has_zones: bool) -> Iterator[SettingFinding]:
    """Finding about a stack with its own private link scope, although its network shares DNS with the hub: an error if
    it also uses the hub's DNS zones (`has_zones`), otherwise a warning.

    Azure Monitor's DNS names are the same in every scope, so all networks with this DNS would reach the scope
    registered last.
    """
    place: Path = (*_MONITOR, "scope")
    fix = "scope: the id of the hub's scope, or access: public."
    if has_zones:
        problem = "The endpoint of the stack's own scope would replace the records of Azure Monitor in the hub's zones,"
        problem += " which all its networks use."
        yield error(place, problem, fix, others=((*_HUB, "dnsZones"),), rule=ONE_SCOPE)
    else:
        problem = "All networks that use the hub's DNS servers would reach Azure Monitor through the stack's scope, and"
        problem += " with PrivateOnly no workspace outside of it."
        yield warning(place, problem, fix, others=((*_HUB, "dnsServers"),), rule=ONE_SCOPE)
