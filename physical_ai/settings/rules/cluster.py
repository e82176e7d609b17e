"""Rules about the control plane: version, access, maintenance windows, principals."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence
from ipaddress import IPv4Network

from physical_ai.catalog import (
    KubernetesMinor,
    UnknownName,
    kubernetes_minor,
    kubernetes_minors,
    kubernetes_phase,
    sources,
)
from physical_ai.catalog.lookup import has_long_term
from physical_ai.findings import Severity
from physical_ai.settings.facts.addresses import opens_to_the_internet, wide_networks
from physical_ai.settings.facts.network_access import private_api_server
from physical_ai.settings.facts.pools import driver_facts, pool_paths
from physical_ai.settings.layers.paths import Path
from physical_ai.settings.models.cluster import Cluster
from physical_ai.settings.models.tree import Settings
from physical_ai.settings.rules.finding import Rule, SettingFinding, Trust, error, finding, warning

MOST_AUTHORIZED = 200
DOCUMENTATION = tuple(IPv4Network(text) for text in ("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24"))
"""Documentation ranges of RFC 5737, which examples use in place of a reader's own addresses."""
WIDE_RANGE = Rule("api-range-wide", "AKS docs, api-server-authorized-ip-ranges")
BUILD_MINUTES = 20
"""Minutes that a driver build and the operator's start were seen to take; AKS docs advise 25 to 30 minutes."""


_VERSION: Path = ("cluster", "kubernetesVersion")
_RANGES: Path = ("cluster", "apiAccess", "authorizedIpRanges")


def check_cluster(settings: Settings, trust: Trust, today: datetime.date) -> Iterator[SettingFinding]:
    """Findings of all rules about the control plane."""
    if trust(_VERSION):
        yield from _version(settings, trust, today)
    yield from _reach(settings, trust)
    yield from _windows(settings.cluster, trust)
    yield from _provision_time(settings, trust)
    yield from _deployers(settings, trust)
    path: Path = ("access", "principals")
    principals = settings.access.principals
    for index, principal in enumerate(principals):
        if trust(path) and principal.role == "drift-reader" and principal.principal_type == "User":
            problem = "A User cannot be a drift-reader: in the cluster AKS knows a person by another name than the id."
            yield error((*path, index, "principalType"), problem, "Write the id of a Group, or of a ServicePrincipal.")
        same = [other for other in principals[:index] if other.principal_id.lower() == principal.principal_id.lower()]
        if trust(path) and any(other.role == principal.role for other in same):
            problem = f"{principal.principal_id} has the role '{principal.role}' twice."
            yield error((*path, index), problem, "Keep one of the entries.")


def _deployers(settings: Settings, trust: Trust) -> Iterator[SettingFinding]:
    path: Path = ("access", "deployers")
    ids = [each.principal_id.lower() for each in settings.access.deployers]
    for index, own in enumerate(ids):
        if trust(path) and own in ids[:index]:
            yield error((*path, index), f"{own} is listed twice.", "Keep one of the entries.")


def _version(settings: Settings, trust: Trust, today: datetime.date) -> Iterator[SettingFinding]:
    version = settings.cluster.kubernetes_version
    try:
        minor = kubernetes_minor(version)
    except UnknownName as unknown:
        known = ", ".join(kubernetes_minors())
        fix, rule = (
            f"Did you mean '{unknown.suggestion}'?  Known: {known}.",
            Rule("kubernetes-unknown", sources.KUBERNETES),
        )
        yield error(_VERSION, str(unknown), fix, rule=rule)
        return
    yield from _nodes_version(settings.cluster, trust)
    channel: Path = ("cluster", "upgrades", "channel")
    if version.count(".") == 2 and settings.cluster.upgrades.channel == "patch" and trust(channel):
        problem = (
            f"kubernetesVersion {version} is exact, and channel patch upgrades to the next patch automatically; after"
        )
        problem += " that AKS rejects every update of the cluster as a downgrade."
        yield error(_VERSION, problem, f'kubernetesVersion: "{minor.minor}", or channel: none.', others=(channel,))
    yield from _support(minor, today, settings)
    plan: Path = ("cluster", "supportPlan")
    if settings.cluster.long_term and trust(plan, ("cluster", "tier")) and settings.cluster.azure_tier != "Premium":
        problem = f"Long-term support needs the tier Premium, not {settings.cluster.azure_tier}."
        rule = Rule("long-term-premium", "AKS docs, long-term-support, 2026-08-05")
        yield error(plan, problem, "tier: Premium, or remove it.", others=(("cluster", "tier"),), rule=rule)
    if minor.ubuntu2204:
        return
    last = [m.minor for m in kubernetes_minors().values() if m.ubuntu2204][-1]
    for path, pool in pool_paths(settings).items():
        if pool.os_sku == "Ubuntu2204" and trust((*path, "osSku")):
            problem = f"osSku Ubuntu2204 works up to Kubernetes {last}; the cluster has {version}."
            fix, rule = f"osSku: Ubuntu, or cluster.kubernetesVersion {last}.", Rule("ubuntu2204-ends", minor.source)
            yield error((*path, "osSku"), problem, fix, others=(_VERSION,), rule=rule)


MAX_SKEW = 3
"""Largest number of minors by which a node pool may be older than its control plane (Kubernetes docs,
version-skew-policy).
"""


def _nodes_version(cluster: Cluster, trust: Trust) -> Iterator[SettingFinding]:
    path: Path = ("cluster", "nodesVersion")
    if cluster.nodes_version is None or not trust(path):
        return
    plane, nodes = _numbers(cluster.kubernetes_version), _numbers(cluster.nodes_version)
    shared = min(len(plane), len(nodes))
    problem = f"Nodes of version {cluster.nodes_version} and a control plane of {cluster.kubernetes_version}: "
    oldest = f"1.{max(plane[1] - MAX_SKEW, 0)}"
    fix = f'"{oldest}" to "{cluster.kubernetes_version}", or leave it out.'
    if nodes[:shared] > plane[:shared]:
        yield error(path, f"{problem}nodes are never newer.", fix, others=(_VERSION,))
    elif plane[1] - nodes[1] > MAX_SKEW:
        yield error(path, f"{problem}nodes are at most {MAX_SKEW} minors older.", fix, others=(_VERSION,))


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def _support(minor: KubernetesMinor, today: datetime.date, settings: Settings) -> Iterator[SettingFinding]:
    record, phase = settings.record, kubernetes_phase(minor, today, long_term=settings.cluster.long_term)
    if phase == "due":
        yield warning(_VERSION, f"Kubernetes {minor.minor} is due on AKS in {minor.ga:%B %Y}.", None)
    if phase not in ("platform", "gone"):
        return
    rule = Rule("kubernetes-end-of-support", minor.source)
    supported = [m.minor for m in kubernetes_minors().values() if kubernetes_phase(m, today) == "supported"]
    fix = f"Supported: {', '.join(supported)}." if supported else None
    if fix and has_long_term(minor, today):
        fix += f" Or supportPlan: AKSLongTermSupport with tier: Premium, until {minor.long_term_end_of_life:%B %Y}."
    problem = f"AKS support for Kubernetes {minor.minor} ended in {minor.end_of_life:%B %Y}"
    if phase == "platform":
        yield warning(_VERSION, f"{problem}; AKS creates no new clusters with it.", fix, rule=rule)
    else:
        severity = Severity.WARNING if record else Severity.ERROR
        yield finding(severity, _VERSION, f"{problem}, and AKS no longer has it.", fix, stand_in=record, rule=rule)


def _reach(settings: Settings, trust: Trust) -> Iterator[SettingFinding]:
    access = settings.cluster.api_access
    if not trust(_RANGES):
        return
    ranges = access.authorized_ip_ranges
    if len(ranges) > MOST_AUTHORIZED:
        problem = f"{len(ranges)} ranges; AKS accepts {MOST_AUTHORIZED}."
        yield error(_RANGES, problem, "Join neighbouring ranges into larger ones.")
    if opens_to_the_internet(map(str, ranges)):
        problem = "Together these ranges allow more addresses than any organization has, so they restrict nothing."
        yield error(
            _RANGES, problem, "Write your own public ranges, like 20.30.40.0/28; leave all out to allow everyone."
        )
    else:
        yield from _wide(ranges)
    for index, block in enumerate(ranges):
        if any(block.subnet_of(example) for example in DOCUMENTATION):
            problem = (
                f"{block} is for documentation (RFC 5737): no request comes from it, so no client would reach the API"
            )
            problem += " server. It is sufficient for a simulation, not for Azure."
            fix = "Write your offices' and CI runners' public ranges, like 20.30.40.0/28; one address is a /32."
            yield warning((*_RANGES, index), problem, fix, stand_in=True)
        elif not block.is_global:
            problem = f"{block} is not public: callers reach the API server from their public address."
            yield error((*_RANGES, index), problem, "Use the address that your network has on the internet.")
        elif block in ranges[:index]:
            yield error((*_RANGES, index), f"{block} is listed twice.", "Remove it here.")
    if settings.protect and not ranges and not private_api_server(settings):
        problem = "This stack is protected, and its API server open to the whole internet."
        fix = "List your offices' and CI runners' public ranges in cluster.apiAccess.authorizedIpRanges."
        yield warning(("protect",), problem, fix)


def _wide(ranges: Sequence[IPv4Network]) -> Iterator[SettingFinding]:
    for network in wide_networks(str(each) for each in ranges if each.is_global):
        index = next(index for index, each in enumerate(ranges) if each.subnet_of(network))
        several = "" if ranges[index] == network else ", which several of these ranges make together,"
        problem = f"{network}{several} has {network.num_addresses} addresses: more callers than one organization's."
        fix = "Write the addresses of your offices and CI runners, each a /24 or smaller."
        yield warning((*_RANGES, index), problem, fix, rule=WIDE_RANGE)


def _windows(cluster: Cluster, trust: Trust) -> Iterator[SettingFinding]:
    for key, window in (
        ("kubernetesWindow", cluster.upgrades.kubernetes_window),
        ("nodeOsWindow", cluster.upgrades.node_os_window),
    ):
        path: Path = ("cluster", "upgrades", key, "utcOffset")
        hours, minutes = int(window.utc_offset[1:3]), int(window.utc_offset[4:6])
        if trust(path) and (minutes > 59 or hours * 60 + minutes > (14 if window.utc_offset[0] == "+" else 12) * 60):
            problem = f"'{window.utc_offset}' is not an offset from UTC."
            yield error(path, problem, "Between -12:00 and +14:00.")


def _provision_time(settings: Settings, trust: Trust) -> Iterator[SettingFinding]:
    path: Path = ("cluster", "autoscaler", "maxNodeProvisionMinutes")
    minutes = settings.cluster.autoscaler.max_node_provision_minutes
    built = [n for n, p in settings.pools.items() if p.scale.is_autoscaled and driver_facts(p).defaults]
    if built and minutes < BUILD_MINUTES and trust(path, ("pools",)):
        problem = f"{minutes} minutes may be less than a driver build takes on pool {built[0]}: the autoscaler would "
        problem += "delete each node before it offers its GPU, and start another."
        yield warning(path, problem, f"At least {BUILD_MINUTES}.")
